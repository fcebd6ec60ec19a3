// Where the time of a test run went: its slowest files, and the sum of each folder.
import type { TimedFile } from "./run-report.ts";

const FILES_SHOWN = 15;
const FOLDERS_SHOWN = 12;

/** `files` come longest first. Sums exceed the time of the run, because files run beside each other. */
export function formatDurations(files: readonly TimedFile[]): string {
  const folders = new Map<string, number>();
  for (const { file, seconds } of files) {
    const folder = file.split("/").slice(0, 2).join("/");
    folders.set(folder, (folders.get(folder) ?? 0) + seconds);
  }
  const sums = [...folders].sort(([, left], [, right]) => right - left).slice(0, FOLDERS_SHOWN);
  const total = files.reduce((sum, { seconds }) => sum + seconds, 0);
  return [
    `slowest of ${files.length} files`,
    ...files.slice(0, FILES_SHOWN).map(({ file, seconds }) => formatLine(seconds, file)),
    "by folder",
    ...sums.map(([folder, seconds]) => formatLine(seconds, folder)),
    formatLine(total, "all files"),
    "",
  ].join("\n");
}

function formatLine(seconds: number, name: string): string {
  return `${seconds.toFixed(1).padStart(8)} s  ${name}`;
}
