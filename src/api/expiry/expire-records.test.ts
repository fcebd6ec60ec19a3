// Expiry deletes unreferenced records after their time, keeps referenced ones, and keeps the byte total exact.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  type EmptyIndex,
  openEmptyIndex,
  openTestConnection,
} from "../../../tests/support/index/empty-index.ts";
import { silentLog } from "../../../tests/support/quiet-log.ts";
import { systemClock } from "../../lib/clock.ts";
import { tables } from "../../protocol/domains.ts";
import type { Table } from "../../schema/table.ts";
import { acquireLock } from "../../store/postgres/advisory-lock.ts";
import type { Database } from "../../store/postgres/database.ts";
import { collectHashColumns, expireRecords } from "./expire-records.ts";
import { runExpiryLoop, runExpiryPass } from "./run.ts";

let index: EmptyIndex;

beforeAll(async () => {
  index = await openEmptyIndex();
});
afterAll(() => index?.drop());
beforeEach(async () => {
  const written = ["documents", "intent_metadata", "intent_reservations", "client_writes", "write_versions"];
  for (const table of [...written, ...tables.map(({ name }) => name)]) await run(`delete from ${table}`);
  await run("delete from attestation_schemas where not built_in");
});

const DAYS = 30;
const hashColumns = collectHashColumns(tables);
const signal = new AbortController().signal;

const run = (text: string, values: readonly (string | number)[] = []) =>
  index.database.query<Record<string, string>>({ text, values });
const expire = () => expireRecords(index.database, { hashColumns, unreferencedDays: DAYS, signal });
const hashOf = (n: number) => `0x${n.toString(16).padStart(64, "0")}`;
const OWNER = `0x${"0a".repeat(20)}`;

/** Ages all written records by some days. */
async function ageRecords(days: number): Promise<void> {
  for (const table of ["documents", "attestation_schemas", "intent_metadata", "intent_reservations"]) {
    await run(
      `update ${table} set referred_at = referred_at - make_interval(days => $1), checked_at = checked_at - make_interval(days => $1)`,
      [days],
    );
  }
  await run("update write_versions set used_at = used_at - make_interval(days => $1)", [days]);
}

const publish = (n: number, kind = "catalog", requestHash: string | null = null) =>
  index.database.query({
    text: "insert into documents (kind, hash, text, size_bytes, stored_bytes, request_hash) values ($1, $2, 'x', 1, 1025, $3)",
    values: [kind, hashOf(n), requestHash],
  });

async function documents(): Promise<string[]> {
  const { rows } = await run("select hash from documents order by hash");
  return rows.map(({ hash }) => String(hash));
}

/** Inserts a row with this hash in one column and placeholders in the others. */
async function insertReference(
  { name, columns, key }: Table,
  column: string,
  hash: string,
  validTo: number | null = null,
): Promise<void> {
  const names = Object.keys(columns);
  const values = names.map((each) => {
    if (each === column) return `'\\x${hash.slice(2)}'`;
    const { sql } = columns[each] ?? { sql: "text" };
    if (sql === "boolean") return "true";
    // Distinct keys, so that a table can hold several rows.
    if (sql === "bytea") return key.includes(each) ? `convert_to('${column}', 'UTF8')` : "'\\x00'";
    return sql.startsWith("text") ? `'${key.includes(each) ? column : "0x00"}'` : "1";
  });
  await run(
    `insert into ${name} (${names.join(", ")}, valid_from, valid_to) values (${values.join(", ")}, 1, ${validTo})`,
  );
}

const table = (name: string): Table => {
  const found = tables.find((each) => each.name === name);
  if (!found) throw new Error(`no table ${name}`);
  return found;
};

async function expectExactTotal(): Promise<void> {
  const { rows } = await run(
    `select t.bytes - (select coalesce(sum(s.stored_bytes), 0) from (
       select stored_bytes from documents union all select stored_bytes from attestation_schemas
       union all select stored_bytes from intent_metadata union all select stored_bytes from intent_reservations
       union all select stored_bytes from offchain_bids) s) as difference from stored_total t`,
  );
  expect(Number(rows[0]?.difference)).toBe(0);
}

describe("a document", () => {
  it("expires after its time without a reference", async () => {
    await publish(1);
    await ageRecords(DAYS - 1);
    expect(await expire()).toBe(0);
    await ageRecords(2);
    await publish(2);
    expect(await expire()).toBe(1);
    expect(await documents()).toEqual([hashOf(2)]);
    await expectExactTotal();
  });

  it.each(
    hashColumns.flatMap(({ table: name, columns }) => columns.map((column) => [name, column] as const)),
  )("stays while %s.%s references it", async (name, column) => {
    await publish(7);
    await publish(8);
    await insertReference(table(name), column, hashOf(7));
    await ageRecords(DAYS * 3);
    expect(await expire()).toBe(1);
    expect(await documents()).toEqual([hashOf(7)]);
  });

  it("counts every hash column except provenance as a reference to a document", () => {
    const columnNames = hashColumns.flatMap(({ table: name, columns }) =>
      columns.map((column) => `${name}.${column}`),
    );
    expect(columnNames).toEqual(
      expect.arrayContaining([
        ...["merchants.metadata_hash", "services.metadata_hash", "services.capability_hash"],
        ...["facilitators.metadata_hash", "agents.capabilities_hash", "solvers.capabilities_hash"],
        ...["quotes.quote_hash", "quotes.resource_hash", "quotes.terms_hash", "quotes.x402_payload_hash"],
        ...["receipts.result_hash", "receipts.resource_hash", "receipts.fulfillment_hash"],
        ...["disputes.reason_hash", "disputes.resolution_hash", "trust_signals.signal_hash"],
        ...["intents.data_hash", "intents.metadata_uri_hash", "attestations.schema_hash"],
      ]),
    );
    expect(columnNames.filter((each) => each.endsWith(".tx_hash"))).toEqual([]);
  });

  it("stays while a past row version references it", async () => {
    await publish(1);
    await insertReference(table("merchants"), "metadata_hash", hashOf(1), 2);
    await ageRecords(DAYS * 3);
    expect(await expire()).toBe(0);
  });

  it("gets its full time again after its last reference is rolled back", async () => {
    await publish(1);
    await insertReference(table("merchants"), "metadata_hash", hashOf(1));
    await ageRecords(DAYS * 3);
    expect(await expire()).toBe(0);
    await run("delete from merchants");
    await ageRecords(DAYS - 1);
    expect(await expire()).toBe(0);
    await ageRecords(2);
    expect(await expire()).toBe(1);
  });

  it("stays as long as a response to it, if it is a quote request", async () => {
    await publish(1, "quote_request");
    await publish(2, "quote_response", hashOf(1));
    await insertReference(table("quotes"), "terms_hash", hashOf(2));
    await ageRecords(DAYS * 3);
    expect(await expire()).toBe(0);
    await run("delete from quotes");
    await ageRecords(DAYS + 1);
    await expire();
    await ageRecords(DAYS + 1);
    await expire();
    expect(await documents()).toEqual([]);
  });

  it("stays when a reference is indexed between the scan and the deletion", async () => {
    await publish(1);
    await publish(2);
    await ageRecords(DAYS + 1);
    // The scan is the only read-only transaction.
    const database: Database = {
      ...index.database,
      async transaction(work, options) {
        const result = await index.database.transaction(work, options);
        if (options?.access === "read only")
          await insertReference(table("merchants"), "metadata_hash", hashOf(1));
        return result;
      },
    };
    expect(await expireRecords(database, { hashColumns, unreferencedDays: DAYS, signal })).toBe(1);
    expect(await documents()).toEqual([hashOf(1)]);
    // The reference restarted its time.
    await run("delete from merchants");
    await ageRecords(DAYS - 1);
    expect(await expire()).toBe(0);
  });

  it("expires in batches", async () => {
    await run(
      "insert into documents (kind, hash, text, size_bytes, stored_bytes) select 'catalog', '0x' || lpad(to_hex(n), 64, '0'), 'x', 1, 1025 from generate_series(1, 950) n",
    );
    await insertReference(table("merchants"), "metadata_hash", hashOf(500));
    await ageRecords(DAYS + 1);
    expect(await expire()).toBe(949);
    expect(await documents()).toEqual([hashOf(500)]);
    await expectExactTotal();
  });
});

describe("other records", () => {
  it("keeps schemas that an attestation uses, and all built-in schemas", async () => {
    for (const n of [1, 2]) {
      await run("insert into attestation_schemas (schema_hash, name, json_schema) values ($1, 'x', '{}')", [
        hashOf(n),
      ]);
    }
    await insertReference(table("attestations"), "schema_hash", hashOf(1));
    await ageRecords(DAYS + 1);
    expect(await expire()).toBe(1);
    const { rows } = await run("select schema_hash from attestation_schemas where not built_in");
    expect(rows).toEqual([{ schema_hash: hashOf(1) }]);
    expect((await run("select 1 from attestation_schemas where built_in")).count).toBe(4);
  });

  it("keeps linked reservations, but not those of others for the same intent", async () => {
    await insertReference(table("intents"), "intent_hash", hashOf(1));
    await run("update intents set owner = stored_hex(owner, $1)", [OWNER]);
    for (const [hash, owner] of [
      [hashOf(1), OWNER],
      [hashOf(1), `0x${"0b".repeat(20)}`],
      [hashOf(2), OWNER],
    ] as const) {
      await run("insert into intent_reservations (intent_hash, owner) values ($1, $2)", [hash, owner]);
    }
    await ageRecords(DAYS + 1);
    expect(await expire()).toBe(2);
    const { rows } = await run("select intent_hash, owner from intent_reservations");
    expect(rows).toEqual([{ intent_hash: hashOf(1), owner: OWNER }]);
    await expectExactTotal();
  });

  it("keeps metadata while its intent is indexed", async () => {
    await insertReference(table("intents"), "intent_hash", hashOf(1));
    for (const n of [1, 2]) await run("insert into intent_metadata (intent_hash) values ($1)", [hashOf(n)]);
    await ageRecords(DAYS + 1);
    expect(await expire()).toBe(1);
    expect((await run("select intent_hash from intent_metadata")).rows).toEqual([{ intent_hash: hashOf(1) }]);
  });

  it("deletes old daily counts and old versions", async () => {
    await run(
      "insert into client_writes select (now() at time zone 'UTC')::date - n, 'a', 1 from generate_series(0, 5) n",
    );
    await run("insert into write_versions (resource, signer, version) values ('/a', '0x', 1)");
    await ageRecords(DAYS + 1);
    await run("insert into write_versions (resource, signer, version) values ('/b', '0x', 1)");
    await expire();
    expect((await run("select 1 from client_writes")).count).toBe(2);
    expect((await run("select resource from write_versions")).rows).toEqual([{ resource: "/b" }]);
  });
});

describe("a pass", () => {
  it("continues with the other tables when the scan for one fails, then throws", async () => {
    await publish(1);
    await run("insert into intent_metadata (intent_hash) values ($1)", [hashOf(2)]);
    await ageRecords(DAYS + 1);
    let scans = 0;
    const database: Database = {
      ...index.database,
      transaction(work, options) {
        if (options?.access !== "read only") return index.database.transaction(work, options);
        scans += 1;
        if (scans > 1) return index.database.transaction(work, options);
        return index.database.transaction(
          async (session) => {
            await session.query("select pg_sleep(5)");
            return work(session);
          },
          { ...options, statementTimeoutMs: 50 },
        );
      },
    };
    const expiry = expireRecords(database, { hashColumns, unreferencedDays: DAYS, signal });
    await expect(expiry).rejects.toMatchObject({ code: "TIMED_OUT" });
    expect(await documents()).toEqual([hashOf(1)]);
    expect((await run("select intent_hash from intent_metadata")).rows).toEqual([]);
  });

  const job = (ready: boolean) => ({
    database: index.database,
    tables,
    unreferredDays: DAYS,
    storedBytesMax: 0,
    isIndexReady: async () => ready,
    log: silentLog,
    signal,
  });

  it("deletes nothing while the index is incomplete or another process runs a pass", async () => {
    await publish(1);
    await ageRecords(DAYS + 1);
    expect(await runExpiryPass(job(false))).toBeNull();
    const other = await openTestConnection(index.connection);
    const lock = await acquireLock(other, "expiry", { waitMs: 0 });
    expect(await runExpiryPass(job(true))).toBeNull();
    await lock?.release();
    await other.close();
    expect(await documents()).toEqual([hashOf(1)]);
    expect(await runExpiryPass(job(true))).toBe(1);
  });

  it("repeats until the signal aborts, also after a failed pass", async () => {
    await publish(1);
    await ageRecords(DAYS + 1);
    const stop = new AbortController();
    let checks = 0;
    const isIndexReady = async () => {
      checks += 1;
      if (checks === 1) throw new Error("not now");
      return true;
    };
    const sleep = async () => {
      if (checks === 2) stop.abort();
    };
    const clock = { ...systemClock, sleep };
    await runExpiryLoop({ ...job(true), isIndexReady, signal: stop.signal, clock });
    expect(checks).toBe(2);
    expect(await documents()).toEqual([]);
  });
});
