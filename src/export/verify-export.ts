// Compares the files of an export with its manifest, without a database.
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { Fault } from "../lib/fault.ts";
import { listExportedFiles, MANIFEST_NAME, readFileSize } from "./folder.ts";
import { type ManifestFile, readManifest } from "./manifest.ts";

type Verification = {
  readonly files: number;
  readonly bytes: number;
  /** One sentence for each file that is not as listed. */
  readonly differences: readonly string[];
};

/** Reads every file. */
export async function verifyExport(folder: string, signal: AbortSignal): Promise<Verification> {
  const manifest = await readManifest(folder);
  if (!manifest) throw new Fault("INPUT_INVALID", `${folder} has no ${MANIFEST_NAME}, so it has no export.`);
  const { files, tables } = manifest;
  const differences: string[] = [];
  for (const file of files) {
    const difference = await findDifference(folder, file, signal);
    if (difference !== null) differences.push(`${file.path} ${difference}.`);
  }
  const listed = new Set(files.map(({ path }) => path));
  const found = await listExportedFiles(
    folder,
    tables.map(({ name }) => name),
  );
  const unlisted = found.filter((path) => !listed.has(path)).map((path) => `${path} is not in the manifest.`);
  return {
    files: files.length,
    bytes: files.reduce((sum, file) => sum + file.bytes, 0),
    differences: [...differences, ...unlisted],
  };
}

async function findDifference(
  folder: string,
  { path, bytes, sha256 }: ManifestFile,
  signal: AbortSignal,
): Promise<string | null> {
  try {
    const size = await readFileSize(join(folder, path));
    if (size === null) return "is missing";
    if (size !== bytes) return `has ${size} bytes instead of ${bytes}`;
    const isSame = (await hashFile(join(folder, path), signal)) === sha256;
    return isSame ? null : "has another content than when it was exported";
  } catch (error) {
    signal.throwIfAborted();
    return `cannot be read: ${error instanceof Error ? error.message : String(error)}`;
  }
}

async function hashFile(path: string, signal: AbortSignal): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash, { signal });
  return hash.digest("hex");
}
