// Read replicas with two deployments: each is served by its own state, whatever the other has reached.
// Main covers one deployment: src/store/replicas/open-replicas.test.ts.
import { afterAll, beforeAll, expect, it } from "vitest";
import { apiCommand } from "../../src/cli/commands/api.ts";
import { Secret } from "../../src/lib/secret.ts";
import { buildChangeNotification } from "../../src/store/postgres/change-notifications.ts";
import { type Database, openDatabase } from "../../src/store/postgres/database.ts";
import { type ReplicatedPostgres, startReplicatedPostgres } from "../support/database/replicated-postgres.ts";
import { DeploymentFiles } from "../support/deployment-files.ts";
import { fillEmptyIndex } from "../support/index/empty-index.ts";
import { MEMORY_DEPLOYMENT } from "../support/index/memory-index.ts";
import { silentLog } from "../support/quiet-log.ts";
import { type RunningService, startService, waitFor } from "./installation-stage.ts";

let files: DeploymentFiles;
let cluster: ReplicatedPostgres;
let api: RunningService;
let one: Database;
let two: Database;

beforeAll(async () => {
  cluster = await startReplicatedPostgres({ replicas: [{}] });
  files = await DeploymentFiles.create();
  const write = (network: string) => files.write({ ...MEMORY_DEPLOYMENT, network });
  const environment = {
    DATABASE_URL: cluster.primary.url,
    DATABASE_READ_URL: cluster.replicas[0]?.url ?? "",
    // A replica that does not replay stays in rotation: it has what the quiet deployment needs.
    DATABASE_READ_LAG_MS_MAX: "600000",
    NETWORK: await write("one"),
    DEPLOYMENTS: await write("two"),
    API_PORT: "0",
    SEXTANT_METRICS_PORT: "shared",
  };
  api = await startService(apiCommand, { environment, options: {} });
  const open = (schema: string) =>
    openDatabase({
      ...{ connection: { url: new Secret(cluster.primary.url) }, schema, poolMax: 2 },
      ...{ log: silentLog, applicationName: "test" },
    });
  [one, two] = [await open("sextant"), await open("sextant_two")];
  for (const database of [one, two]) await fillEmptyIndex(database);
  // The second one has had many more changes, at higher blocks.
  for (let block = 1_000; block < 1_020; block += 1) await moveTo(two, block);
  await cluster.catchUp();
});

afterAll(async () => {
  await api?.stop();
  await one?.close();
  await two?.close();
  await cluster?.stop();
  await files?.remove();
});

async function moveTo(database: Database, block: number): Promise<void> {
  await database.transaction(async (session) => {
    const hash = block.toString(16).padStart(64, "0");
    await session.query(
      `update checkpoint set block_number = ${block}, block_hash = decode('${hash}', 'hex')`,
    );
    await session.query(buildChangeNotification(database.schema));
  });
}

let requests = 0;
/** A response that is in no cache; the block of its state, and whether a replica has served it. */
async function read(name: string, headers: Readonly<Record<string, string>> = {}) {
  const count = async () => {
    const text = await (await fetch(`${api.url}/metrics`)).text();
    const line = (port: number | undefined) =>
      new RegExp(`^sextant_index_reads_total\\{(?=.*deployment="${name}").*:${port}".*\\} (\\d+)$`, "m").exec(
        text,
      );
    return Number(line(cluster.replicas[0]?.port)?.[1] ?? 0);
  };
  const before = await count();
  requests += 1;
  const owner = `0x${requests.toString(16).padStart(40, "0")}`;
  const response = await fetch(`${api.url}/d/${name}/agents?owner=${owner}`, { headers });
  await response.arrayBuffer();
  const block = Number(response.headers.get("x-indexed-block"));
  return { block, fromReplica: (await count()) > before };
}

it("each deployment reads from the replica by its own revision and block", async () => {
  await waitFor(async () => (await read("one")).fromReplica && (await read("two")).fromReplica);
  expect(await read("one")).toEqual({ block: 7, fromReplica: true });
  expect(await read("two")).toEqual({ block: 1_019, fromReplica: true });

  const replica = cluster.replicas[0];
  await replica?.query("select pg_wal_replay_pause()");
  await moveTo(two, 1_020);
  // Reads that the replica cannot serve for one deployment go to the primary; those of the other do not.
  expect(await read("two", { "x-min-block": "1020" })).toEqual({ block: 1_020, fromReplica: false });
  expect(await read("one")).toEqual({ block: 7, fromReplica: true });
  expect(await read("one", { "x-min-block": "7" })).toEqual({ block: 7, fromReplica: true });
  await replica?.query("select pg_wal_replay_resume()");
  await waitFor(async () => (await read("two")).fromReplica);
  expect((await read("two")).block).toBe(1_020);
});
