// Tells in milliseconds, without the compiler, whether the generated files belong to the sources.
import { generatedSourceHash } from "../generated/source-hash.ts";
import { hashSources } from "./compiler-settings.ts";

export function findStaleGeneratedFiles(): string | null {
  if (hashSources() === generatedSourceHash) return null;
  return "contracts/src or the compiler settings changed since contracts/generated was written; run: npx tsx contracts/compile/run.ts";
}
