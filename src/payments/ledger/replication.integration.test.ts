// A ledger is opened only if a planned fail-over keeps every payment, or if an operator accepted the loss. Runs with a real standby. A fast test of the same rules: replication.test.ts.
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import {
  type ReplicatedPostgres,
  startReplicatedPostgres,
} from "../../../tests/support/database/replicated-postgres.ts";
import type { ReplicatedServer } from "../../../tests/support/database/replicated-server.ts";
import { silentLog } from "../../../tests/support/quiet-log.ts";
import { Secret } from "../../lib/secret.ts";
import { openDatabase } from "../../store/postgres/database.ts";
import { readReplication } from "../../store/postgres/replication.ts";
import { checkLedgerReplication } from "./replication.ts";

const STRICT = { allowAsyncLedger: false };
let cluster: ReplicatedPostgres;
let primary: ReplicatedServer;

beforeAll(async () => {
  cluster = await startReplicatedPostgres({ replicas: [{}] });
  primary = cluster.primary;
});
afterAll(() => cluster.stop());

async function open(url: string) {
  const connection = { url: new Secret(url) };
  const options = { connection, schema: "public", poolMax: 1, log: silentLog, applicationName: "test" };
  const database = await openDatabase(options);
  onTestFinished(() => database.close());
  return database;
}

/** The events that a check logs. */
async function check(url: string, settings = STRICT) {
  const events: string[] = [];
  const log = { ...silentLog, warn: ({ event }: { event: string }) => void events.push(event) };
  const findRisk = await checkLedgerReplication(await open(url), settings, log as typeof silentLog);
  return { events, findRisk };
}

async function setStandbyNames(names: string, waitsForStandby: boolean, synchronous: number) {
  await primary.configure("synchronous_standby_names", names);
  const database = await open(primary.url);
  await expect
    .poll(() => readReplication(database), { timeout: 20_000 })
    .toMatchObject({ waitsForStandby, synchronous });
}

it("rejects a list of servers without a standby that confirms commits, unless that is accepted", async () => {
  await setStandbyNames("", false, 0);
  await expect(check(cluster.url)).rejects.toMatchObject({
    code: "CONFIG_INVALID",
    message: expect.stringMatching(/synchronous_standby_names.*SEXTANT_ALLOW_ASYNC_LEDGER=true/),
  });
  const accepted = await check(cluster.url, { allowAsyncLedger: true });
  expect(accepted.events).toEqual(["ledger_asynchronous"]);
  expect(await accepted.findRisk()).toBeNull();
  // One server: its replica may be for reading only.
  const single = await check(primary.url);
  expect(single.events).toEqual(["ledger_asynchronous"]);
  expect(await single.findRisk()).toBeNull();
});

it("accepts a synchronous standby, and notices when the server no longer waits for it", async () => {
  await setStandbyNames("*", true, 1);
  const { events, findRisk } = await check(cluster.url);
  expect(events).toEqual([]);
  expect(await findRisk()).toBeNull();
  await setStandbyNames("", false, 0);
  expect(await findRisk()).toContain("A fail-over would lose payments");
});

it("reports a standby that is missing instead of waiting for it in every commit", async () => {
  await setStandbyNames("elsewhere", true, 0);
  await expect(check(cluster.url)).rejects.toMatchObject({ code: "DATABASE_UNREACHABLE", retry: true });
  await setStandbyNames("", false, 0);
});

it("warns a user who may not see the standbys, and shows commits that none of them confirms", async () => {
  await primary.query("CREATE ROLE limited LOGIN; GRANT ALL ON SCHEMA public TO limited");
  // A standby is attached, and not the one that commits wait for.
  await setStandbyNames("elsewhere", true, 0);
  const limited = cluster.url.replace("sextant@", "limited@");
  const { events, findRisk } = await check(limited);
  expect(events).toEqual(["ledger_standby_unknown"]);
  expect(await findRisk()).toBeNull();
  const single = await check(primary.url.replace("sextant@", "limited@"));
  const written = (await open(limited)).query("CREATE TABLE waits (id integer)");
  await expect.poll(findRisk, { timeout: 20_000 }).toContain("Commits wait for a synchronous standby");
  expect(await single.findRisk()).toContain("Commits wait for a synchronous standby");
  await setStandbyNames("", false, 0);
  await written;
  expect(await single.findRisk()).toBeNull();
});
