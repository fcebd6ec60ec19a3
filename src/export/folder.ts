// The folder of an export: files that appear whole or not at all, also if the power fails.
import { mkdir, open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { Fault } from "../lib/fault.ts";

export const MANIFEST_NAME = "manifest.json";
export const VIEWS_NAME = "views.sql";

const EXPORTED = /^\d+-\d+\.parquet$/;
// With its process in the name: two of them, also in two containers, never write into one file.
const PARTIAL = /^(.+)\.[^.]+\.partial$/;

/** The name of a file while it is written; readers that look for `*.parquet` do not see it. */
export function partialPath(path: string): string {
  return `${path}.${hostname().replaceAll(".", "-")}-${process.pid}.partial`;
}

/** Gives a file that was written and synced as partial its name. */
export async function publishFile(path: string): Promise<void> {
  try {
    await rename(partialPath(path), path);
  } catch (error) {
    if (!isMissing(error)) throw error;
    throw new Fault(
      "DATABASE_BUSY",
      `${partialPath(path)} was deleted while it was written: another process exports into this folder, from another database. Let one of them finish, and run this again.`,
      { cause: error },
    );
  }
}

/** Replaces a file in one step. */
export async function writeWholeFile(folder: string, name: string, text: string): Promise<void> {
  const path = join(folder, name);
  const handle = await open(partialPath(path), "w");
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await publishFile(path);
  await syncFolder(folder);
}

/** Makes the names in a folder durable, as fsync of a file does for its content. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Null for a missing file. */
export async function readTextFile(folder: string, name: string): Promise<string | null> {
  try {
    return await readFile(join(folder, name), "utf8");
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/** Null if there is no such file. */
export async function readFileSize(path: string): Promise<number | null> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/** Makes the folder; whether it has anything but what a killed run may have begun. */
export async function isEmptyFolder(folder: string): Promise<boolean> {
  await mkdir(folder, { recursive: true });
  return (await readdir(folder)).every((name) => PARTIAL.test(name));
}

/** Paths of exported files in the folders of tables, relative to the folder. */
export async function listExportedFiles(folder: string, tables: readonly string[]): Promise<string[]> {
  const lists = await Promise.all(
    tables.map(async (table) => {
      const names = await listNames(join(folder, table));
      return names.filter((name) => EXPORTED.test(name)).map((name) => `${table}/${name}`);
    }),
  );
  return lists.flat();
}

/** The leftovers of a killed run: files that it was writing, and files that it had not listed yet. */
export async function deleteUnlisted(
  folder: string,
  tables: readonly string[],
  listed: ReadonlySet<string>,
): Promise<void> {
  for (const path of await listExportedFiles(folder, tables))
    if (!listed.has(path)) await rm(join(folder, path));
  await deletePartials(folder, tables, () => true);
}

/** Deletes what this process was writing when it failed: a full disk gets its space back. */
export async function deleteOwnPartials(folder: string, tables: readonly string[]): Promise<void> {
  const ending = partialPath("");
  await deletePartials(folder, tables, (name) => name.endsWith(ending));
}

async function deletePartials(
  folder: string,
  tables: readonly string[],
  isMeant: (name: string) => boolean,
): Promise<void> {
  for (const place of ["", ...tables]) {
    for (const name of await listNames(join(folder, place))) {
      const [, whole = ""] = PARTIAL.exec(name) ?? [];
      const isOurs = place === "" ? [MANIFEST_NAME, VIEWS_NAME].includes(whole) : EXPORTED.test(whole);
      if (isOurs && isMeant(name)) await rm(join(folder, place, name), { force: true });
    }
  }
}

async function listNames(folder: string): Promise<string[]> {
  return readdir(folder).catch((error) => {
    if (isMissing(error)) return [];
    throw error;
  });
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
