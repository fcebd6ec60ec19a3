// One hash over everything the compiled output depends on.
import { createHash } from "node:crypto";
import { compilerSettings, readPinnedVersions, selectedOutput } from "./compiler-settings.ts";
import { readOwnSources, type SourceFile } from "./source-files.ts";

// The library is known by its exact version: hashing its files would need a development install.
export function hashSources(sources: readonly SourceFile[] = readOwnSources()): string {
  const everything = { sources, compilerSettings, selectedOutput, versions: readPinnedVersions() };
  return createHash("sha256").update(JSON.stringify(everything)).digest("hex");
}
