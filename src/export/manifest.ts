// The manifest of an export: what the files hold, where they come from, and the hash of each.
import { Fault } from "../lib/fault.ts";
import type { StoredDeployment } from "../store/index/prepare.ts";
import type { ExportColumn, ExportTable } from "./export-table.ts";
import { isEmptyFolder, MANIFEST_NAME, readTextFile, writeWholeFile } from "./folder.ts";
import { FORMAT, findManifestDefect } from "./manifest-defect.ts";

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
