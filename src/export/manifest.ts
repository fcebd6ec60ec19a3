// The manifest of an export: what the files hold, where they come from, and the hash of each.
import { Fault } from "../lib/fault.ts";
import { isJsonObject, type JsonObject } from "../lib/json.ts";
import type { StoredDeployment } from "../store/index/prepare.ts";
import type { ExportColumn, ExportedRange, ExportTable } from "./export-table.ts";
import { isEmptyFolder, MANIFEST_NAME, readTextFile, writeWholeFile } from "./folder.ts";

export type ManifestFile = {
  readonly table: string;
  /** Relative to the manifest, with slashes. */
  readonly path: string;
  /** Blocks from `from` up to, but not including, `to`. */
  readonly from: number;
  readonly to: number;
  readonly rows: number;
  readonly bytes: number;
  readonly sha256: string;
};

type ManifestTable = {
  readonly name: string;
  readonly key: readonly string[];
  readonly versioned: boolean;
  readonly columns: readonly ExportColumn[];
};

export type Manifest = {
  readonly format: typeof FORMAT;
  readonly deployment: StoredDeployment;
  readonly foldVersion: number | string;
  /** Files end at multiples of this many blocks, and where a run ended. */
  readonly step: number;
  /** The exported blocks: from `from` up to, but not including, `to`. A range without a file has no rows. */
  readonly from: number;
  readonly to: number;
  /** The last exported block; hash and Unix seconds are null if the index no longer has them. */
  readonly block: {
    readonly number: number;
    readonly hash: string | null;
    readonly timestamp: number | null;
  } | null;
  /** The newest exported block with logs, by which a later run recognizes the chain; null before the first log. */
  readonly lastLogBlock: { readonly number: number; readonly hash: string } | null;
  readonly tables: readonly ManifestTable[];
  readonly files: readonly ManifestFile[];
};

/** The facts with which an export into a folder must agree. */
type ExportIdentity = {
  readonly deployment: StoredDeployment;
  readonly foldVersion: number | string;
  /** Earlier versions whose rows are the same. */
  readonly equivalentFoldVersions: readonly (number | string)[];
  readonly tables: readonly ExportTable[];
};

function describeTables(tables: readonly ExportTable[]): ManifestTable[] {
  return tables.map(({ name, key, isVersioned, columns }) => ({
    name,
    key,
    versioned: isVersioned,
    columns,
  }));
}

/** Null if the folder has none. */
export async function readManifest(folder: string): Promise<Manifest | null> {
  const text = await readTextFile(folder, MANIFEST_NAME);
  if (text === null) return null;
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (cause) {
    throw new Fault(
      "INPUT_INVALID",
      `${folder}/${MANIFEST_NAME} is not JSON; restore it from a copy, or export into a new folder.`,
      { cause },
    );
  }
  const defect = findManifestDefect(parsed);
  if (defect !== null) {
    throw new Fault(
      "INPUT_INVALID",
      `${folder}/${MANIFEST_NAME} is not as an export writes it: ${defect}. Restore it from a copy, or export into a new folder.`,
    );
  }
  return parsed as Manifest;
}

/** `known` is what this run has found or written: the lock of a run holds in its own database only. */
export async function assertSameManifest(folder: string, known: Manifest): Promise<void> {
  if (JSON.stringify(await readManifest(folder)) === JSON.stringify(known)) return;
  throw new Fault(
    "DATABASE_BUSY",
    `${folder}/${MANIFEST_NAME} has changed since this run began: another process exports into this folder, from another database. Let one of them finish, and run this again.`,
  );
}

export async function writeManifest(folder: string, manifest: Manifest): Promise<void> {
  await writeWholeFile(folder, MANIFEST_NAME, `${JSON.stringify(manifest, null, 2)}\n`);
}

/** The manifest of a folder, which a new or empty one gets; rejects a folder of something else. */
export async function openManifest(
  folder: string,
  identity: ExportIdentity,
  given: { readonly step: number | null; readonly defaultStep: number },
): Promise<Manifest> {
  const isEmpty = await isEmptyFolder(folder);
  const manifest = await readManifest(folder);
  if (manifest === null) {
    if (!isEmpty) {
      throw new Fault(
        "INPUT_INVALID",
        `${folder} has other files and no ${MANIFEST_NAME}; export into a new or empty folder.`,
      );
    }
    const begun = beginManifest(identity, given.step ?? given.defaultStep);
    await writeManifest(folder, begun);
    return begun;
  }
  assertSameSource(folder, manifest, identity);
  if (given.step !== null && given.step !== manifest.step) {
    throw new Fault(
      "INPUT_INVALID",
      `${folder} was begun with --step ${manifest.step}, which cannot change; leave --step out, or export into a new folder.`,
    );
  }
  return manifest;
}

function beginManifest({ deployment, foldVersion, tables }: ExportIdentity, step: number): Manifest {
  return {
    format: FORMAT,
    deployment,
    foldVersion,
    step,
    from: deployment.startBlock,
    to: deployment.startBlock,
    block: null,
    lastLogBlock: null,
    tables: describeTables(tables),
    files: [],
  };
}

function assertSameSource(folder: string, manifest: Manifest, identity: ExportIdentity): void {
  const { deployment, foldVersion, equivalentFoldVersions, tables } = identity;
  if (manifest.deployment.fingerprint !== deployment.fingerprint) {
    throw new Fault(
      "DEPLOYMENT_MISMATCH",
      `${folder} has an export of another deployment (chain ${manifest.deployment.chainId}, ${manifest.deployment.fingerprint}) than the database (chain ${deployment.chainId}, ${deployment.fingerprint}); export into a folder of its own.`,
    );
  }
  const isSameFold = [foldVersion, ...equivalentFoldVersions].includes(manifest.foldVersion);
  const isSameSchema = JSON.stringify(manifest.tables) === JSON.stringify(describeTables(tables));
  if (isSameFold && isSameSchema) return;
  throw new Fault(
    "INPUT_INVALID",
    `${folder} was exported by another version (folds ${manifest.foldVersion}, now ${foldVersion}), whose rows may differ; export into a new folder, and delete this one when its readers have moved.`,
  );
}

// Raised when readers of the files have to change.
const FORMAT = 1;

const HASH = /^0x[0-9a-f]{64}$/;
const SHA256 = /^[0-9a-f]{64}$/;
// Also keeps a manifest from elsewhere from leading outside of the folder.
const TABLE = /^[a-z][a-z_]*$/;

/** The folder in which a table keeps its rows of a range. */
export function filePath(table: string, { from, to }: ExportedRange): string {
  return `${table}/${from}-${to}.parquet`;
}

/** As the part of a sentence that names the field; null for a manifest. */
export function findManifestDefect(value: unknown): string | null {
  if (!isJsonObject(value)) return "it is not an object";
  if (value.format !== FORMAT) return `its format is not ${FORMAT}`;
  if (!isJsonObject(value.deployment) || !isWhole(value.deployment.chainId, 1))
    return "deployment has no chain";
  if (!isWhole(value.step, 1)) return "step is not a number of blocks";
  const { from, to } = value;
  if (!isWhole(from, 0) || from !== value.deployment.startBlock) return "from is not the first block";
  if (!isWhole(to, from)) return "to is not a block after from";
  return (
    findBlockDefect(value, { from, to }) ??
    findTableDefect(value.tables) ??
    findFileDefect(value, { from, to })
  );
}

function findBlockDefect({ block, lastLogBlock }: JsonObject, { from, to }: ExportedRange): string | null {
  const isLast = isJsonObject(block) && block.number === to - 1;
  if (to === from ? block !== null : !isLast) return "block is not the last one before to";
  if (lastLogBlock === null) return null;
  const isInside =
    isJsonObject(lastLogBlock) && isWhole(lastLogBlock.number, from) && lastLogBlock.number < to;
  return isInside && HASH.test(String(lastLogBlock.hash)) ? null : "lastLogBlock is not one of its blocks";
}

function findTableDefect(tables: unknown): string | null {
  if (!Array.isArray(tables)) return "tables is not a list";
  const isTable = (table: unknown) =>
    isJsonObject(table) &&
    TABLE.test(String(table.name)) &&
    Array.isArray(table.key) &&
    Array.isArray(table.columns);
  return tables.every(isTable) ? null : "a table has no name, key or columns";
}

/** A file that overlaps with another, or with what comes after the last block, would be written a second time. */
function findFileDefect({ files, tables }: JsonObject, range: ExportedRange): string | null {
  if (!Array.isArray(files)) return "files is not a list";
  const ends = new Map((tables as readonly { name: string }[]).map(({ name }) => [name, range.from]));
  for (const [index, file] of files.entries()) {
    if (!isJsonObject(file)) return `file ${index} is not an object`;
    const { table, from, to, rows, bytes, sha256 } = file;
    const end = ends.get(String(table));
    if (end === undefined) return `file ${index} is of no table`;
    if (!isWhole(from, end) || !isWhole(to, from + 1) || to > range.to)
      return `the blocks of file ${index} are not between those of the file before it and the last block`;
    if (file.path !== filePath(String(table), { from, to })) return `file ${index} has another path`;
    if (!isWhole(rows, 1) || !isWhole(bytes, 1) || !SHA256.test(String(sha256)))
      return `rows, bytes or sha256 of file ${index} are not valid`;
    ends.set(String(table), to);
  }
  return null;
}

function isWhole(value: unknown, min: number): value is number {
  return Number.isSafeInteger(value) && Number(value) >= min;
}
