// Tests that the form of a pay page sends times as they are written, and blocks by chain.
import { describe, expect, it } from "vitest";
import { buildFormQuery, findChainNames, findWhenProblem } from "./form-query.ts";

const query = (text: string, name = "at", chains = ["base", "ethereum"]) =>
  Object.fromEntries(new URLSearchParams(buildFormQuery([[name, text]], chains)));

describe("buildFormQuery", () => {
  it.each(["7d", "2026-11-10", "2026-11-10T12:00Z"])("sends the time %s as it is written", (time) => {
    expect(query(` ${time} `)).toEqual({ at: time, chains: "base,ethereum" });
    expect(query(time, "from")).toEqual({ from: time, chains: "base,ethereum" });
  });

  it("reads an age in upper case", () => {
    expect(query("7D").at).toBe("7d");
  });

  it("sends blocks as blocks, and a number as the block of the only chain", () => {
    expect(query("Base:34,ethereum:5")).toEqual({ block: "base:34,ethereum:5", chains: "base,ethereum" });
    expect(query("34", "at", ["base"])).toEqual({ block: "base:34", chains: "base" });
    expect(query("34", "from", ["base"])).toEqual({ from: "base:34" });
  });

  it("leaves the chains of a difference to its blocks or its snapshot, unless the end is a time", () => {
    const id = "a".repeat(64);
    expect(query("base:34", "from")).toEqual({ from: "base:34" });
    expect(query(id, "from")).toEqual({ from: id });
    const fields = [["from", id] as const, ["to", "1h"] as const];
    expect(buildFormQuery(fields, ["base"])).toBe(`from=${id}&to=1h&chains=base`);
  });
});

it("rejects a block number unless one chain is chosen, and a text that says no time", () => {
  expect([findWhenProblem("34", 1), findWhenProblem("7d", 2), findWhenProblem("base:34", 2)]).toEqual([
    "",
    "",
    "",
  ]);
  expect(findWhenProblem(" 34", 2)).toContain("choose one chain");
  expect(findWhenProblem("yesterday", 1)).toContain("an age such as 7d");
});

it("finds the chains of a link by themselves, by blocks, and not in times", () => {
  const names = (text: string) => findChainNames(new URLSearchParams(text));
  expect(names("chains=eth,Polygon&block=base:1")).toEqual(["eth", "polygon"]);
  expect(names("from=2026-11-10T12:00Z&to=base:2,ethereum:3")).toEqual(["base", "ethereum"]);
  expect(names("at=7d")).toEqual([]);
});
