// `sextant doctor` against a local chain, a node that rejects a method at a time, a real database and closed ports.
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { Client } from "pg";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { type LocalChain, startLocalChain } from "../../../packages/local-chain/local-chain.ts";
import { useEmptyWorkingFolder } from "../../../tests/support/empty-working-folder.ts";
import { readBody, startLoopbackServer } from "../../../tests/support/http/loopback-server.ts";
import { runSextantInProcess } from "../../../tests/support/process/run-in-process.ts";
import { createDatabaseEnvironment } from "../../../tests/support/process/sextant-process.ts";
import { createTestFolder } from "../../../tests/support/test-folder.ts";
import type { Finding } from "../doctor/finding.ts";

useEmptyWorkingFolder();

const CHAIN_ID = 8453;
let chain: LocalChain;
let database: Awaited<ReturnType<typeof createDatabaseEnvironment>>;
/** A node that responds as the chain does, except to this method. */
let rejected: string | null = null;
let proxy: Awaited<ReturnType<typeof startLoopbackServer>>;

beforeAll(async () => {
  [chain, database] = await Promise.all([
    startLocalChain({ chainId: CHAIN_ID }),
    createDatabaseEnvironment(),
  ]);
  await chain.mine(3);
  proxy = await startLoopbackServer(async (request, response) => {
    const { method, params } = JSON.parse(String(await readBody(request)));
    const outcome =
      method === rejected
        ? { error: { code: -32601, message: "the method is not available" } }
        : { result: await resultOf(method, params) };
    response.end(JSON.stringify({ jsonrpc: "2.0", id: 1, ...outcome }));
  });
});
afterAll(async () => {
  await proxy?.stop();
  await chain?.stop();
  await database?.drop();
});

/** Adds what the local chain lacks, so that only the rejected method is missing. */
async function resultOf(method: string, params: readonly unknown[]): Promise<unknown> {
  if (method === "eth_getProof" || method === "debug_traceTransaction") return {};
  return chain.request(method, params);
}

const PORTS = {
  API_PORT: "0",
  PORTFOLIO_PORT: "0",
  INDEXER_PORT: "0",
  FACILITATOR_PORT: "0",
  WEBHOOKS_PORT: "0",
};

async function diagnose(environment: Readonly<Record<string, string>>) {
  const settings = { ...(environment.HOME ? {} : { SEXTANT_DATA: "/nowhere" }), ...PORTS, ...environment };
  const { code, out, err } = await runSextantInProcess(["doctor", "--json"], settings);
  expect(err).toBe("");
  const findings = out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Finding);
  const about = (subject: string, state: Finding["state"]) =>
    findings.filter((each) => each.subject.startsWith(subject) && each.state === state);
  return { code, about };
}

it("finds nothing wrong with a node that has everything", async () => {
  rejected = null;
  const { about } = await diagnose({ [`RPC_URL_${CHAIN_ID}`]: proxy.url });
  expect(about("node", "ok").map(({ check }) => check)).toEqual([
    ...["latency", "head", "archive", "overrides", "getLogs", "trace", "getProof"],
  ]);
  expect([about("node", "limited"), about("node", "failed")]).toEqual([[], []]);
});

it.each([
  ["eth_getBalance", "archive", /audits, snapshots and diffs of blocks older/],
  ["eth_call", "overrides", /portfolio service reads balances in more requests/],
  ["eth_getLogs", "getLogs", /lower SEXTANT_LOG_RANGE_MAX/],
  ["debug_traceTransaction", "trace", /NODE_STATE_MISSING/],
  ["eth_getProof", "getProof", /responses to proof=1 say no_proofs/],
])("says what it means that a node rejects %s", async (method, check, meaning) => {
  rejected = method;
  const { about } = await diagnose({ [`RPC_URL_${CHAIN_ID}`]: proxy.url });
  expect(about("node", "limited")).toEqual([
    expect.objectContaining({ check, text: expect.stringMatching(meaning) }),
  ]);
});

it("fails for a node of another chain, a closed port, and a deployment without nodes", async () => {
  rejected = null;
  const { code, about } = await diagnose({
    NETWORK: "base-sepolia",
    RPC_URL_1: proxy.url,
    RPC_URL_10: "http://127.0.0.1:9/secret-key",
  });
  expect(code).toBe(1);
  expect(about("node", "failed").map(({ check, text }) => [check, text])).toEqual([
    ["chain", `serves chain ${CHAIN_ID}, not 1: name a node of that chain`],
    ["connection", expect.stringMatching(/nothing of this chain can be read$/)],
  ]);
  expect(JSON.stringify(about("node", "failed"))).not.toContain("secret-key");
  expect(about("deployment", "failed")).toEqual([expect.objectContaining({ check: "nodes" })]);
});

it("calls it a limit that the default deployment has no node: a local run needs none", async () => {
  const { code, about } = await diagnose({});
  expect(code).toBe(0);
  expect(about("deployment base-sepolia", "limited").map(({ text }) => text)).toEqual([
    "has no http node in RPC_URL or RPC_URL_84532: it cannot be indexed; a local run (npm start) needs none",
  ]);
  expect(about("database", "ok").map(({ check }) => check)).toEqual(["kind", "clock"]);
});

it("checks the services, chains and folder of a run instead of the default ports", async () => {
  rejected = null;
  const ready = await startLoopbackServer((_, response) => void response.end("{}"));
  onTestFinished(() => ready.stop());
  const folder = await createTestFolder();
  const chains = [{ chainId: CHAIN_ID, rpcUrl: proxy.url }];
  const operator = { NETWORK: "base-sepolia", RPC_URL_84532: "http://127.0.0.1:9", SEXTANT_DATA: "/run" };
  const run = { pid: process.pid, api: ready.url, portfolio: "http://127.0.0.1:9", chains, operator };
  writeFileSync(join(folder, "local.json"), JSON.stringify(run));
  const { about } = await diagnose({ SEXTANT_DATA: folder });
  expect(about("services of the run", "ok").map(({ check, text }) => [check, text])).toEqual([
    ["api", `${ready.url} is ready`],
  ]);
  expect(about("services of the run", "failed").map(({ check }) => check)).toEqual(["portfolio"]);
  expect(about(`node ${new URL(proxy.url).host}`, "ok")).toHaveLength(7);
  expect(about("database", "ok")[0]?.text).toContain("embedded, in /run");
  expect(about("ports", "ok")).toEqual([]);
  writeFileSync(join(folder, "local.json"), JSON.stringify({ ...run, hasDatabaseUrl: true }));
  const other = await diagnose({ SEXTANT_DATA: folder });
  expect(other.about("database", "limited")[0]?.text).toContain("set DATABASE_URL to the same one");
});

/** A home with the entries of runs in other folders. */
async function createHome(names: readonly string[]): Promise<string> {
  const home = await createTestFolder();
  mkdirSync(join(home, ".local/state/sextant/runs"), { recursive: true });
  for (const name of names) {
    const run = { pid: process.pid, api: "http://127.0.0.1:9", operator: { NETWORK: "base-sepolia" } };
    const dataFolder = join(home, name);
    mkdirSync(dataFolder);
    writeFileSync(join(dataFolder, "local.json"), JSON.stringify(run), { mode: 0o600 });
    const entry = JSON.stringify({ ...run, dataFolder });
    writeFileSync(join(home, `.local/state/sextant/runs/${name}.json`), entry, { mode: 0o600 });
  }
  return home;
}

it.each([
  ["a deployment", { NETWORK: "base-sepolia" }],
  ["further deployments", { DEPLOYMENTS: "base-sepolia" }],
  ["a database", { DATABASE_URL: "postgres://me@127.0.0.1:1/db" }],
  ["a node", { RPC_URL: "http://127.0.0.1:9" }],
  ["the node of a chain", { RPC_URL_8453: "http://127.0.0.1:9" }],
])("checks no run in another folder if the operator names %s", async (_, named) => {
  const HOME = await createHome(["one"]);
  expect((await diagnose({ HOME })).about("services of the run", "failed")).toHaveLength(1);
  const { about } = await diagnose({ HOME, ...named });
  expect(about("services of the run", "failed")).toEqual([]);
  expect(about("ports", "ok")).toHaveLength(5);
});

it("checks the settings if several runs are in other folders, and names those", async () => {
  const HOME = await createHome(["one", "two"]);
  const { code, about } = await diagnose({ HOME });
  expect(code).toBe(0);
  expect(about("runs", "limited").map(({ text }) => text)).toEqual([
    expect.stringMatching(/^Several runs are there\. Set one: SEXTANT_DATA=\S+one \S+ SEXTANT_DATA=\S+two/),
  ]);
  expect(about("ports", "ok")).toHaveLength(5);
});

it("checks the folder that is set if its run names no other one", async () => {
  const folder = join(await createHome(["one"]), "one");
  const { about } = await diagnose({ SEXTANT_DATA: folder });
  expect(about("database", "ok")[0]?.text).toContain(`embedded, in ${folder}:`);
});

it.each([
  ["a deployment", { NETWORK: "base-sepolia" }],
  ["a database that it does not use", { DATABASE_URL: "postgres://me@127.0.0.1:1/db" }],
])("checks no run of this folder if the operator names %s", async (_, named) => {
  const folder = join(await createHome(["one"]), "one");
  const { about } = await diagnose({ SEXTANT_DATA: folder, ...named });
  expect(about("services of the run", "failed")).toEqual([]);
});

it("checks a database, and says which one cannot be reached without its password", async () => {
  const { about } = await diagnose(database.environment);
  const checks = ["ok", "limited"] as const;
  expect(checks.flatMap((state) => about("database", state).map(({ check }) => check)).sort()).toEqual([
    ...["clock", "connections", "distance", "durability", "encoding", "replication", "version"],
  ]);
  expect(about("database", "ok").find(({ check }) => check === "version")?.text).toMatch(/^PostgreSQL \d+$/);
  const gone = await diagnose({ DATABASE_URL: "postgres://me:hunter2@127.0.0.1:1/db" });
  expect(gone.about("database db at 127.0.0.1:1", "failed")).toHaveLength(1);
  expect(JSON.stringify(gone.about("", "failed"))).not.toContain("hunter2");
});

it("names the variable of a port that is in use, in lines that fit the terminal", async () => {
  const holder = createServer().listen(0, "127.0.0.1");
  await new Promise((done) => holder.once("listening", done));
  onTestFinished(() => void holder.close());
  const { port } = holder.address() as { port: number };
  const environment = { SEXTANT_DATA: "/nowhere", ...PORTS, API_PORT: String(port), NO_COLOR: "1" };
  const { out } = await runSextantInProcess(["doctor"], environment, process.cwd(), 80);
  expect(out.replace(/\s+/g, " ")).toContain(`limited API_PORT ${port} on 127.0.0.1: listen EADDRINUSE`);
  expect(out.replace(/\s+/g, " ")).toContain("set API_PORT to a free port");
  expect(out).toMatch(/^ {2}ok {7}INDEXER_PORT {6}\d/m);
  expect(out).toMatch(/^ {2}ok {7}FACILITATOR_PORT {2}\d/m);
  expect(out).toMatch(/\n\n\d+ ok, \d+ limited, \d+ failed\.\n$/);
  for (const line of out.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
});

it("says whether payments by channel are on, what is missing, and what the payment chain lacks", async () => {
  rejected = null;
  const PAY_TO = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
  const off = await diagnose({ PAY_TO });
  expect(off.about("payment channels", "ok")).toEqual([
    expect.objectContaining({ text: expect.stringMatching(/^off: every purchase is a transfer/) }),
  ]);
  const keyless = await diagnose({ PAY_TO, PAYMENT_CHANNELS: "true" });
  expect(keyless.about("payment channels", "failed")).toEqual([
    expect.objectContaining({ check: "setting", text: expect.stringContaining("PAYMENT_CHANNEL_KEY") }),
  ]);
  const example = await diagnose({
    ...{ PAY_TO, PAYMENT_CHANNELS: "true", PAYMENT_CHANNEL_KEY: `0x${"5e".repeat(32)}` },
  });
  expect(example.about("payment channels", "failed")).toEqual([
    expect.objectContaining({ text: expect.stringContaining("it is the example of .env.example") }),
  ]);
  const key = `0x${"5d".repeat(32)}`;
  const on = await diagnose({
    PAY_TO,
    PAYMENT_CHANNELS: "true",
    PAYMENT_CHANNEL_KEY: key,
    PAYMENT_RPC_URL: proxy.url,
  });
  expect(on.about("payment channels", "ok")).toHaveLength(1);
  expect(on.about("payment channels", "failed")).toEqual([
    expect.objectContaining({ check: "node", text: expect.stringContaining("has no contract") }),
  ]);
  expect(JSON.stringify(on.about("payment channels", "ok"))).not.toContain("5d5d");
});

it("says what channels owe under a key that is missing", async () => {
  const client = new Client({ connectionString: String(database.environment.DATABASE_URL) });
  await client.connect();
  onTestFinished(() => client.end());
  const signer = privateKeyToAccount(`0x${"5d".repeat(32)}`).address.toLowerCase();
  await client.query("CREATE SCHEMA owing");
  await client.query(
    "CREATE TABLE owing.payment_channels AS SELECT $1::text AS receiver_authorizer, 30::numeric AS charged, 10::numeric AS total_claimed",
    [signer],
  );
  const settings = { ...database.environment, DATABASE_SCHEMA: "owing" };
  const off = await diagnose(settings);
  expect(off.about("payment channels", "failed").map(({ text }) => text)).toEqual([
    expect.stringMatching(`^1 channels owe 20 units, and no process .* the key of ${signer} in`),
  ]);
  const on = { ...settings, PAYMENT_CHANNELS: "true", PAYMENT_CHANNEL_KEY: `0x${"5d".repeat(32)}` };
  expect((await diagnose(on)).about("payment channels", "failed").map(({ check }) => check)).not.toContain(
    "debts",
  );
});

it("names what a price of reads needs, and checks its ledger, its token and its facilitator", async () => {
  rejected = null;
  const key = `0x${"5d".repeat(32)}`;
  const needs: Readonly<Record<string, string>> = {
    PAY_TO: `0x${"12".repeat(20)}`,
    PAYMENT_CHANNELS: "true",
    PAYMENT_CHANNEL_KEY: key,
    PAYMENT_RPC_URL: chain.rpcUrl,
    FACILITATOR_URL: "http://buyer:secret@127.0.0.1:9",
  };
  const price = { API_PRICE_USD: "0.001", PAYMENT_NETWORK: `eip155:${CHAIN_ID}` };
  expect((await diagnose(needs)).about("sold reads", "ok")).toEqual([]);
  const failures: string[] = [];
  for (const missing of Object.keys(needs)) {
    const { [missing]: _, ...others } = needs;
    const { code, about } = await diagnose({ ...others, ...price });
    expect(code).toBe(1);
    failures.push(...about("sold reads", "failed").map(({ text }) => text));
  }
  expect(failures).toEqual([
    expect.stringContaining("PAY_TO must be the address"),
    expect.stringContaining("API_PRICE_USD needs PAYMENT_CHANNELS=true"),
    expect.stringContaining("needs PAYMENT_CHANNEL_KEY"),
    expect.stringContaining("API_PRICE_USD needs PAYMENT_RPC_URL"),
    expect.stringContaining("API_PRICE_USD needs FACILITATOR_URL"),
  ]);
  const { about } = await diagnose({ ...needs, ...price });
  expect(about("sold reads", "ok").map(({ text }) => text)).toEqual([
    "$0.001 a read and a minute of a stream, by payment channel",
  ]);
  // The chain has no token at the address of USDC, and nothing listens there.
  expect(about("sold reads", "failed").map(({ check, text }) => [check, text])).toEqual([
    ["database", "API_PRICE_USD needs DATABASE_URL, its ledger"],
    ["token", expect.stringContaining("does not report its decimals()")],
    ["facilitator", "it does not respond (TypeError)"],
  ]);
  expect(JSON.stringify(about("sold reads", "failed"))).not.toContain("secret");
});
