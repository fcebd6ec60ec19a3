// The parameters of a portfolio request: accepted values, defaults and rejections.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createPortfolioParameters } from "./query.ts";

const SERVED = ["base", "ethereum", "arbitrum", "optimism", "polygon"];
const query = createPortfolioParameters(SERVED);

function parse(name: string, text: string, { parameters } = query): unknown {
  const found = parameters.find((parameter) => parameter.name === name);
  if (!found) throw new Error(`no parameter ${name}`);
  return found.kind.parse(text, name);
}

describe("createPortfolioParameters", () => {
  it("requires an address and defaults to Base and Ethereum, with spam", () => {
    expect(query.parameters.map(({ name, required, in: location }) => [name, required, location])).toEqual([
      ["address", true, "query"],
      ["chains", false, "query"],
      ["block", false, "query"],
      ["at", false, "query"],
      ["spam", false, "query"],
      ["partial", false, "query"],
    ]);
    const address = parse("address", `0x${"AB".repeat(20)}`);
    expect(query.parse({ address })).toEqual({
      wallet: `0x${"ab".repeat(20)}`,
      slugs: ["base", "ethereum"],
      spam: "include",
      partial: false,
    });
    expect(query.parse({ address, chains: ["polygon"], spam: "exclude" })).toMatchObject({
      slugs: ["polygon"],
      spam: "exclude",
    });
  });

  it("describes its defaults", () => {
    expect(query.parameters.map(({ kind }) => kind.json.default)).toEqual([
      undefined,
      "base,ethereum",
      undefined,
      undefined,
      "include",
      "reject",
    ]);
    const parseFor = (served: readonly string[]) =>
      createPortfolioParameters(served).parse({ address: `0x${"ab".repeat(20)}` });
    expect(parseFor(["ethereum", "polygon"]).slugs).toEqual(["ethereum"]);
    expect(parseFor(["here", "there", "where"]).slugs).toEqual(["here", "there"]);
  });

  it.each([
    ["base", ["base"]],
    ["eth", ["ethereum"]],
    ["polygon,base", ["polygon", "base"]],
    ["ethereum,eth,base,ethereum", ["ethereum", "base"]],
    [" Base , ETH ", ["base", "ethereum"]],
    [Array(10).fill("base").join(), ["base"]],
  ])("parses the chains %j", (text, slugs) => {
    expect(parse("chains", text)).toEqual(slugs);
  });

  it.each([["bitcoin"], [""], [","], ["base,"], ["base,,eth"], ["base;eth"], ["__proto__"], ["b\u0430se"]])(
    "rejects the chains %j and names the served ones",
    (text) => {
      expect(() => parse("chains", text)).toThrow(
        "chains must be a comma-separated list of base, ethereum, arbitrum, optimism, polygon.",
      );
    },
  );

  it.each([[Array(11).fill("base").join()], ["base".padEnd(501)], [",".repeat(5_000_000)]])(
    "rejects more than ten chains",
    (text) => {
      expect(() => parse("chains", text)).toThrow("chains must name at most 10 chains.");
    },
  );

  it("never returns a chain twice or one that is not served", () => {
    const word = fc.constantFrom(...SERVED, "eth", "BASE", " polygon", "solana");
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 10 }), (words) => {
        const given = words.map((text) => text.trim().toLowerCase().replace(/^eth$/, "ethereum"));
        if (given.includes("solana")) expect(() => parse("chains", words.join())).toThrow("comma-separated");
        else
          expect(parse("chains", words.join())).toEqual(
            given.filter((slug, at) => given.indexOf(slug) === at),
          );
      }),
    );
  });

  it.each([["0x"], ["vitalik.eth"], [`0x${"a".repeat(39)}`], [`0x${"g".repeat(40)}`], ["a".repeat(40)]])(
    "rejects the address %j",
    (text) => {
      expect(() => parse("address", text)).toThrow(
        "address must be an address, 0x followed by 40 hex digits, or a name such as vitalik.eth.",
      );
    },
  );

  it("accepts include and exclude for spam", () => {
    expect([parse("spam", "include"), parse("spam", "EXCLUDE")]).toEqual(["include", "exclude"]);
    expect(() => parse("spam", "only")).toThrow("spam must be one of include, exclude.");
  });
});
