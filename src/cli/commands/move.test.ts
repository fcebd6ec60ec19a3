// Moving to another database: everything is copied and compared; nothing is overwritten or left half done.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  createTestDatabase,
  formatConnectionUrl,
  type TestDatabase,
} from "../../../tests/support/database/test-database.ts";
import { digestTables } from "../../../tests/support/digest-tables.ts";
import {
  type AuditedIndex,
  databaseUrlOf,
  openAuditedIndex,
} from "../../../tests/support/index/audited-index.ts";
import { readSharedHistory, SHARED_HISTORY_MS_MAX } from "../../../tests/support/index/simulated-history.ts";
import { silentLog } from "../../../tests/support/quiet-log.ts";
import { tables } from "../../protocol/domains.ts";
import { type Database, openDatabase } from "../../store/postgres/database.ts";
import { migrate } from "../../store/postgres/migrate.ts";
import { migrations } from "../../store/postgres/migrations.ts";
import { moveCommand } from "./move.ts";

let index: AuditedIndex;
let target: TestDatabase;

// Written records and payments, which cannot be read from a chain.
const WRITTEN = `
  insert into documents (hash, kind, text, size_bytes) values ('0x01', 'catalog', '{"a": 1}', 8);
  insert into offchain_bids (intent_id, solver, amount_in, amount_out, fee, valid_until, execution_plan)
    values (1, '0x01', 1, 1, 0, 1, '{}');
  insert into payments (network, asset, payer, nonce, pay_to, amount, valid_before, fingerprint, payment_digest,
    payload, terms, state, answer_body) values ('eip155:1', '0x01', '0x02', '0x03', '0x04',
    115792089237316195423570985008687907853269984665640564039457584007913129639935, 1, 'f', 'd', '{}', '{}', 'settled',
    decode('00ff5c0a09', 'hex'))`;

beforeAll(async () => {
  index = await openAuditedIndex(await readSharedHistory());
  target = await createTestDatabase();
  await index.database.query(WRITTEN);
}, SHARED_HISTORY_MS_MAX);

afterAll(async () => {
  await index?.close();
  await target?.drop();
});

async function run(to: string) {
  let out = "";
  const print = (text: string) => {
    out += text;
  };
  const environment = { DATABASE_URL: databaseUrlOf(index.database) };
  const code = await moveCommand({
    environment,
    options: { to },
    log: silentLog,
    print,
    stop: new AbortController().signal,
  });
  return { code, out };
}

const urlOfTarget = () => formatConnectionUrl(target.connection);

function openTarget(): Promise<Database> {
  const settings = { schema: "sextant", poolMax: 2, applicationName: "test" };
  return openDatabase({ connection: target.connection, log: silentLog, ...settings });
}

describe("sextant move", { timeout: 120_000 }, () => {
  it("leaves nothing behind when it fails half way, and can be repeated", async () => {
    // The new database rejects a row, so the move fails in the middle of its tables.
    const rejecting = await openTarget();
    await migrate(rejecting, migrations, silentLog);
    await rejecting.query("alter table payments add constraint reject_all check (amount < 1)");
    await expect(run(urlOfTarget())).rejects.toThrow();
    for (const table of ["documents", "logs", "payments"]) {
      expect((await rejecting.query(`select from ${table}`)).count).toBe(0);
    }
    await rejecting.query("alter table payments drop constraint reject_all");
    await rejecting.close();
  });

  it("copies everything byte for byte and rebuilds the same rows", async () => {
    const { code, out } = await run(urlOfTarget());
    expect(code).toBe(0);
    expect(out).toContain("Moved ");
    const moved = await openTarget();
    try {
      const finalized = index.head;
      expect(await digestTables(moved, tables, finalized)).toEqual(
        await digestTables(index.database, tables, finalized),
      );
      for (const table of [
        "documents",
        "offchain_bids",
        "payments",
        "checkpoint",
        "blocks",
        "attestation_schemas",
      ]) {
        // A rebuild counts as a state of its own.
        const text = `select (to_jsonb(t) - 'revision')::text as row from ${table} t order by 1`;
        expect((await moved.query(text)).rows).toEqual((await index.database.query(text)).rows);
      }
      const next = "select nextval('offchain_bids_bid_id_seq')::text as id";
      expect((await moved.query(next)).rows).toEqual((await index.database.query(next)).rows);
    } finally {
      await moved.close();
    }
  });

  it("rejects a target schema that is not empty", async () => {
    await expect(run(urlOfTarget())).rejects.toMatchObject({ code: "DATABASE_INCOMPATIBLE" });
  });

  it("fails while a service uses the database", async () => {
    const service = await index.database.connect("test");
    await service.query("set application_name to 'sextant portfolio'");
    try {
      await expect(run(urlOfTarget())).rejects.toMatchObject({
        code: "DATABASE_BUSY",
        message: expect.stringContaining("sextant portfolio"),
      });
    } finally {
      await service.end();
    }
  });
});
