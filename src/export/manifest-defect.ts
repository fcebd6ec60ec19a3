// Finds what in a manifest cannot be as an export wrote it: files are trusted by it, and written and deleted next to it.
import { isJsonObject, type JsonObject } from "../lib/json.ts";
import type { ExportedRange } from "./export-table.ts";

// Raised when readers of the files have to change.
export const FORMAT = 1;

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
