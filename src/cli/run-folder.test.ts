// Commands in other folders find the run of this user, or name the folder to set.
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import os from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { useEmptyWorkingFolder } from "../../tests/support/empty-working-folder.ts";
import { startLoopbackServer } from "../../tests/support/http/loopback-server.ts";
import { runSextantInProcess } from "../../tests/support/process/run-in-process.ts";
import { silentLog } from "../../tests/support/quiet-log.ts";
import { createTestFolder } from "../../tests/support/test-folder.ts";
import { listRegisteredRuns, registerRun } from "../local/registered-runs.ts";
import { openClient } from "./client-settings.ts";
import { openReader } from "./open-reader.ts";
import { chooseOperatorDatabase } from "./operator-database.ts";
import { assertNoRun, findRunFolder, findStateFolder } from "./run-folder.ts";

useEmptyWorkingFolder();

const API = "http://127.0.0.1:3001";
// Above what Linux gives to any process.
const NO_PID = 2 ** 22 + 1;
const KEY = `0x${"07".repeat(32)}`;

type Home = { readonly home: string; readonly environment: { readonly HOME: string } };

async function createHome(): Promise<Home> {
  const home = await createTestFolder();
  return { home, environment: { HOME: home } };
}

/** A folder with the file of a local run, and its entry. */
async function addRun(
  { home, environment }: Home,
  name: string,
  pid = process.pid,
  api = API,
): Promise<string> {
  const dataFolder = join(home, name, ".sextant");
  mkdirSync(dataFolder, { recursive: true });
  const payment = { network: "eip155:31337", asset: `0x${"aa".repeat(20)}`, payTo: `0x${"bb".repeat(20)}` };
  const accounts = [{ name: "payer", privateKey: KEY }];
  const state = { pid, api, portfolio: "http://127.0.0.1:3002", payment, accounts };
  writeFileSync(join(dataFolder, "local.json"), JSON.stringify(state), { mode: 0o600 });
  const runs = join(findStateFolder(environment) ?? "", "runs");
  mkdirSync(runs, { recursive: true });
  writeFileSync(join(runs, `${name}.json`), JSON.stringify({ pid, api, dataFolder }), { mode: 0o600 });
  return dataFolder;
}

/** A folder with the file of a local run, and the entry that its process writes. */
async function registerOwnRun(home: Home): Promise<{ readonly dataFolder: string; readonly entry: string }> {
  const dataFolder = await addRun(home, "one");
  const runs = join(findStateFolder(home.environment) ?? "", "runs");
  rmSync(join(runs, "one.json"));
  await registerRun(findStateFolder(home.environment), { api: API, dataFolder }, silentLog);
  return { dataFolder, entry: join(runs, `${process.pid}.json`) };
}

function change(file: string, changes: object): void {
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, "utf8")), ...changes }));
}

afterEach(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});

describe("a run in another folder", () => {
  it("serves reads and pays, with its own journal", async () => {
    const home = await createHome();
    const dataFolder = await addRun(home, "one");
    expect(findRunFolder(home.environment, "/nowhere")).toBe(dataFolder);
    expect(openReader(home.environment)).toBeDefined();
    const client = openClient(home.environment, { needs: ["api", "portfolio", "payer"] });
    await client.close();
    expect(client).toMatchObject({ urls: { api: API }, journalFile: join(dataFolder, "payments.jsonl") });
  });

  it("gives way to a service, a folder or a database that is named", async () => {
    const home = await createHome();
    const dataFolder = await addRun(home, "one");
    expect(findRunFolder({ ...home.environment, SEXTANT_DATA: "/else" }, "/else")).toBe("/else");
    const named = { ...home.environment, SEXTANT_API_URL: "https://api.example" };
    expect(() => openClient(named, { needs: ["portfolio"] })).toThrow("There is no local run");
    expect(() => openReader({ ...home.environment, SEXTANT_DATA: "/else" })).toThrow(
      `The run at ${API} has another folder: set SEXTANT_DATA=${dataFolder}`,
    );
    expect(() => chooseOperatorDatabase({ ...home.environment, SEXTANT_DATA: "/else" })).toThrow(
      `set SEXTANT_DATA=${dataFolder} for the run at ${API}`,
    );
  });

  it("is not found once its process has ended", async () => {
    const home = await createHome();
    await addRun(home, "one", NO_PID);
    writeFileSync(join(findStateFolder(home.environment) ?? "", "runs/broken.json"), "{");
    expect(findRunFolder(home.environment, "/nowhere")).toBe("/nowhere");
    expect(() => openReader(home.environment)).toThrow("There is no local run: start one with npm start");
  });

  it.runIf(process.platform === "linux")("is not found if a later process has its id", async () => {
    const home = await createHome();
    const { dataFolder, entry } = await registerOwnRun(home);
    expect(findRunFolder(home.environment, "/nowhere")).toBe(dataFolder);
    change(entry, { processStart: "another boot 1" });
    expect(findRunFolder(home.environment, "/nowhere")).toBe("/nowhere");
  });

  it("is not found if its folder has a run with another API", async () => {
    const home = await createHome();
    const { dataFolder } = await registerOwnRun(home);
    change(join(dataFolder, "local.json"), { api: "http://127.0.0.1:4001" });
    expect(findRunFolder(home.environment, "/nowhere")).toBe("/nowhere");
  });

  it.runIf(process.getuid !== undefined)("is not found if others may write its files", async () => {
    const home = await createHome();
    const { dataFolder, entry } = await registerOwnRun(home);
    for (const file of [entry, join(dataFolder, "local.json")]) {
      for (const mode of [0o620, 0o602]) {
        chmodSync(file, mode);
        expect(findRunFolder(home.environment, "/nowhere")).toBe("/nowhere");
      }
      chmodSync(file, 0o600);
      expect(findRunFolder(home.environment, "/nowhere")).toBe(dataFolder);
    }
  });

  it.runIf(process.getuid !== undefined)("is not found if its files belong to another user", async () => {
    const home = await createHome();
    await registerOwnRun(home);
    vi.spyOn(process as { getuid(): number }, "getuid").mockReturnValue(4_000_000);
    expect(findRunFolder(home.environment, "/nowhere")).toBe("/nowhere");
  });

  it("is found, once, if `serve` and a local run share its folder", async () => {
    const home = await createHome();
    const { dataFolder, entry } = await registerOwnRun(home);
    writeFileSync(join(dataFolder, "serve.json"), readFileSync(join(dataFolder, "local.json")), {
      mode: 0o600,
    });
    // Its parent lives as long as the test.
    change(join(dataFolder, "local.json"), { pid: process.ppid });
    expect(findRunFolder(home.environment, "/nowhere")).toBe(dataFolder);
    writeFileSync(
      join(dirname(entry), "local.json"),
      JSON.stringify({ pid: process.ppid, api: API, dataFolder }),
      { mode: 0o600 },
    );
    expect(listRegisteredRuns(findStateFolder(home.environment))).toHaveLength(2);
    expect(findRunFolder(home.environment, "/nowhere")).toBe(dataFolder);
  });

  it("a command asks which of two runs in other folders it should use", async () => {
    const home = await createHome();
    const folders = [await addRun(home, "one"), await addRun(home, "two")];
    const error = (() => {
      try {
        return findRunFolder(home.environment, "/nowhere");
      } catch (thrown) {
        return (thrown as Error).message;
      }
    })();
    for (const folder of folders) expect(error).toContain(`\n  SEXTANT_DATA=${folder}   ${API}`);
    expect(findRunFolder(home.environment, folders[0] ?? "")).toBe(folders[0]);
  });
});

describe("a new run", () => {
  it("names a run that has its port, with its folder and what to do", async () => {
    const server = await startLoopbackServer((_, response) => response.end());
    onTestFinished(() => server.stop());
    const home = await createHome();
    const dataFolder = await addRun(home, "one", process.pid, server.url);
    const environment = { ...home.environment, API_PORT: new URL(server.url).port, SEXTANT_DATA: home.home };
    const { code, err } = await runSextantInProcess(["local"], environment, home.home);
    expect(code).not.toBe(0);
    expect(err).toContain(`Sextant is running already at ${server.url}, with the folder ${dataFolder}. Use`);
    expect(err).toContain("set API_PORT, PORTFOLIO_PORT and FACILITATOR_PORT to free ports");
  });

  it("ignores the entry of a run whose port is free, and runs on other ports", async () => {
    const server = await startLoopbackServer((_, response) => response.end());
    const home = await createHome();
    await addRun(home, "one", process.pid, server.url);
    const apiPort = Number(new URL(server.url).port);
    const config = { apiPort: apiPort + 1, dataFolder: home.home };
    await expect(assertNoRun(home.environment, config)).resolves.toBeUndefined();
    await server.stop();
    await expect(assertNoRun(home.environment, { ...config, apiPort })).resolves.toBeUndefined();
  });
});

describe("the entry of a run", () => {
  it("names no key, replaces those of ended runs, and goes with its run", async () => {
    const home = await createHome();
    const folder = findStateFolder(home.environment) ?? "";
    await addRun(home, "ended", NO_PID);
    const dataFolder = await addRun(home, "own");
    const unregister = await registerRun(folder, { api: API, dataFolder }, silentLog);
    const file = `${process.pid}.json`;
    expect(readdirSync(join(folder, "runs")).sort()).toEqual([file, "own.json"].sort());
    expect(JSON.parse(readFileSync(join(folder, "runs", file), "utf8"))).toEqual({
      ...{ pid: process.pid, api: API, dataFolder },
      processStart: process.platform === "linux" ? expect.stringMatching(/^[0-9a-f-]{36} \d+$/) : null,
    });
    expect(listRegisteredRuns(folder)).toHaveLength(2);
    await unregister();
    expect(existsSync(join(folder, "runs", file))).toBe(false);
  });

  it("does not end the run if it cannot be written", async () => {
    const { home } = await createHome();
    writeFileSync(join(home, "file"), "");
    const run = { api: API, dataFolder: home };
    await expect(registerRun(join(home, "file"), run, silentLog)).resolves.toBeDefined();
  });
});

describe("a user without a home folder", () => {
  beforeEach(() => {
    vi.spyOn(os, "homedir").mockImplementation(() => {
      throw new Error("ENOENT: uv_os_homedir");
    });
    syncBuiltinESMExports();
  });

  it("has no state folder, and no journal that limits could count", () => {
    expect(findStateFolder({})).toBeNull();
    expect(findStateFolder({ XDG_STATE_HOME: "/state" })).toBe("/state/sextant");
    expect(findRunFolder({}, "/nowhere")).toBe("/nowhere");
    const named = { SEXTANT_API_URL: API, SEXTANT_PAYER_KEY: KEY };
    expect(() => openClient(named, { needs: ["api"] })).toThrow("set SEXTANT_JOURNAL");
  });

  it("has no registered runs, and its runs go on", async () => {
    const unregister = await registerRun(null, { api: API, dataFolder: "/nowhere" }, silentLog);
    await unregister();
    expect(listRegisteredRuns(null)).toEqual([]);
  });
});
