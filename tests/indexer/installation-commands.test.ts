// Commands on one of two deployments whose indexes have one event each: every command uses its own index, and no other.
import { EventEmitter } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { CommandContext, RunCommand } from "../../src/cli/command.ts";
import { auditCommand } from "../../src/cli/commands/audit.ts";
import { exportCommand } from "../../src/cli/commands/export.ts";
import { moveCommand } from "../../src/cli/commands/move.ts";
import { rebuildCommand } from "../../src/cli/commands/rebuild.ts";
import { webhooksCommand } from "../../src/cli/commands/webhooks.ts";
import { ProgressLine } from "../../src/cli/display/progress.ts";
import { chooseServedDeployments } from "../../src/cli/installation.ts";
import { createServeStatus, formatServeBanner, readShownDeployments } from "../../src/cli/serve-view.ts";
import { INDEXER_LOCK } from "../../src/indexer/run.ts";
import { createIndexerStatus } from "../../src/indexer/status.ts";
import { systemClock } from "../../src/lib/clock.ts";
import type { Hex } from "../../src/lib/hex.ts";
import type { Deployment } from "../../src/protocol/deployment.ts";
import { rowDeclaration, tables } from "../../src/protocol/domains.ts";
import { createStoredLogsFold } from "../../src/protocol/fold.ts";
import { claimSchema } from "../../src/store/index/prepare.ts";
import { createRowTables, recordRowTables } from "../../src/store/index/row-tables.ts";
import { openIndexStore } from "../../src/store/index/store.ts";
import { prepareSchema } from "../../src/store/open-database.ts";
import { acquireLock } from "../../src/store/postgres/advisory-lock.ts";
import { type Database, openDatabase } from "../../src/store/postgres/database.ts";
import {
  createMigratedDatabase,
  createTestDatabase,
  formatConnectionUrl,
  type TestDatabase,
} from "../support/database/test-database.ts";
import { DeploymentFiles } from "../support/deployment-files.ts";
import {
  encodeProtocolLog,
  MEMORY_DEPLOYMENT,
  MEMORY_ZERO_HASH,
  repeatAddressByte,
  repeatHashByte,
} from "../support/index/memory-index.ts";
import { startSextantInProcess } from "../support/process/run-in-process.ts";
import { silentLog } from "../support/quiet-log.ts";
import { createTestFolder } from "../support/test-folder.ts";
import { Receiver } from "../webhooks/receiver.ts";
import { WEBHOOK_KEY } from "../webhooks/webhook-stage.ts";
import { startService } from "./installation-stage.ts";

const BLOCK = 5;
const OWNER = repeatAddressByte("a1");
const DEPLOYMENTS = { one: 1, "second-one": 2 } as const;
const SCHEMAS = { one: "sextant", "second-one": "sextant_second_one" } as const;
/** The contracts have the same addresses on both chains: only its transaction tells an event from the other's. */
const TRANSACTIONS = { one: repeatHashByte("e1"), "second-one": repeatHashByte("e2") } as const;
type Name = keyof typeof DEPLOYMENTS;
const NAMES = Object.keys(DEPLOYMENTS) as readonly Name[];
const CHOSEN = { deployment: "second-one" };

let place: TestDatabase;
let files: DeploymentFiles;
let environment: Readonly<Record<string, string>>;
let database: Database;

beforeAll(async () => {
  place = await createMigratedDatabase();
  files = await DeploymentFiles.create();
  const paths = new Map<Name, string>();
  for (const name of NAMES) {
    const deployment = { ...MEMORY_DEPLOYMENT, network: name, chainId: DEPLOYMENTS[name] };
    paths.set(name, await files.write(deployment));
    const own = await openSchema(place, SCHEMAS[name]);
    await prepareSchema(own, silentLog);
    await indexOneEvent(own, deployment, TRANSACTIONS[name]);
    await own.close();
  }
  environment = {
    DATABASE_URL: formatConnectionUrl(place.connection),
    NETWORK: paths.get("one") ?? "",
    DEPLOYMENTS: paths.get("second-one") ?? "",
    RPC_URL: "http://127.0.0.1:1",
    WEBHOOKS_PORT: "0",
  };
  database = await openSchema(place, "sextant");
});

afterAll(async () => {
  await database?.close();
  await place?.drop();
  await files?.remove();
});

function openSchema({ connection }: TestDatabase, schema: string): Promise<Database> {
  return openDatabase({ connection, schema, poolMax: 2, log: silentLog, applicationName: "test" });
}

async function indexOneEvent(own: Database, deployment: Deployment, tx: Hex): Promise<void> {
  const lock = await acquireLock(own, INDEXER_LOCK, { waitMs: 0 });
  if (!lock) throw new Error("the lock is taken");
  await claimSchema(own, deployment);
  await own.transaction(async (session) => {
    await createRowTables(session, tables);
    await recordRowTables(session, rowDeclaration);
  });
  const party = { owner: OWNER, payoutAddress: OWNER };
  const args = { merchantId: 1n, ...party, metadataURI: "", metadataHash: MEMORY_ZERO_HASH };
  const log = encodeProtocolLog("CommerceRegistry", "MerchantRegistered", args, { block: BLOCK, tx });
  const tip = { number: BLOCK, hash: log.blockHash, timestamp: log.blockTimestamp };
  const batch = {
    ...{ tip, blocks: [{ ...tip, logCount: 1 }], logs: [{ log, details: null }] },
    ...{ finalized: BLOCK, safe: BLOCK },
  };
  const fold = createStoredLogsFold(deployment);
  const store = openIndexStore(own, lock, tables);
  await (await store.prepare(batch, (rows) => fold(batch.logs, rows), null)).write();
  await lock.release();
}

async function run(command: RunCommand, options: CommandContext["options"], given = environment) {
  let out = "";
  const print = (text: string) => {
    out += text;
  };
  const stop = new AbortController().signal;
  let drawn = "";
  const terminal = { columns: 200, write: (text: string) => (drawn += text) };
  const progress = new ProgressLine(terminal, systemClock);
  const code = await command({ environment: given, options, log: silentLog, print, stop, progress });
  return { code, out, drawn };
}

async function listSchemas({ connection }: TestDatabase): Promise<readonly string[]> {
  const target = await openDatabase({
    ...{ connection, schema: "public", poolMax: 1, log: silentLog, applicationName: "test" },
  });
  const { rows } = await target.query<{ name: string }>(
    "select nspname as name from pg_namespace where nspname like 'sextant%' order by 1",
  );
  await target.close();
  return rows.map(({ name }) => name);
}

describe("webhooks of several deployments", () => {
  async function configure(entries: readonly object[]) {
    const path = join(await createTestFolder(), "webhooks.json");
    const webhooks = entries.map((each) => ({ ...each, allow_private: true, from: "genesis" }));
    await writeFile(path, JSON.stringify({ webhooks }));
    return { ...environment, SEXTANT_WEBHOOK_KEY: WEBHOOK_KEY, SEXTANT_WEBHOOKS_FILE: path };
  }

  it("each webhook gets the events of its own deployment, and is managed there", async () => {
    const receivers = await Promise.all(NAMES.map(() => Receiver.start()));
    for (const receiver of receivers) onTestFinished(() => receiver.stop());
    const [one, second] = receivers.map(({ url }) => url);
    const given = await configure([
      { name: "warehouse", url: one },
      { name: "warehouse", deployment: "second-one", url: second },
      { name: "books", deployment: "second-one", url: second },
    ]);
    const command = await startService(webhooksCommand, { environment: given, options: {} });
    await expect
      .poll(() => receivers.map(({ attempts }) => attempts.length), { timeout: 60_000 })
      .toEqual([1, 2]);
    const received = receivers.map(({ attempts }) => [...new Set(attempts.map(({ data }) => data.tx_hash))]);
    expect(received).toEqual(NAMES.map((name) => [TRANSACTIONS[name]]));
    const metrics = await (await fetch(`${command.url}/metrics`)).text();
    expect(metrics).toMatch(/sextant_webhook\w*\{.*deployment="second-one"/);
    await command.stop();

    const { out } = await run(webhooksCommand, { list: true }, given);
    const listed = out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(listed.map(({ deployment, name }) => `${deployment} ${name}`)).toEqual([
      "one warehouse",
      "second-one books",
      "second-one warehouse",
    ]);
    const ambiguous = run(webhooksCommand, { pause: "warehouse" }, given);
    await expect(ambiguous).rejects.toMatchObject({ code: "USAGE_INVALID", message: /one, second-one/ });
    const paused = await run(webhooksCommand, { deployment: ["second-one"], pause: "warehouse" }, given);
    expect(paused.out).toContain('"status":"paused"');
    const { rows } = await database.query(
      `select status from sextant.webhooks union all
        select status from sextant_second_one.webhooks where name = 'warehouse'`,
    );
    expect(rows).toEqual([{ status: "active" }, { status: "paused" }]);
  });

  it("a webhook that names an unknown deployment is rejected", async () => {
    const given = await configure([{ name: "a", deployment: "elsewhere", url: "http://127.0.0.1:1/" }]);
    await expect(run(webhooksCommand, {}, given)).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: /The deployment of a is not one of one, second-one/,
    });
  });
});

it("the banner of `serve` has the URL and the block of each deployment", async () => {
  const served = await chooseServedDeployments({ environment, options: {} });
  const states = await readShownDeployments(database, served);
  const banner = formatServeBanner({ urls: new Map([["api", "http://api.test"]]), states, dataFolder: null });
  expect(banner).toMatch(/^ {2}one +http:\/\/api\.test\/docs +chain 1, block 5$/m);
  expect(banner).toMatch(/^ {2}second-one +http:\/\/api\.test\/d\/second-one\/docs +chain 2, block 5$/m);
  for (const line of banner.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  expect(createServeStatus()(states)).toMatch(/one waiting for a node · second-one waiting for a node/);
});

describe("a terminal", () => {
  it.each(["serve", "indexer", "api"])("shows readable log lines of `%s`, and no JSON", async (command) => {
    const keyboard = new EventEmitter();
    const ports = {
      API_PORT: "0",
      INDEXER_PORT: "0",
      SEXTANT_LOG_LEVEL: "info",
      RPC_URL_2: "http://127.0.0.1:1",
    };
    const given = { ...environment, ...ports, SEXTANT_DATA: await createTestFolder() };
    const { written, ended } = startSextantInProcess([command], given, undefined, 80, keyboard);
    await expect.poll(() => written.err, { timeout: 20_000 }).toMatch(/ is listening\n/);
    if (command === "indexer")
      await expect.poll(() => written.err, { timeout: 5_000 }).toContain("[2Kone block –");
    keyboard.emit("SIGTERM", "SIGTERM");
    expect(await ended).toMatchObject({ code: 0 });
    expect(written.err).toMatch(/^\[\d\d:\d\d:\d\d\] INFO: cli: (?:Indexer|Indexing API) is listening$/m);
    expect(written.err).not.toContain('{"level"');
  });

  it("shows results of short commands within 80 columns, and their log only with a level", async () => {
    const run = (command: string, given: Readonly<Record<string, string>> = {}) =>
      startSextantInProcess(command.split(" "), { ...environment, TERM: "dumb", ...given }, undefined, 80)
        .ended;
    const folder = join(await createTestFolder(), "exported-files-of-a-long-name");
    const deployments = await run("deployments");
    expect(deployments.out).toMatch(
      /^one\n {2}chain 1, block 5, .* schema sextant\nsecond-one\n {2}chain 2, /,
    );
    for (const { code, out, err } of [deployments, await run(`export --parquet ${folder}`)]) {
      expect([code, err]).toEqual([0, expect.not.stringContaining("INFO")]);
      const words = out.split("\n").map((line) => line.trim());
      for (const line of words) expect(line.includes(" ") ? line.length : 0).toBeLessThanOrEqual(80);
    }
    const logged = await run(`export --parquet ${folder}-2`, { SEXTANT_LOG_LEVEL: "info" });
    expect(logged.err).toContain("INFO");
  });
});

it("`serve` shows how fast a deployment reads its history, and how long that takes", async () => {
  const [installed] = await chooseServedDeployments({ environment, options: {} });
  if (!installed) throw new Error("there is a deployment");
  let now = 0;
  const format = createServeStatus({ nowMs: () => now });
  const at = (number: number) => {
    const indexed = { number, hash: repeatHashByte("e1"), timestamp: 1 };
    const status = createIndexerStatus(silentLog, systemClock);
    status.onBackfillStart({ from: 1_000, to: 10_999 });
    return format([{ installed, block: number, report: { ...status.report(), indexed }, events: "7" }]);
  };
  expect(at(1_999)).toBe("  reading history, 1,000 of 10,000 blocks (10.0 %) · 7 events indexed");
  now = 10_000;
  expect(at(3_999)).toContain("reading history, 3,000 of 10,000 blocks (30.0 %), 200/s, 35 s left");
});

describe("a command with --deployment", () => {
  it("export writes the blocks of the chosen one, and rejects a folder of another", async () => {
    const folder = await createTestFolder();
    const { drawn } = await run(exportCommand, { parquet: folder, ...CHOSEN });
    expect(drawn).toMatch(/\[2KExporting: (\d+) of \1 blocks \(100\.0 %\).*\[2K$/s);
    const manifest = JSON.parse(await readFile(join(folder, "manifest.json"), "utf8"));
    expect(manifest).toMatchObject({ deployment: { chainId: 2 }, to: BLOCK + 1 });
    await expect(run(exportCommand, { parquet: folder, deployment: "one" })).rejects.toThrow(/another/);
    await run(exportCommand, { publication: "of_second", ...CHOSEN });
    const { rows } = await database.query(
      "select distinct schemaname from pg_publication_tables where pubname = 'of_second'",
    );
    expect(rows).toEqual([{ schemaname: "sextant_second_one" }]);
  });

  it("rebuild repairs the rows of the chosen one, and no others", async () => {
    const readOwners = async () =>
      (
        await database.query<{ owner: string }>(
          "select owner::text from sextant.merchants union all select owner::text from sextant_second_one.merchants",
        )
      ).rows.map(({ owner }) => owner);
    const before = await readOwners();
    expect(before).toHaveLength(2);
    for (const schema of Object.values(SCHEMAS))
      await database.query(`update ${schema}.merchants set owner = '\\x00'`);
    const [damaged] = await readOwners();
    const { code, drawn } = await run(rebuildCommand, CHOSEN);
    expect(code).toBe(0);
    expect(drawn).toMatch(/\[2KRebuilding rows: (\d+) of \1 blocks \(100\.0 %\).*\[2K$/s);
    expect(await readOwners()).toEqual([damaged, before[1]]);
  });

  it("audit asks the nodes of the chosen one's chain", async () => {
    await expect(run(auditCommand, CHOSEN)).rejects.toMatchObject({ message: /RPC_URL_2 must name/ });
  });

  it("move copies the schema of the chosen one, and no others", async () => {
    const target = await createTestDatabase();
    onTestFinished(() => target.drop());
    const to = formatConnectionUrl(target.connection);
    const { drawn } = await run(moveCommand, { to, ...CHOSEN });
    expect(drawn).toMatch(
      /\[2KCopying and comparing: (\d+) of \1 rows \(100\.0 %\).*Rebuilding rows: .*\[2K$/s,
    );
    expect(await listSchemas(target)).toEqual(["sextant_second_one"]);
    const again = run(moveCommand, { to, ...CHOSEN });
    await expect(again).rejects.toThrow(/"sextant_second_one" .* is not empty/);
    const copy = await openSchema(target, SCHEMAS["second-one"]);
    onTestFinished(() => copy.close());
    const { rows } = await copy.query<{ hash: string }>("select encode(tx_hash, 'hex') as hash from logs");
    expect(rows.map(({ hash }) => `0x${hash}`)).toEqual([TRANSACTIONS["second-one"]]);
  });
});
