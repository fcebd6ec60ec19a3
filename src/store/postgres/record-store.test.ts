// Records that people write: whole or not at all, told when they are there, and never mistaken for a defect.
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

const CHANGE: WriteScope = { client: "192.0.2.1", tables: ["intent_metadata"] };

describe("a change", () => {
  it("is told to us and to whoever listens, once it is there", async () => {
    const stop = new AbortController();
    let heard = 0;
    const named: unknown[] = [];
    const watching = watchChanges(database, {
      onChange: (tables) => {
        heard += 1;
        named.push(tables);
      },
      onDisconnect: () => undefined,
      log,
      signal: stop.signal,
    });
    await expect.poll(() => heard).toBe(1);
    let seen: unknown[] = [];
    const store = openRecordStore(database, {
      onChange: (tables) => {
        seen = [...seen, ...tables];
      },
    });
    await store.write(CHANGE, (rows) => rows.run(version("a")));
    expect(seen).toEqual(["intent_metadata"]);
    await expect.poll(() => heard).toBe(2);
    expect(named).toEqual([null, ["intent_metadata"]]);
    const failing = store.write(CHANGE, async (rows) => {
      await rows.run(version("b"));
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");
    expect(seen).toEqual(["intent_metadata"]);
    await store.write({ ...CHANGE, tables: [] }, (rows) => rows.charge(1));
    expect(seen).toEqual(["intent_metadata"]);
    expect(await store.run(sql`select resource from write_versions`)).toEqual([{ resource: "a" }]);
    stop.abort();
    await watching;
    expect(heard).toBe(2);
  });

  it("that needs the index says so while there is none", async () => {
    const store = openRecordStore(database);
    await expect(store.run(sql`select 1 from intents`)).rejects.toMatchObject({ code: "INDEX_EMPTY" });
  });
});

describe("listening for changes", () => {
  it("ends also when it is told to before it has begun", async () => {
    const stop = new AbortController();
    const options = { onChange: () => undefined, onDisconnect: () => undefined, log, signal: stop.signal };
    const watching = watchChanges(database, options);
    stop.abort();
    await watching;
  });
});

describe("a reader of another deployment", () => {
  const contracts = { B: `0x${"02".repeat(20)}`, A: `0x${"01".repeat(20)}` };

  it("is refused as soon as the schema belongs to one", async () => {
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
