// contracts/generated belongs to contracts/src by hash; `npm run compile -- --check` compares it with solc's output.
import { describe, expect, it } from "vitest";
import { generatedSourceHash } from "../generated/source-hash.ts";
import { hashSources } from "./compiler-settings.ts";
import { findGeneratedDifferences, readGenerated } from "./generated-files.ts";
import { findStaleGeneratedFiles } from "./generated-is-stale.ts";
import { readOwnSources } from "./source-files.ts";

describe("generated files", () => {
  it("generated files are not stale", () => {
    expect(findStaleGeneratedFiles()).toBeNull();
  });

  it("compares generated files by name and byte", () => {
    const [first, second, ...rest] = readGenerated();
    if (first === undefined || second === undefined) throw new Error("contracts/generated is empty");
    expect(findGeneratedDifferences([first, second, ...rest])).toEqual([]);
    const edited = { ...first, text: `${first.text} ` };
    const extra = { name: "zz-extra.ts", text: "" };
    expect(findGeneratedDifferences([edited, ...rest, extra])).toEqual(
      [first.name, second.name, extra.name].sort(),
    );
  });

  it("generated files contain no path of the machine that wrote them", () => {
    for (const { name, text } of readGenerated()) {
      expect([name, text.includes(process.cwd())]).toEqual([name, false]);
    }
  });
});

describe("source hash", () => {
  it("the source hash changes with any change of any source", () => {
    const sources = readOwnSources();
    for (const changed of sources) {
      const edited = sources.map((one) => (one === changed ? { ...one, text: `${one.text} ` } : one));
      expect([changed.name, hashSources(edited)]).not.toEqual([changed.name, generatedSourceHash]);
    }
  });
});
