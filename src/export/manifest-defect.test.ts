// A manifest that someone has edited is rejected with the field that cannot be, before anything is written by it.
import { describe, expect, it } from "vitest";
import { findManifestDefect } from "./manifest.ts";

const file = (table: string, from: number, to: number) => ({
  ...{ table, path: `${table}/${from}-${to}.parquet`, from, to, rows: 3, bytes: 400 },
  sha256: "ab".repeat(32),
});
const FIRST = file("logs", 1, 20);
const MANIFEST = {
  format: 1,
  deployment: { chainId: 31337, startBlock: 1, contracts: {}, fingerprint: "00" },
  foldVersion: "7a7869ceed77e5c8",
  step: 20,
  from: 1,
  to: 40,
  block: { number: 39, hash: null, timestamp: null },
  lastLogBlock: { number: 35, hash: `0x${"1f".repeat(32)}` },
  tables: ["logs", "receipts"].map((name) => ({ name, key: [], versioned: false, columns: [] })),
  files: [FIRST, file("receipts", 1, 20), file("logs", 20, 40)],
};

describe("a manifest", () => {
  it("finds no defect in a manifest as an export writes it", () => {
    expect(findManifestDefect(MANIFEST)).toBeNull();
    const begun = { ...MANIFEST, to: 1, block: null, lastLogBlock: null, files: [] };
    expect(findManifestDefect(begun)).toBeNull();
  });

  it.each([
    ["of another format", { format: 2 }, "its format is not 1"],
    ["without a deployment", { deployment: null }, "deployment has no chain"],
    ["with a text for the chain", { deployment: { chainId: "1", startBlock: 1 } }, "deployment has no chain"],
    ["with a step of nothing", { step: 0 }, "step is not a number of blocks"],
    ["that begins later", { from: 2 }, "from is not the first block"],
    ["that ends before it begins", { to: 0 }, "to is not a block after from"],
    ["that ends earlier", { to: 30 }, "block is not the last one before to"],
    [
      "that ends before its files",
      { to: 30, block: { number: 29 }, lastLogBlock: null },
      "the blocks of file 2",
    ],
    ["without a last block", { block: null }, "block is not the last one before to"],
    ["with a log after the end", { lastLogBlock: { number: 40, hash: "0x" } }, "lastLogBlock is not"],
    ["without a hash", { lastLogBlock: { number: 35 } }, "lastLogBlock is not one of its blocks"],
    ["without tables", { tables: {} }, "tables is not a list"],
    [
      "with a table outside of the folder",
      { tables: [{ name: "..", key: [], columns: [] }] },
      "a table has no",
    ],
    ["without files", { files: "all" }, "files is not a list"],
    ["with a file of another table", { files: [file("agents", 1, 20)] }, "file 0 is of no table"],
    ["with a file twice", { files: [FIRST, FIRST] }, "the blocks of file 1"],
    ["with files that overlap", { files: [FIRST, file("logs", 19, 40)] }, "the blocks of file 1"],
    ["with a path elsewhere", { files: [{ ...FIRST, path: "../1-20.parquet" }] }, "file 0 has another path"],
    ["with half a hash", { files: [{ ...FIRST, sha256: "ab" }] }, "rows, bytes or sha256 of file 0"],
    ["with rows as text", { files: [{ ...FIRST, rows: "3" }] }, "rows, bytes or sha256 of file 0"],
  ])("rejects a manifest %s", (_, fields, defect) => {
    expect(findManifestDefect({ ...MANIFEST, ...fields })).toContain(defect);
  });

  it.each([null, [], "{}", 1])("rejects a manifest that is %j", (value) => {
    expect(findManifestDefect(value)).toBe("it is not an object");
  });
});
