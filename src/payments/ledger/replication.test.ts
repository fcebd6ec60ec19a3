// A ledger is opened only where a planned fail-over keeps every payment, or where an operator accepted the loss.
// The rows about standbys are given here; replication.integration.test.ts has a real standby.
import { expect, it, onTestFinished } from "vitest";
import { createTestDatabase } from "../../../tests/support/database/test-database.ts";
import { silentLog } from "../../../tests/support/quiet-log.ts";
import type { Log } from "../../lib/log.ts";
import { type Database, openDatabase } from "../../store/postgres/database.ts";
import { type Replication, readReplication } from "../../store/postgres/replication.ts";
import { checkLedgerReplication } from "./replication.ts";

const NO_STANDBY: Replication = {
  ...{ waitsForStandby: false, synchronous: 0, asynchronous: 0, hidden: 0 },
  waitingCommits: 0,
};
const ATTACHED = { ...NO_STANDBY, asynchronous: 1 };
const SYNCHRONOUS = { ...NO_STANDBY, waitsForStandby: true, synchronous: 1 };
/** Commits wait for a standby that is not attached. */
const MISSING = { ...NO_STANDBY, waitsForStandby: true, asynchronous: 1 };
const HIDDEN = { ...NO_STANDBY, waitsForStandby: true, hidden: 1 };

/** Checks a ledger whose server says this; `says` changes it while the ledger is open. */
async function check(first: Replication, { hasFailOver = true, allowAsyncLedger = false } = {}) {
  let current = first;
  const database = { hasFailOver, target: { user: "limited" }, query: async () => ({ rows: [current] }) };
  const events: string[] = [];
  const log = { ...silentLog, warn: ({ event }: { event: string }) => void events.push(event) };
  const settings = { allowAsyncLedger };
  const findRisk = await checkLedgerReplication(database as unknown as Database, settings, log as Log);
  return { events, findRisk, says: (next: Replication) => (current = next) };
}

async function openOwnDatabase() {
  const own = await createTestDatabase();
  onTestFinished(() => own.drop());
  return async () => {
    const database = await openDatabase({
      ...{ connection: own.connection, schema: "public", poolMax: 1, log: silentLog },
      applicationName: "test",
    });
    onTestFinished(() => database.close());
    return { database, name: own.name };
  };
}

it.each([NO_STANDBY, ATTACHED])(
  "rejects a list of servers without a standby that confirms commits, unless that is accepted: %j",
  async (replication) => {
    await expect(check(replication)).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringMatching(/synchronous_standby_names.*SEXTANT_ALLOW_ASYNC_LEDGER=true/),
    });
    const accepted = await check(replication, { allowAsyncLedger: true });
    expect(accepted.events).toEqual(["ledger_asynchronous"]);
    expect(await accepted.findRisk()).toBeNull();
  },
);

it("warns about one server with a replica, which may be for reading only, and not about one without", async () => {
  const single = await check(ATTACHED, { hasFailOver: false });
  expect(single.events).toEqual(["ledger_asynchronous"]);
  expect(await single.findRisk()).toBeNull();
  expect((await check(NO_STANDBY, { hasFailOver: false })).events).toEqual([]);
});

it("accepts a synchronous standby, and notices when the server no longer waits for it", async () => {
  const { events, findRisk, says } = await check(SYNCHRONOUS);
  expect(events).toEqual([]);
  expect(await findRisk()).toBeNull();
  says(ATTACHED);
  expect(await findRisk()).toContain("A fail-over would lose payments");
});

it("reports a standby that is missing instead of waiting for it in every commit", async () => {
  await expect(check(MISSING)).rejects.toMatchObject({ code: "DATABASE_UNREACHABLE", retry: true });
});

it("warns a user who may not see the standbys, and shows commits that none of them confirms", async () => {
  const { events, findRisk, says } = await check(HIDDEN);
  expect(events).toEqual(["ledger_standby_unknown"]);
  expect(await findRisk()).toBeNull();
  const single = await check(HIDDEN, { hasFailOver: false });
  for (const each of [{ findRisk, says }, single]) {
    each.says({ ...HIDDEN, waitingCommits: 1 });
    expect(await each.findRisk()).toContain("Commits wait for a synchronous standby");
    each.says(HIDDEN);
    expect(await each.findRisk()).toBeNull();
  }
});

it("reads from a server without standbys that no commit waits for one", async () => {
  const { database } = await (await openOwnDatabase())();
  expect(await readReplication(database)).toMatchObject({ synchronous: 0, hidden: 0, waitingCommits: 0 });
});

it("commits on the standby although the server's default does not, but keeps stronger settings", async () => {
  const open = await openOwnDatabase();
  const { database: administering, name } = await open();
  for (const [setting, used] of [
    ["off", "on"],
    ["local", "on"],
    ["remote_write", "remote_write"],
    ["remote_apply", "remote_apply"],
  ]) {
    await administering.query(`ALTER DATABASE "${name}" SET synchronous_commit TO ${setting}`);
    const { database } = await open();
    expect((await database.query("SHOW synchronous_commit")).rows).toEqual([{ synchronous_commit: used }]);
    const writer = await database.connect("lock", { bulkWrites: true });
    expect((await writer.query("SHOW synchronous_commit")).rows).toEqual([{ synchronous_commit: setting }]);
    await writer.end();
  }
});
