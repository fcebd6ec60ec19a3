// The tables that declarations produce.
import { describe, expect, it } from "vitest";
import { address, uint63, uint256, unboundedText } from "./column.ts";
import { defineRollup, defineTable, formatKey } from "./table.ts";

describe("a table", () => {
  it("adds provenance columns and keeps all versions", () => {
    const things = defineTable(
      "things",
      { id: uint256, owner: address },
      { key: ["id"], index: [["owner", "id"]] },
    );
    expect(Object.keys(things.columns)).toEqual(["id", "owner", "block_number", "tx_hash", "log_index"]);
    expect(things).toMatchObject({
      key: ["id"],
      indexes: [["owner", "id"]],
      history: "full",
      hasProvenance: true,
    });
  });

  it("a table of counters has only its own columns, and recent history by default", () => {
    const counts = defineRollup("counts", { who: address, times: uint63 }, { key: ["who"] });
    expect(Object.keys(counts.columns)).toEqual(["who", "times"]);
    expect(counts).toMatchObject({ indexes: [], history: "recent", hasProvenance: false });
    expect(defineRollup("counts", { who: address }, { key: ["who"], history: "full" }).history).toBe("full");
  });
});

describe("formatKey", () => {
  it("gives the same text for a key and its row", () => {
    const row = { account: "0xa", kind: 3, id: 2n ** 256n - 1n, name: "x" };
    const key = ["account", "kind", "id"];
    expect(formatKey(key, row)).toBe(`0xa|3|${2n ** 256n - 1n}`);
    for (const id of [0n, 1n, -1n, 2n ** 53n - 1n, 2n ** 53n, 2n ** 53n + 1n, 10n ** 21n, 2n ** 256n - 1n])
      expect(formatKey(["id"], { id })).toBe(id.toString());
    expect(formatKey(["name"], { name: "" })).toBe("");
  });

  it("gives different texts to keys whose parts differ", () => {
    const policies = defineTable(
      "policies",
      { type: unboundedText, subject: unboundedText },
      { key: ["type", "subject"] },
    );
    const texts = [
      { type: "GUARDIAN", subject: "" },
      { type: "SPEND_LIMIT", subject: "" },
      { type: "SPEND_LIMIT", subject: "0xa" },
    ].map((row) => formatKey(policies.key, row));
    expect(new Set(texts).size).toBe(3);
  });
});
