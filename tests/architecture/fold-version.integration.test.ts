// The fold version: a changed fold changes it, and nothing else does.
// A tool of developers: `npm run check` compares the version itself.
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { computeFoldVersion } from "../../scripts/fold-version/fold-version.ts";
import { EQUIVALENT_FOLD_VERSIONS, FOLD_VERSION } from "../../src/protocol/fold-version.ts";

const DOMAINS = "src/protocol/domains";
const readFile = (file: string) => readFileSync(file, "utf8");

/** The version with one file edited; the edit must find what it replaces. */
function versionAfter(file: string, search: string, replacement: string): string {
  const edited = readFile(file).replace(search, replacement);
  expect(edited, `${file} has ${search}`).not.toBe(readFile(file));
  return computeFoldVersion((each) => (each === file ? edited : readFile(each))).version;
}

describe("the committed fold version", () => {
  it("commits the hash of the folds as the fold version", () => {
    expect(FOLD_VERSION).toBe(computeFoldVersion().version);
    expect(EQUIVALENT_FOLD_VERSIONS).not.toContain(FOLD_VERSION);
  });

  it("covers every domain, the decoder and the code that applies changes", () => {
    const { files } = computeFoldVersion();
    const domains = readdirSync(DOMAINS).filter((name) => !name.endsWith(".test.ts"));
    expect(files).toEqual(expect.arrayContaining(domains.map((name) => `${DOMAINS}/${name}`)));
    expect(files).toEqual(
      expect.arrayContaining([
        "contracts/generated/commerce-registry.ts",
        "src/lib/abi/words.ts",
        "src/protocol/fold.ts",
        "src/schema/change.ts",
        "src/store/index/row-versions.ts",
      ]),
    );
  });
});

describe("what changes a fold version", () => {
  it.each([
    ["a fold", `${DOMAINS}/registries.ts`, "{ revoked: true }", "{ revoked: false }"],
    ["a helper of folds in another file", `${DOMAINS}/commerce-totals.ts`, "receipts: 1n", "receipts: 2n"],
    ["a private constant of folds", `${DOMAINS}/policies.ts`, "86_400n", "86_401n"],
    ["an event of an ABI", "contracts/generated/agent-registry.ts", '"name":"agentId"', '"name":"agent"'],
    ["how a word is decoded", "src/lib/abi/words.ts", "BITS_MAX = 48", "BITS_MAX = 53"],
    [
      "how a change is applied",
      "src/schema/change.ts",
      "...before, ...this.values",
      "...this.values, ...before",
    ],
  ])("changes the fold version after a change of %s", (_, file, search, replacement) => {
    expect(versionAfter(file, search, replacement)).not.toBe(FOLD_VERSION);
  });
});

describe("what keeps a fold version", () => {
  it.each([
    ["a comment", `${DOMAINS}/registries.ts`, "// Agents,", "// All agents,"],
    ["formatting", `${DOMAINS}/registries.ts`, "{ revoked: true }", "{\n  revoked:   true,\n}"],
    ["a type", `${DOMAINS}/commerce.ts`, "type Counts = {", "type Counts = {\n  more?: bigint;"],
    ["an explanation", `${DOMAINS}/registries.ts`, "revoked`", "was revoked`"],
    [
      "a declaration that no fold uses",
      "src/lib/abi/codec.ts",
      "type EventStep",
      "export const UNUSED = 1;\ntype EventStep",
    ],
    ["bytecode", "contracts/generated/agent-registry.ts", '"0x6080', '"0x6081'],
  ])("keeps the fold version after a change of %s", (_, file, search, replacement) => {
    expect(versionAfter(file, search, replacement)).toBe(FOLD_VERSION);
  });

  it("keeps the fold version after a change of a file's path", () => {
    const [from, to] = [`${DOMAINS}/registries.ts`, `${DOMAINS}/renamed.ts`];
    const { version } = computeFoldVersion((file) => {
      if (file === to) return readFile(from);
      return readFile(file).replace('"./domains/registries.ts"', '"./domains/renamed.ts"');
    });
    expect(version).toBe(FOLD_VERSION);
  });
});
