// The folder of an export: files that appear whole or not at all, also where the power fails.
import { mkdir, open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";

const PARTIAL = ".partial";
const EXPORTED = /^\d+-\d+\.parquet$/;

/** The name of a file while it is written; readers that look for `*.parquet` do not see it. */
export function partialPath(path: string): string {
  return `${path}${PARTIAL}`;
}

/** Gives a file that was written and synced as partial its name. */
export async function publishFile(path: string): Promise<void> {
  await rename(partialPath(path), path);
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
  return (await readdir(folder)).every((name) => name.endsWith(PARTIAL));
}

/** Paths of exported files in the folders of tables, relative to the folder. */
export async function listExportedFiles(folder: string, tables: readonly string[]): Promise<string[]> {
  return (await listTableFiles(folder, tables)).filter((path) => !path.endsWith(PARTIAL));
}

/** Deletes what a killed run has left: files that it was writing, and those that it had not listed yet. */
export async function deleteUnlisted(
  folder: string,
  tables: readonly string[],
  listed: ReadonlySet<string>,
): Promise<void> {
  for (const path of await listTableFiles(folder, tables))
    if (!listed.has(path)) await rm(join(folder, path));
}

async function listTableFiles(folder: string, tables: readonly string[]): Promise<string[]> {
  const lists = await Promise.all(
    tables.map(async (table) => {
      const names = await readdir(join(folder, table)).catch((error) => {
        if (isMissing(error)) return [];
        throw error;
      });
      return names
        .filter((name) => EXPORTED.test(name.endsWith(PARTIAL) ? name.slice(0, -PARTIAL.length) : name))
        .map((name) => `${table}/${name}`);
    }),
  );
  return lists.flat();
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
