// Servers for tests: on copies of one initialised folder, in this process or in a child that can be killed.

import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { onTestFinished } from "vitest";
import { copyInitialisedFolder } from "../../../tests/support/database/initialised-folder.ts";
import { startNodeChild } from "../../../tests/support/process/node-child.ts";
import { createTestFolder } from "../../../tests/support/test-folder.ts";
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

/** A folder whose data is a copy of what the run has initialised once; a new folder if none is given. */
export async function copyInitialised(given?: string): Promise<string> {
  const folder = given ?? (await createTestFolder());
  await copyInitialisedFolder(folder);
  return folder;
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
