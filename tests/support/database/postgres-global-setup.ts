// One PostgreSQL for the whole test run: TEST_DATABASE_URL, or else an embedded one in a temporary folder.
import { chmod, lstat, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isProcessAlive } from "@sextant/embedded-postgres/processes";
import { startEmbeddedPostgres } from "@sextant/embedded-postgres/start";
import type { TestProject } from "vitest/node";
import { createLog } from "../../../src/lib/log.ts";
import "./test-database.ts";

const PREFIX = "sextant-test-";

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const url = process.env.TEST_DATABASE_URL;
  if (url) {
    project.provide("postgres", { kind: "given", url });
    return async () => undefined;
  }
  await removeAbandonedFolders();
  const folder = await mkdtemp(join(tmpdir(), `${PREFIX}${process.pid}-`));
  // As root, the server runs as another account, which must be able to pass.
  await chmod(folder, 0o711);
  const log = createLog({ level: "error", terminal: true, name: "test-postgres" });
  const server = await startEmbeddedPostgres({ folder: join(folder, "postgres"), log, durability: "none" });
  project.provide("postgres", { kind: "embedded", ...server.connection });
  return async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  };
}

// A killed run leaves its folder behind; its server has stopped with it.
async function removeAbandonedFolders(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const pid = name.startsWith(PREFIX) ? Number(name.slice(PREFIX.length).split("-")[0]) : Number.NaN;
    if (!Number.isInteger(pid) || isProcessAlive(pid)) continue;
    const path = join(tmpdir(), name);
    if ((await lstat(path)).uid === process.getuid?.()) await rm(path, { recursive: true, force: true });
  }
}
