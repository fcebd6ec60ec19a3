// Servers for tests: on copies of one initialised folder, in this process or in a child that can be killed.

import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { Client } from "pg";
import { afterAll, beforeAll, onTestFinished } from "vitest";
import { startNodeChild } from "../../../tests/support/process/node-child.ts";
import { createTestFolder, findFastFolder } from "../../../tests/support/test-folder.ts";
import { openSharedPostgres, type SharedPostgres } from "../shared.ts";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../start.ts";
import { silentLogger as log } from "./silent-log.ts";

type Connection = EmbeddedPostgres["connection"];

export type ChildMessage =
  | { state: "ready"; serverPid: number; connection: Connection }
  | { state: "failed"; code: string | null; cause: string }
  | { state: "stopped" };

type Account = { readonly uid?: number; readonly gid?: number };

const CHILD = new URL("./embedded-postgres-child.ts", import.meta.url);

/**
 * Initialising takes most of the time of a start: the tests of a file copy a folder that was initialised once. Returns
 * the function that copies it, into a new folder if none is given.
 */
export function useInitialisedFolder(): (folder?: string) => Promise<string> {
  let initialised = "";
  beforeAll(async () => {
    initialised = await mkdtemp(join(findFastFolder(), "sextant-folder-"));
    await chmod(initialised, 0o711);
    const server = await startEmbeddedPostgres({ folder: initialised, log, durability: "none" });
    await server.stop();
  });
  afterAll(() => rm(initialised, { recursive: true, force: true }));
  return async (given) => {
    const folder = given ?? (await createTestFolder());
    await mkdir(folder, { recursive: true });
    await linkPrograms(initialised, folder);
    await promisify(execFile)("cp", ["-a", join(initialised, "data"), folder]);
    return folder;
  };
}

/** Hard links to the programs of the other folder, where it has a copy: nothing changes them, and they are large. */
async function linkPrograms(from: string, to: string): Promise<void> {
  for (const name of await readdir(from)) {
    if (!name.startsWith("postgresql-")) continue;
    await promisify(execFile)("cp", ["-al", join(from, name), to]);
  }
}

/** Stopped at the end of the test. */
export async function startTestServer(
  folder: string,
  durability: "full" | "none" = "none",
): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({ folder, log, durability });
  onTestFinished(() => server.stop());
  return server;
}

export function startServerChild(folder: string, account: Account = {}) {
  return startNodeChild(CHILD, [folder], account);
}

/** A child whose server is up. */
export async function startReadyChild(folder: string, account: Account = {}) {
  const child = startServerChild(folder, account);
  const message = await child.next<ChildMessage>();
  if (message.state !== "ready") throw new Error(JSON.stringify(message));
  return { child, ...message };
}

export async function withClient<T>(
  connection: Connection,
  task: (client: Client) => Promise<T>,
): Promise<T> {
  const client = new Client({ ...connection, port: 5432, ssl: false });
  client.on("error", () => undefined);
  await client.connect();
  try {
    return await task(client);
  } finally {
    await client.end();
  }
}

export async function queryValue(connection: Connection, sql: string): Promise<unknown> {
  const { rows } = await withClient(connection, (client) => client.query({ text: sql, rowMode: "array" }));
  return rows[0]?.[0];
}

/** Processes whose command line has all the words. */
export function findPids(...words: string[]): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const command = readFileSync(`/proc/${pid}/cmdline`, "utf8");
        return words.every((word) => command.includes(word));
      } catch {
        return false;
      }
    })
    .map(Number);
}

export async function eventually(
  check: () => boolean | Promise<boolean>,
  withinMs = 8_000,
): Promise<boolean> {
  for (const until = Date.now() + withinMs; Date.now() < until; await sleep(25)) {
    if (await check()) return true;
  }
  return false;
}

/** Repeats a read until it succeeds, while a server is taken over. */
export async function readEventually<T>(read: () => Promise<T>): Promise<T> {
  for (const until = Date.now() + 30_000; ; await sleep(50)) {
    try {
      return await read();
    } catch (error) {
      if (Date.now() > until) throw error;
    }
  }
}

/** Joins or starts the server of the folder, and leaves it when the test ends. */
export async function openSharedForTest(folder: string): Promise<SharedPostgres> {
  const server = await openSharedPostgres({ folder, log, durability: "none" });
  onTestFinished(() => server.stop());
  return server;
}
