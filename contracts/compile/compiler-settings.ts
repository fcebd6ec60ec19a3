// How the contracts are compiled: the pinned versions and every setting that changes the output.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { readOwnSources, type SourceFile } from "./source-files.ts";

/**
 * One hash over everything the compiled output depends on. The library counts by its exact version: hashing its files
 * would need a development install.
 */
export function hashSources(sources: readonly SourceFile[] = readOwnSources()): string {
  const everything = { sources, compilerSettings, selectedOutput, versions: readPinnedVersions() };
  return createHash("sha256").update(JSON.stringify(everything)).digest("hex");
}

const packageFile = new URL("../package.json", import.meta.url);

export type PinnedVersions = { readonly solc: string; readonly openZeppelin: string };

// Reads the pins, not the installed packages: they exist without a development install too.
export function readPinnedVersions(): PinnedVersions {
  const { devDependencies } = JSON.parse(readFileSync(packageFile, "utf8")) as {
    devDependencies: Record<string, string>;
  };
  const solc = devDependencies.solc;
  const openZeppelin = devDependencies["@openzeppelin/contracts"];
  if (solc === undefined || openZeppelin === undefined) {
    throw new Error("contracts/package.json pins neither solc nor @openzeppelin/contracts");
  }
  return { solc, openZeppelin };
}

export const compilerSettings = {
  // cancun is the newest hard fork that all our chains have had for long.
  evmVersion: "cancun",
  optimizer: { enabled: true, runs: 200 },
  // No metadata in the bytecode: the same sources give the same bytes wherever they are compiled.
  metadata: { appendCBOR: false, bytecodeHash: "none" },
} as const;

export const selectedOutput = [
  "abi",
  "evm.bytecode.object",
  "evm.deployedBytecode",
  "storageLayout",
] as const;
