// The table of stored snapshots on a real database: what is stored returns, and neither number nor time grows without limit.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../tests/support/database/test-database.ts";
import { silentLog } from "../../../tests/support/quiet-log.ts";
import type { Hex } from "../../lib/hex.ts";
import { type Database, openDatabase } from "./database.ts";
import { migrate } from "./migrate.ts";
import { migrations } from "./migrations.ts";
import { openRecordStore } from "./record-store.ts";
import { openSnapshotTable, type SnapshotTable } from "./stored-snapshots.ts";

const WALLET: Hex = `0x${"ab".repeat(20)}`;
const OTHER: Hex = `0x${"cd".repeat(20)}`;
const idOf = (number: number) => number.toString(16).padStart(64, "0");

let server: TestDatabase;
let database: Database;
let table: SnapshotTable;

beforeAll(async () => {
  server = await createTestDatabase();
  const options = { schema: "snapshots", poolMax: 2, log: silentLog, applicationName: "test" };
  database = await openDatabase({ connection: server.connection, ...options });
  await migrate(database, migrations, silentLog);
  table = openSnapshotTable(openRecordStore(database), { perWalletMax: 100, unsoldPerWalletMax: 10 });
});

afterAll(async () => {
  await database.close();
  await server.drop();
});

async function count(): Promise<number> {
  const { rows } = await database.query<{ count: string }>("select count(*) as count from stored_snapshots");
  return Number(rows[0]?.count);
}

async function sell(wallet: Hex, id: string, bytes: Uint8Array = new Uint8Array(1)): Promise<void> {
  await table.put(wallet, id, bytes);
  await table.markSold(wallet, id);
}

describe("stored snapshots", () => {
  it("returns a snapshot to the wallet that it is of, and to no other", async () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
    await sell(WALLET, idOf(1), bytes);
    await sell(WALLET, idOf(1), bytes);
    expect(await count()).toBe(1);
    expect([...((await table.get(WALLET, idOf(1))) ?? [])]).toEqual([...bytes]);
    expect(await table.get(OTHER, idOf(1))).toBeNull();
    expect(await table.get(WALLET, idOf(2))).toBeNull();
  });

  it("keeps the newest hundred snapshots of a wallet", async () => {
    for (let number = 1; number <= 103; number += 1) await sell(OTHER, idOf(number));
    expect(await count()).toBe(101);
    expect(await table.get(OTHER, idOf(3))).toBeNull();
    expect(await table.get(OTHER, idOf(4))).not.toBeNull();
    expect(await table.get(WALLET, idOf(1))).not.toBeNull();
  });

  it("hides snapshots after 90 days, and deletes them with later writes", async () => {
    await database.query("update stored_snapshots set stored_at = now() - interval '90 days 1 minute'");
    expect(await table.get(WALLET, idOf(1))).toBeNull();
    await sell(WALLET, idOf(9));
    expect(await count()).toBe(2);
    await sell(WALLET, idOf(9));
    expect(await count()).toBe(1);
    expect(await table.get(WALLET, idOf(9))).not.toBeNull();
  });

  it("returns no unpaid snapshot, and keeps paid ones when unpaid ones are dropped", async () => {
    for (let number = 20; number < 32; number += 1) await table.put(WALLET, idOf(number), new Uint8Array(1));
    expect(await table.get(WALLET, idOf(31))).toBeNull();
    // The sold one, and of the others the newest ten.
    expect(await count()).toBe(11);
    await table.markSold(WALLET, idOf(20));
    await table.markSold(WALLET, idOf(31));
    expect(await table.get(WALLET, idOf(20))).toBeNull();
    expect(await table.get(WALLET, idOf(31))).not.toBeNull();
    expect(await table.get(WALLET, idOf(9))).not.toBeNull();
    // Read once more for a request that does not pay.
    await table.put(WALLET, idOf(31), new Uint8Array(1));
    expect(await table.get(WALLET, idOf(31))).not.toBeNull();
  });

  it("deletes snapshots that are not paid for after a day", async () => {
    await database.query("update stored_snapshots set stored_at = now() - interval '25 hours'");
    await table.put(OTHER, idOf(40), new Uint8Array(1));
    expect(await count()).toBe(3);
    expect(await table.get(WALLET, idOf(31))).not.toBeNull();
  });
});
