// Shapes accept exactly what they declare, and name the place of a mistake.
import { describe, expect, it } from "vitest";
import { type Shape, shape } from "./json-shape.ts";

const A = `0x${"a".repeat(40)}`;
const B = `0x${"b".repeat(40)}`;

const pool = shape.object({
  name: shape.text,
  token: shape.address,
  fee: shape.optional(shape.bigInteger),
  reserves: shape.list(shape.object({ token: shape.address }), ({ token }) => token),
});
const valid = { name: "Pool", token: A, reserves: [{ token: A }, { token: B }] };

describe("shape", () => {
  it("returns what it declares, without optional fields that are absent", () => {
    expect(pool(valid, "file")).toEqual(valid);
    expect(pool({ ...valid, fee: 25_000_000_000 }, "file")).toEqual({ ...valid, fee: 25_000_000_000n });
  });

  it.each<[string, unknown, string]>([
    ["a missing field", { ...valid, name: undefined }, "file.name must be text."],
    ["blank text", { ...valid, name: " " }, "file.name must be text."],
    [
      "an unknown field",
      { ...valid, nam: "x" },
      "file.nam must be absent: only name, token, fee, reserves are known.",
    ],
    ["upper case", { ...valid, token: A.toUpperCase() }, "file.token must be an address in lower case."],
    ["a short address", { ...valid, token: "0xaa" }, "file.token must be an address in lower case."],
    ["a fraction", { ...valid, fee: 0.5 }, "file.fee must be a whole number."],
    ["null for optional", { ...valid, fee: null }, "file.fee must be a whole number."],
    [
      "a duplicate",
      { ...valid, reserves: [{ token: A }, { token: A }] },
      "file.reserves[1] must be another one: it is listed twice.",
    ],
    ["an object for a list", { ...valid, reserves: {} }, "file.reserves must be a list."],
    ["a list for an object", [], "file must be an object."],
  ])("rejects %s and names its place", (_, value, message) => {
    expect(() => pool(value, "file")).toThrow(message);
  });

  it("chooses the fields of a variant by its key, and rejects those of another", () => {
    const market = shape.variant("kind", {
      pair: { factory: shape.address },
      tiers: { fees: shape.integer },
    });
    expect(market({ kind: "tiers", fees: 1 }, "file")).toEqual({ kind: "tiers", fees: 1 });
    expect(() => market({ kind: "tiers", factory: A }, "file")).toThrow("file.factory must be absent");
    expect(() => market({ kind: "other" }, "file")).toThrow("file.kind must be one of pair, tiers.");
  });

  it.each<[string, Shape<unknown>, unknown, unknown]>([
    ["dates", shape.date, "2026-08-19", "19.8.2026"],
    ["months", shape.date, "2026-08", "2026"],
    ["checksums", shape.checksumAddress, `0x${"aB".repeat(20)}`, A],
    ["digits as a checksum", shape.checksumAddress, `0x${"42".repeat(20)}`, "0x42"],
    ["hashes", shape.hash, `0x${"a".repeat(64)}`, A],
    ["flags", shape.flag, false, "false"],
    ["null", shape.nullable(shape.text), null, 1],
    ["texts by name", shape.texts, { gas: "Free." }, { gas: 1 }],
  ])("accepts %s and nothing else", (_, accepts, value, other) => {
    expect(accepts(value, "file")).toEqual(value);
    expect(() => accepts(other, "file")).toThrow(/^file/);
  });
});
