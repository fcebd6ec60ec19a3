// Proves that contracts/generated is what the compiler makes of contracts/src.
import { describe, expect, it } from "vitest";
import { generatedSourceHash } from "../generated/source-hash.ts";
import { compileWithCache } from "./compile-cache.ts";
import { hashSources } from "./compiler-settings.ts";
import { readGenerated, renderGenerated } from "./generated-files.ts";
import { findStaleGeneratedFiles } from "./generated-is-stale.ts";
import { readOwnSources } from "./source-files.ts";

// The compiler alone takes 10 s on a quiet machine; a noisy one is several times slower.
const compileTimeoutMs = 180_000;

describe("generated files", () => {
  it("are not stale", () => {
    expect(findStaleGeneratedFiles()).toBeNull();
  });

  it("equal the compiler's output to the byte", { timeout: compileTimeoutMs }, async () => {
    const { contracts, sourceHash } = await compileWithCache();
    const expected = renderGenerated(contracts, sourceHash);
    const byName = Object.fromEntries(expected.map(({ name, text }) => [name, text]));
    expect(Object.fromEntries(readGenerated().map(({ name, text }) => [name, text]))).toEqual(byName);
  });

  it("name nothing of the machine they were made on", () => {
    for (const { name, text } of readGenerated()) {
      expect([name, text.includes(process.cwd())]).toEqual([name, false]);
    }
  });
});

describe("source hash", () => {
  it("changes with any change of any source", () => {
    const sources = readOwnSources();
    for (const changed of sources) {
      const edited = sources.map((one) => (one === changed ? { ...one, text: `${one.text} ` } : one));
      expect([changed.name, hashSources(edited)]).not.toEqual([changed.name, generatedSourceHash]);
    }
  });
});
