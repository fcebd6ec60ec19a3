// A command of the operator works on the database of the running service or on the configured one, and says which.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createTestFolder } from "../../tests/support/test-folder.ts";
import type { RunState } from "../local/run-files.ts";
import { openReader } from "./open-reader.ts";
import { chooseOperatorDatabase } from "./operator-database.ts";

const API = "http://127.0.0.1:3001";
// Above what Linux gives to any process.
const NO_PID = 2 ** 22 + 1;

async function createFolder(runs: Readonly<Record<string, Partial<RunState>>> = {}): Promise<string> {
  const folder = await createTestFolder();
  for (const [name, run] of Object.entries(runs)) {
    const operator = { NETWORK: "/run/deployment.json", RPC_URL: "http://127.0.0.1:1", SEXTANT_DATA: "/run" };
    const state = { pid: process.pid, api: API, hasDatabaseUrl: false, operator, ...run };
    writeFileSync(join(folder, name), JSON.stringify(state));
  }
  return folder;
}

describe("a run next to the command", () => {
  it("is joined, with its deployment, node and database", async () => {
    const folder = await createFolder({ "local.json": {} });
    const { environment, note } = chooseOperatorDatabase({ SEXTANT_DATA: folder });
    expect(environment).toMatchObject({ NETWORK: "/run/deployment.json", SEXTANT_DATA: "/run" });
    expect(note).toBe(`Using the run at ${API}, the embedded database in /run, schema sextant.`);
  });

  it("keeps a node that the operator trusts more", async () => {
    const folder = await createFolder({ "serve.json": {} });
    const { environment } = chooseOperatorDatabase({ SEXTANT_DATA: folder, RPC_URL: "https://node.test" });
    expect(environment.RPC_URL).toBe("https://node.test");
  });

  it.each([
    ["a deployment is named", { NETWORK: "base-sepolia" }, {}],
    ["further deployments are named", { DEPLOYMENTS: "base-sepolia" }, {}],
    ["a database is named that the run does not use", { DATABASE_URL: "postgres://u:secret@db.test/x" }, {}],
    ["its process is gone", {}, { pid: NO_PID }],
  ])("is not joined if %s", async (_, given, run) => {
    const folder = await createFolder({ "local.json": run });
    mkdirSync(join(folder, "postgres/data"), { recursive: true });
    const { note } = chooseOperatorDatabase({ SEXTANT_DATA: folder, ...given });
    expect(note).toContain("for the deployment base-sepolia.");
    expect(note).not.toMatch(/run at|secret/);
  });

  it("is joined with the DATABASE_URL that both have, and not without it", async () => {
    const folder = await createFolder({ "local.json": { hasDatabaseUrl: true } });
    const given = { SEXTANT_DATA: folder, DATABASE_URL: "postgres://u:secret@a.test:1,b.test:2/rows" };
    const { environment, note } = chooseOperatorDatabase(given);
    expect(environment.NETWORK).toBe("/run/deployment.json");
    expect(note).toBe(`Using the run at ${API}, the database rows at a.test:1, b.test:2, schema sextant.`);
    expect(() => chooseOperatorDatabase({ SEXTANT_DATA: folder })).toThrow(
      "set DATABASE_URL to the same one",
    );
  });
});

it("creates no empty database in place of the one that was meant", async () => {
  const folder = await createFolder();
  expect(() => chooseOperatorDatabase({ SEXTANT_DATA: folder })).toThrow(`There is no database in ${folder}`);
});

it("reads from `serve` where no local run is", async () => {
  const served = await createFolder({ "local.json": { pid: NO_PID }, "serve.json": {} });
  expect(openReader({ SEXTANT_DATA: served })).toBeDefined();
  const empty = await createFolder({ "serve.json": { pid: NO_PID } });
  expect(() => openReader({ SEXTANT_DATA: empty })).toThrow("There is no local run");
  writeFileSync(join(empty, "serve.json"), "{");
  expect(() => openReader({ SEXTANT_DATA: empty })).toThrow("is not what `serve` writes");
});
