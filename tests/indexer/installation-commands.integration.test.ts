// Commands on one of several deployments, each with a chain of its own: each uses its own index, and no other.
// Main covers a part: installation-commands.test.ts, on two indexes without a chain.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { auditCommand } from "../../src/cli/commands/audit.ts";
import { exportCommand } from "../../src/cli/commands/export.ts";
import { moveCommand } from "../../src/cli/commands/move.ts";
import { rebuildCommand } from "../../src/cli/commands/rebuild.ts";
import { webhooksCommand } from "../../src/cli/commands/webhooks.ts";
import { chooseServedDeployments } from "../../src/cli/installation.ts";
import { createServeStatus, formatServeBanner, readShownDeployments } from "../../src/cli/serve-view.ts";
import { assertDefined } from "../../src/lib/assert-defined.ts";
import { Secret } from "../../src/lib/secret.ts";
import { openDatabase } from "../../src/store/postgres/database.ts";
import {
  createTestDatabase,
  formatConnectionUrl,
  type TestDatabase,
} from "../support/database/test-database.ts";
import { silentLog } from "../support/quiet-log.ts";
import { createTestFolder } from "../support/test-folder.ts";
import { Receiver } from "../webhooks/receiver.ts";
import { WEBHOOK_KEY } from "../webhooks/webhook-stage.ts";
import {
  digestSchema,
  INSTALLATION_MS_MAX,
  type InstallationStage,
  openInstallationStage,
  type RunningService,
  waitFor,
} from "./installation-stage.ts";

const SCHEMAS = { local: "sextant", second: "sextant_second", "third-one": "sextant_third_one" } as const;
const NAMES = Object.keys(SCHEMAS) as readonly (keyof typeof SCHEMAS)[];

let stage: InstallationStage;
let indexer: RunningService;

beforeAll(async () => {
  stage = await openInstallationStage();
  indexer = await stage.start("indexer");
  for (const name of NAMES) {
    await waitFor(async () => (await fetch(`${indexer.url}/d/${name}/ready`)).status === 200);
  }
}, INSTALLATION_MS_MAX);

afterAll(() => stage?.close());

const digestAll = () => Promise.all(Object.values(SCHEMAS).map((schema) => stage.digest(schema)));

async function digestOf({ connection }: TestDatabase, schema: string) {
  const settings = { schema: "public", poolMax: 1, applicationName: "test" };
  const database = await openDatabase({ connection, log: silentLog, ...settings });
  try {
    return await digestSchema(database, schema);
  } finally {
    await database.close();
  }
}

describe("webhooks of several deployments", () => {
  type Entry = { readonly name: string; readonly deployment?: string; readonly url: string };

  async function configure(entries: readonly Entry[]) {
    const path = join(await createTestFolder(), "webhooks.json");
    const webhooks = entries.map((each) => ({ ...each, allow_private: true, from: "genesis" }));
    await writeFile(path, JSON.stringify({ webhooks }));
    return { ...stage.environment, SEXTANT_WEBHOOK_KEY: WEBHOOK_KEY, SEXTANT_WEBHOOKS_FILE: path };
  }

  async function startReceiver(): Promise<Receiver> {
    const receiver = await Receiver.start();
    onTestFinished(() => receiver.stop());
    return receiver;
  }

  /** The contracts of the chains have the same addresses: only hashes tell the events apart. */
  const hashesOf = async (schema: string) =>
    (
      await stage.query(
        `select encode(tx_hash, 'hex') as hash from ${schema}.logs order by block_number, log_index`,
      )
    ).map(({ hash }) => `0x${hash}`);
  const receivedBy = (receiver: Receiver) => receiver.attempts.map(({ data }) => String(data.tx_hash));

  it("each webhook gets the events of its own chain, from the command and from the API", async () => {
    const receivers = new Map<string, Receiver>();
    for (const name of NAMES) receivers.set(name, await startReceiver());
    const urlOf = (name: string) => receivers.get(name)?.url ?? "";
    const environment = await configure([
      { name: "warehouse", url: urlOf("local") },
      { name: "warehouse", deployment: "second", url: urlOf("second") },
      { name: "books", deployment: "third-one", url: urlOf("third-one") },
    ]);
    const expectAll = async () => {
      for (const [name, receiver] of receivers) {
        const expected = await hashesOf(SCHEMAS[name as keyof typeof SCHEMAS]);
        await expect.poll(() => receivedBy(receiver).length, { timeout: 60_000 }).toBe(expected.length);
        expect(receivedBy(receiver)).toEqual(expected);
      }
    };
    const command = await stage.start("webhooks", {}, environment);
    await expectAll();
    const { text } = await fetch(`${command.url}/metrics`).then(async (each) => ({
      text: await each.text(),
    }));
    expect(text).toMatch(/sextant_webhook\w*\{.*deployment="third-one"/);
    await command.stop();

    const list = await stage.run(webhooksCommand, { list: true }, environment);
    const listed = list.out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(listed.map(({ deployment, name }) => `${deployment} ${name}`)).toEqual([
      "local warehouse",
      "second warehouse",
      "third-one books",
    ]);
    const paused = stage.run(webhooksCommand, { pause: "warehouse" }, environment);
    await expect(paused).rejects.toMatchObject({ code: "USAGE_INVALID", message: /local, second/ });
    const one = { deployment: ["second"], pause: "warehouse" };
    expect((await stage.run(webhooksCommand, one, environment)).out).toContain('"status":"paused"');
    expect((await stage.run(webhooksCommand, { resume: "books" }, environment)).code).toBe(0);
    await stage.run(webhooksCommand, { ...one, pause: undefined, resume: "warehouse" }, environment);

    const api = await stage.start("api", {}, environment);
    for (const each of stage.stages.values()) await each.runSteps(1);
    for (const name of NAMES) {
      const { number } = (await stage.stages.get(name)?.head()) ?? { number: 0 };
      await fetch(`${api.url}/d/${name}/head`, { headers: { "x-min-block": String(number) } });
    }
    await expectAll();
    await api.stop();
  });

  it("a webhook that names an unknown deployment is rejected", async () => {
    const environment = await configure([{ name: "a", deployment: "elsewhere", url: "http://127.0.0.1:1/" }]);
    await expect(stage.run(webhooksCommand, {}, environment)).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: /The deployment of a is not one of local, second, third-one, broken/,
    });
  });
});

it("the banner of `serve` has the URL and the block of each deployment", async () => {
  const { environment } = stage;
  const connection = { url: new Secret(environment.DATABASE_URL ?? "") };
  const settings = { schema: "sextant", poolMax: 1, applicationName: "test" };
  const database = await openDatabase({ connection, log: silentLog, ...settings });
  onTestFinished(() => database.close());
  const served = await chooseServedDeployments({ environment, options: {} });
  const states = await readShownDeployments(database, served);
  const urls = new Map([["api", "http://api.test"]]);
  const banner = formatServeBanner({ urls, states, dataFolder: null });
  for (const name of NAMES) {
    const number = (await stage.stages.get(name)?.head())?.number;
    const path = name === "local" ? "" : `/d/${name}`;
    const chainId = stage.stages.get(name)?.deployment.chainId;
    expect(banner).toMatch(
      new RegExp(`^  ${name} +http://api\\.test${path}/docs +chain ${chainId}, block ${number}$`, "m"),
    );
  }
  expect(banner).toMatch(/^ {2}broken +\S+\/d\/broken\/docs +chain 31340, nothing indexed yet$/m);
  expect(createServeStatus()(states)).toMatch(/local block \d+, synced · second block \d+.* · broken /);
  const alone = formatServeBanner({ urls, states: states.slice(0, 1), dataFolder: null });
  expect(alone).toContain("serving local (chain 31337).");
});

describe("a command with --deployment", () => {
  it("export writes the blocks of the chosen one", async () => {
    const folder = await createTestFolder();
    await stage.run(exportCommand, { parquet: folder, deployment: "second" });
    const manifest = JSON.parse(await readFile(join(folder, "manifest.json"), "utf8")) as {
      readonly deployment: { readonly chainId: number };
    };
    expect(manifest.deployment.chainId).toBe(31_338);
    const other = stage.run(exportCommand, { parquet: folder, deployment: "third-one" });
    await expect(other).rejects.toThrow(/another/);
    await stage.run(exportCommand, { publication: "of_second", deployment: "second" });
    const published = await stage.query(
      "select distinct schemaname from pg_publication_tables where pubname = 'of_second'",
    );
    expect(published).toEqual([{ schemaname: "sextant_second" }]);
  });

  it("audit and rebuild find and repair what is wrong in the chosen one", async () => {
    await indexer.stop();
    const before = await digestAll();
    const damaged = await stage.query("update sextant_second.agents set owner = '\\x00' returning agent_id");
    expect(damaged.length).toBeGreaterThan(0);
    const audit = async (name: string) =>
      (
        await stage.run(auditCommand, {
          deployment: name,
          block: String((await stage.stages.get(name)?.head())?.number),
        })
      ).code;
    expect([await audit("local"), await audit("second"), await audit("third-one")]).toEqual([0, 1, 0]);
    const recorded = await stage.query(
      "select differences > 0 as found from sextant_second.audits where source = 'command'",
    );
    expect(recorded).toEqual([{ found: true }]);
    await stage.run(rebuildCommand, { deployment: "second" });
    expect(await digestAll()).toEqual(before);
    expect(await audit("second")).toBe(0);
    const { RPC_URL_31338: _nodes, ...without } = stage.environment;
    await expect(stage.run(auditCommand, { deployment: "second" }, without)).rejects.toMatchObject({
      message: /RPC_URL_31338 must name/,
    });
  });

  it("move copies the chosen one, or all of them", async () => {
    const before = await digestAll();
    const target = await createTestDatabase();
    onTestFinished(() => target.drop());
    const to = formatConnectionUrl(target.connection);
    const { out } = await stage.run(moveCommand, { to });
    expect(out).toMatch(
      /second, schema sextant_second[\s\S]*third-one, schema sextant_third_one[\s\S]*Set DATABASE_URL/,
    );
    expect(await Promise.all(Object.values(SCHEMAS).map((schema) => digestOf(target, schema)))).toEqual(
      before,
    );
    const again = stage.run(moveCommand, { to, deployment: "third-one" });
    await expect(again).rejects.toThrow(/"sextant_third_one" .* is not empty/);
    const other = await createTestDatabase();
    onTestFinished(() => other.drop());
    await stage.run(moveCommand, { to: formatConnectionUrl(other.connection), deployment: "second" });
    expect(await digestOf(other, "sextant_second")).toEqual(before[1]);
    expect(await digestOf(other, "sextant").catch(() => null)).toBeNull();
  });
});

it("an indexer whose schema was dropped by hand ends, and the next one begins from the chain", async () => {
  const third = assertDefined(stage.stages.get("third-one"), "the third");
  const only = { deployment: ["third-one"] };
  const start = async () => {
    const service = await stage.start("indexer", only);
    await waitFor(async () => (await fetch(`${service.url}/ready`)).status === 200);
    return service;
  };
  const service = await start();
  await stage.query("drop schema sextant_third_one cascade");
  await third.runSteps(1);
  await expect(service.ended).rejects.toMatchObject({
    code: "DATABASE_INCOMPATIBLE",
    message: /sextant_third_one no longer has the tables/,
  });
  const next = await start();
  await next.stop();
  const [row] = await stage.query("select block_number from sextant_third_one.checkpoint");
  expect(row?.block_number).toBe(String((await third.head()).number));
});
