// A ledger is opened only if a planned fail-over keeps every payment, or if an operator accepted the loss. The rules by the state of replication; replication.integration.test.ts has a real standby.
import { expect, it, onTestFinished } from "vitest";
import { createTestDatabase } from "../../../tests/support/database/test-database.ts";
import { silentLog } from "../../../tests/support/quiet-log.ts";
import { openDatabase } from "../../store/postgres/database.ts";
import { type Replication, readReplication } from "../../store/postgres/replication.ts";
import { assessRun, assessStart } from "./replication.ts";

const NO_STANDBY: Replication = {
  ...{ waitsForStandby: false, synchronous: 0, asynchronous: 0, hidden: 0 },
  waitingCommits: 0,
};
const ATTACHED = { ...NO_STANDBY, asynchronous: 1 };
const SYNCHRONOUS = { ...NO_STANDBY, waitsForStandby: true, synchronous: 1 };
/** Commits wait for a standby that is not attached. */
const MISSING = { ...NO_STANDBY, waitsForStandby: true, asynchronous: 1 };
const HIDDEN = { ...NO_STANDBY, waitsForStandby: true, hidden: 1 };

const PLANNED = { hasFailOver: true, allowAsyncLedger: false };
const SINGLE = { hasFailOver: false, allowAsyncLedger: false };
const NOTHING = { fault: null, isStandbyUnknown: false, isAsynchronous: false };

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
  (replication) => {
    expect(assessStart(replication, PLANNED).fault).toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringMatching(/synchronous_standby_names.*SEXTANT_ALLOW_ASYNC_LEDGER=true/),
    });
    const accepted = { ...PLANNED, allowAsyncLedger: true };
    expect(assessStart(replication, accepted)).toEqual({ ...NOTHING, isAsynchronous: true });
    expect(assessRun(replication, accepted)).toBeNull();
  },
);

it("warns about one server with a replica, which may be for reading only, and not about one without", () => {
  expect(assessStart(ATTACHED, SINGLE)).toEqual({ ...NOTHING, isAsynchronous: true });
  expect(assessRun(ATTACHED, SINGLE)).toBeNull();
  expect(assessStart(NO_STANDBY, SINGLE)).toEqual(NOTHING);
});

it("accepts a synchronous standby, and notices when the server no longer waits for it", () => {
  expect(assessStart(SYNCHRONOUS, PLANNED)).toEqual(NOTHING);
  expect(assessRun(SYNCHRONOUS, PLANNED)).toBeNull();
  expect(assessRun(ATTACHED, PLANNED)).toContain("A fail-over would lose payments");
});

it("reports a standby that is missing instead of waiting for it in every commit", () => {
  expect(assessStart(MISSING, PLANNED).fault).toMatchObject({ code: "DATABASE_UNREACHABLE", retry: true });
});

it("warns a user who may not see the standbys, and shows commits that none of them confirms", () => {
  expect(assessStart(HIDDEN, PLANNED)).toEqual({ ...NOTHING, isStandbyUnknown: true });
  for (const servers of [PLANNED, SINGLE]) {
    expect(assessRun(HIDDEN, servers)).toBeNull();
    const waiting = assessRun({ ...HIDDEN, waitingCommits: 1 }, servers);
    expect(waiting).toContain("Commits wait for a synchronous standby");
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
