// A folder of its own for one test, which other accounts may pass through but not list.
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

export async function createTestFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "sextant-folder-"));
  await chmod(folder, 0o711);
  // A server whose process was killed may still be putting its things away.
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }));
  return folder;
}
