// Finds out in milliseconds, without the compiler, whether the generated files belong to the sources.
import { generatedSourceHash } from "../generated/source-hash.ts";
import { areActorsStale } from "./compiled-actors.ts";
import { hashSources } from "./compiler-settings.ts";

export function findStaleGeneratedFiles(): string | null {
  const stale = [
    ...(hashSources() === generatedSourceHash ? [] : ["contracts/generated"]),
    ...(areActorsStale() ? ["contracts/test/actors/compiled.json"] : []),
  ];
  if (stale.length === 0) return null;
  return `The Solidity sources or compiler settings changed since ${stale.join(" and ")} was written; run: npm run compile`;
}
