// Caches the compiler's output between runs, under the hash of everything it depends on.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type CompiledContract, compileContracts } from "./compile-contracts.ts";
import { hashSources } from "./compiler-settings.ts";
import { readOwnSources } from "./source-files.ts";

const cacheFolder = fileURLToPath(new URL("../../node_modules/.cache/sextant-contracts/", import.meta.url));
// Part of the cache key: this code decides what is stored of the output.
const readerFile = new URL("./compile-contracts.ts", import.meta.url);

export type Compilation = {
  readonly contracts: readonly CompiledContract[];
  readonly sourceHash: string;
  readonly fromCache: boolean;
};

export async function compileWithCache(): Promise<Compilation> {
  const sources = readOwnSources();
  const sourceHash = hashSources(sources);
  const cacheKey = createHash("sha256").update(sourceHash).update(readFileSync(readerFile)).digest("hex");
  const cached = readCached(cacheKey);
  if (cached !== null) return { contracts: cached, sourceHash, fromCache: true };
  const contracts = await compileContracts(sources);
  writeCached(cacheKey, contracts);
  return { contracts, sourceHash, fromCache: false };
}

function readCached(cacheKey: string): readonly CompiledContract[] | null {
  try {
    return JSON.parse(readFileSync(`${cacheFolder}${cacheKey}.json`, "utf8"));
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return null;
    throw new Error(`the compiler cache in ${cacheFolder} is damaged; delete it`, { cause });
  }
}

// Stores one output: older ones belong to sources that are gone. Another process may do the same at once: the rename
// makes a half-written file impossible, and a file already deleted is not a failure.
function writeCached(cacheKey: string, contracts: readonly CompiledContract[]): void {
  mkdirSync(cacheFolder, { recursive: true });
  for (const name of readdirSync(cacheFolder)) {
    if (name.endsWith(".json")) rmSync(`${cacheFolder}${name}`, { force: true });
  }
  const unfinished = `${cacheFolder}${process.pid}.tmp`;
  writeFileSync(unfinished, JSON.stringify(contracts));
  renameSync(unfinished, `${cacheFolder}${cacheKey}.json`);
}
