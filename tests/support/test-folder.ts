// Folders of tests: in memory if there is enough of it, otherwise in the system's temporary folder.
import { readFileSync, statfsSync } from "node:fs";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { freemem, tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

const MEMORY_FOLDER = "/dev/shm";
// The databases of a run and the log of their server; containers often have 64 MB.
const MEMORY_BYTES_MIN = 6 * 1024 ** 3;

/**
 * Finds where to make folders for databases. The files of a database that a test creates and drops cost a disk more
 * time than the test takes.
 */
export function findFastFolder(): string {
  return hasMemoryFolder() ? MEMORY_FOLDER : tmpdir();
}

function hasMemoryFolder(): boolean {
  if (process.platform !== "linux") return false;
  const mounted = readFileSync("/proc/mounts", "utf8")
    .split("\n")
    .map((line) => line.split(" "))
    .findLast(([, folder]) => folder === MEMORY_FOLDER);
  const [, , type, options = ""] = mounted ?? [];
  // The server's programs may be copied into the folder, and must run there.
  if (type !== "tmpfs" || options.split(",").includes("noexec")) return false;
  const { bavail, bsize } = statfsSync(MEMORY_FOLDER);
  return Math.min(bavail * bsize, freemem()) >= MEMORY_BYTES_MIN;
}

/** A folder of its own for one test, which other accounts may pass through but not list. */
export async function createTestFolder(): Promise<string> {
  const folder = await mkdtemp(join(findFastFolder(), "sextant-folder-"));
  await chmod(folder, 0o711);
  // A server whose process was killed may still be putting its things away.
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }));
  return folder;
}
