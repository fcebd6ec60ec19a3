// Records that clients write: atomic, announced after commit, with a clear error before the index exists.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openTestDatabase } from "../../../tests/support/index/test-index.ts";
import { createLog } from "../../lib/log.ts";
import type { WriteScope } from "../../schema/record-store.ts";
import { sql } from "../../schema/sql.ts";
import { assertSameDeployment, claimSchema } from "../index/prepare.ts";
import { watchChanges } from "./change-notifications.ts";
import type { Database } from "./database.ts";
import { openRecordStore } from "./record-store.ts";

let database: Database;
let drop: () => Promise<void>;
const log = createLog({ level: "silent", terminal: false, name: "test" });

beforeAll(async () => {
  const opened = await openTestDatabase();
  database = opened.database;
  drop = opened.drop;
});
afterAll(() => drop());

const version = (resource: string) =>
  sql`insert into write_versions (resource, signer, version) values (${resource}, '0x', 1)`;

const SCOPE: WriteScope = { client: "192.0.2.1", tables: ["intent_metadata"] };

describe("openRecordStore", () => {
  it("notifies its own process and all listeners after commit", async () => {
    const stop = new AbortController();
    let notifications = 0;
    const notified: unknown[] = [];
    const watching = watchChanges(database, {
      onChange: (tables) => {
        notifications += 1;
        notified.push(tables);
      },
      onDisconnect: () => undefined,
      log,
      signal: stop.signal,
    });
    await expect.poll(() => notifications).toBe(1);
    let changed: unknown[] = [];
    const store = openRecordStore(database, {
      onChange: (tables) => {
        changed = [...changed, ...tables];
      },
    });
    await store.write(SCOPE, (rows) => rows.run(version("a")));
    expect(changed).toEqual(["intent_metadata"]);
    await expect.poll(() => notifications).toBe(2);
    expect(notified).toEqual([null, ["intent_metadata"]]);
    const failing = store.write(SCOPE, async (rows) => {
      await rows.run(version("b"));
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");
    expect(changed).toEqual(["intent_metadata"]);
    await store.write({ ...SCOPE, tables: [] }, (rows) => rows.charge(1));
    expect(changed).toEqual(["intent_metadata"]);
    expect(await store.run(sql`select resource from write_versions`)).toEqual([{ resource: "a" }]);
    stop.abort();
    await watching;
    expect(notifications).toBe(2);
  });

  it("reports that nothing is indexed yet", async () => {
    const store = openRecordStore(database);
    await expect(store.run(sql`select 1 from intents`)).rejects.toMatchObject({ code: "INDEX_EMPTY" });
  });
});

describe("watchChanges", () => {
  it("ends when aborted before it connects", async () => {
    const stop = new AbortController();
    const options = { onChange: () => undefined, onDisconnect: () => undefined, log, signal: stop.signal };
    const watching = watchChanges(database, options);
    stop.abort();
    await watching;
  });
});

describe("assertSameDeployment", () => {
  const contracts = { B: `0x${"02".repeat(20)}`, A: `0x${"01".repeat(20)}` };

  it("rejects another deployment once the schema is claimed", async () => {
    const ours = { chainId: 31_337, startBlock: 1, contracts };
    await assertSameDeployment(database, { ...ours, chainId: 1 });
    await claimSchema(database, ours);
    await assertSameDeployment(database, ours);
    const others = [
      { ...ours, chainId: 84_532 },
      { ...ours, contracts: { ...contracts, A: contracts.B } },
    ];
    for (const other of others) {
      await expect(assertSameDeployment(database, other)).rejects.toMatchObject({
        code: "DEPLOYMENT_MISMATCH",
      });
    }
  });
});
