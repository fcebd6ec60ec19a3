// Deletes written records that no indexed row has referenced for the configured time, in small batches.

import { isHashColumn } from "../../schema/column.ts";
import type { WritableTable } from "../../schema/record-store.ts";
import { PROVENANCE_COLUMNS, type Table } from "../../schema/table.ts";
import { buildChangeNotification } from "../../store/postgres/change-notifications.ts";
import type { Database } from "../../store/postgres/database.ts";
import { lockStoredTotal } from "../../store/postgres/record-store.ts";
import type { Session } from "../../store/postgres/session.ts";

type ExpiryOptions = {
  /** Columns that may reference a record. */
  readonly hashColumns: readonly HashColumns[];
  /** How long an unreferenced record stays. */
  readonly unreferencedDays: number;
  readonly signal: AbortSignal;
};

type HashedTable = {
  readonly table: "documents" | "attestation_schemas" | "intent_metadata";
  readonly hash: string;
  readonly where: string;
  /** Tables whose cached responses a deletion invalidates. */
  readonly invalidates: readonly WritableTable[];
};

const HASHED_TABLES: readonly HashedTable[] = [
  { table: "documents", hash: "hash", where: "true", invalidates: ["documents"] },
  {
    table: "attestation_schemas",
    hash: "schema_hash",
    where: "not built_in",
    invalidates: ["attestation_schemas"],
  },
  { table: "intent_metadata", hash: "intent_hash", where: "true", invalidates: ["intent_metadata"] },
];

// How often each record is checked, and so the precision of its last reference.
const CHECK_EVERY = "interval '1 day'";
// A scan reads whole tables of the index, so many hashes share one.
const HASHES_PER_SCAN = 10_000;
// Writes wait while a batch is deleted; 200 records of 128 KiB take a few hundredths of a second.
const BATCH = 200;
// Small rows, deleted without blocking writes.
const VERSIONS_BATCH = 5_000;

/** Checks every record that is due and returns how many it deleted. A failing step does not stop the others. */
export async function expireRecords(database: Database, options: ExpiryOptions): Promise<number> {
  const steps = [
    ...HASHED_TABLES.map((hashed) => () => expireHashed(database, hashed, options)),
    () => expireReservations(database, options),
    () => deleteOldCounts(database, options),
  ];
  let deleted = 0;
  const failures: unknown[] = [];
  for (const step of steps) {
    try {
      deleted += await step();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length === 1) throw failures[0];
  if (failures.length > 1) throw new AggregateError(failures, "Several kinds of records failed to expire.");
  return deleted;
}

async function expireHashed(
  database: Database,
  hashed: HashedTable,
  { hashColumns, unreferencedDays, signal }: ExpiryOptions,
): Promise<number> {
  const { table, hash, where } = hashed;
  let deleted = 0;
  while (!signal.aborted) {
    const { rows } = await database.query<{ hash: string }>(
      `select ${hash} as hash from ${table} where ${where} and checked_at < now() - ${CHECK_EVERY} order by checked_at limit ${HASHES_PER_SCAN}`,
    );
    const due = [...new Set(rows.map((row) => row.hash))];
    if (due.length === 0) break;
    const scan = await findReferencedHashes(database, hashColumns, due);
    for (let at = 0; at < due.length && !signal.aborted; at += BATCH) {
      const batch = due.slice(at, at + BATCH);
      deleted += await database.transaction((session) =>
        expireBatch(session, hashed, {
          schema: database.schema,
          days: unreferencedDays,
          hashColumns,
          scan,
          batch,
        }),
      );
    }
  }
  return deleted;
}

type Batch = {
  readonly schema: string;
  readonly days: number;
  readonly hashColumns: readonly HashColumns[];
  readonly scan: ReferenceScan;
  readonly batch: readonly string[];
};

async function expireBatch(
  session: Session,
  { table, hash, where, invalidates }: HashedTable,
  { schema, days, hashColumns, scan, batch }: Batch,
): Promise<number> {
  await lockStoredTotal(session);
  // A scan takes minutes and serves many batches: each batch also checks what was indexed since.
  const since = await findReferencesAfter(session, hashColumns, {
    hashes: batch,
    block: scan.finalizedBlock,
  });
  const referenced = batch.filter((each) => scan.referenced.has(each) || since.has(each));
  await session.query({
    text: `update ${table} set referred_at = now() where ${where} and ${hash} = any($1::text[])`,
    values: [referenced],
  });
  // A quote request stays as long as a response to it.
  if (table === "documents") {
    await session.query({
      text: `update documents d set referred_at = now() where d.kind = 'quote_request' and d.hash = any($1::text[])
               and exists (select 1 from documents r where r.kind = 'quote_response' and r.request_hash = d.hash)`,
      values: [batch],
    });
  }
  // Check referred_at again: the record may have been republished since it was selected.
  const { count } = await session.query({
    text: `delete from ${table} where ${where} and ${hash} = any($1::text[]) and referred_at < now() - make_interval(days => $2)`,
    values: [batch, days],
  });
  await session.query({
    text: `update ${table} set checked_at = now() where ${where} and ${hash} = any($1::text[])`,
    values: [batch],
  });
  if (count > 0 && invalidates.length > 0) await session.query(buildChangeNotification(schema, invalidates));
  return count;
}

/** Only the owner's reservation is linked to an intent, so reservations by others count as unreferenced. */
async function expireReservations(
  database: Database,
  { unreferencedDays, signal }: ExpiryOptions,
): Promise<number> {
  let deleted = 0;
  for (let checked = BATCH; checked === BATCH && !signal.aborted; ) {
    checked = await database.transaction(async (session) => {
      await lockStoredTotal(session);
      const due = await session.query<{ intent_hash: string; owner: string }>(
        `update intent_reservations r set checked_at = now(),
           referred_at = case when exists (select 1 from intents i where i.intent_hash = stored_hex(i.intent_hash, r.intent_hash) and i.owner = stored_hex(i.owner, r.owner) and i.valid_to is null)
             then now() else r.referred_at end
         where (r.intent_hash, r.owner) in (select d.intent_hash, d.owner from intent_reservations d
           where d.checked_at < now() - ${CHECK_EVERY} order by d.checked_at limit ${BATCH})
         returning r.intent_hash, r.owner`,
      );
      const { count } = await session.query({
        text: `delete from intent_reservations r using unnest($1::text[], $2::text[]) as d (intent_hash, owner)
               where r.intent_hash = d.intent_hash and r.owner = d.owner and r.referred_at < now() - make_interval(days => $3)`,
        values: [due.rows.map((row) => row.intent_hash), due.rows.map((row) => row.owner), unreferencedDays],
      });
      if (count > 0) await session.query(buildChangeNotification(database.schema, ["intent_reservations"]));
      deleted += count;
      return due.count;
    });
  }
  return deleted;
}

/** Returns 0: counters and versions are not records. */
async function deleteOldCounts(
  database: Database,
  { unreferencedDays, signal }: ExpiryOptions,
): Promise<number> {
  // Keep yesterday: a transaction that began then may still write it.
  await database.query("delete from client_writes where day < (now() at time zone 'UTC')::date - 1");
  // Signatures expire within minutes, so none that uses such an old version can be replayed.
  for (let deleted = VERSIONS_BATCH; deleted === VERSIONS_BATCH && !signal.aborted; ) {
    const { count } = await database.query({
      text: `delete from write_versions where (resource, signer) in (select resource, signer from write_versions
               where used_at < now() - make_interval(days => $1) order by used_at limit ${VERSIONS_BATCH})`,
      values: [unreferencedDays],
    });
    deleted = count;
  }
  return 0;
}

type HashColumns = { readonly table: string; readonly columns: readonly string[] };

/** Derived from the table declarations, so that new columns are included. Provenance hashes reference no record. */
export function collectHashColumns(tables: readonly Table[]): readonly HashColumns[] {
  return tables.flatMap(({ name, columns }) => {
    const found = Object.entries(columns).filter(
      ([column, kind]) => isHashColumn(kind) && !(column in PROVENANCE_COLUMNS),
    );
    return found.length === 0 ? [] : [{ table: name, columns: found.map(([column]) => column) }];
  });
}

// Most of these columns have no index, so each table is scanned once for many hashes.
const STATEMENT_MS_MAX = 600_000;

/** Rows indexed after the scan began belong to blocks after `finalizedBlock`. */
type ReferenceScan = { readonly referenced: ReadonlySet<string>; readonly finalizedBlock: string };

// Before the first block: an index without a checkpoint has no final block.
const NO_BLOCK = "-1";

/** Returns the hashes that any row version references, past ones included: they are readable too. */
async function findReferencedHashes(
  database: Database,
  hashColumns: readonly HashColumns[],
  hashes: readonly string[],
): Promise<ReferenceScan> {
  return database.transaction(
    async (session) => {
      await session.query("set local max_parallel_workers_per_gather to 0");
      const { rows } = await session.query<{ finalized_block: string }>(
        "select finalized_block from checkpoint",
      );
      const finalizedBlock = rows[0]?.finalized_block ?? NO_BLOCK;
      return {
        referenced: await findReferencesAfter(session, hashColumns, { hashes, block: NO_BLOCK }),
        finalizedBlock,
      };
    },
    { access: "read only", statementTimeoutMs: STATEMENT_MS_MAX },
  );
}

/** The same for row versions that began after a block; uses the index on valid_from. */
async function findReferencesAfter(
  session: Pick<Session, "query">,
  hashColumns: readonly HashColumns[],
  { hashes, block }: { readonly hashes: readonly string[]; readonly block: string },
): Promise<ReadonlySet<string>> {
  const referenced = new Set<string>();
  if (hashes.length === 0) return referenced;
  for (const { table, columns } of hashColumns) {
    const values = columns.map((column) => `(t.${column})`).join(", ");
    const { rows } = await session.query<{ hash: string }>({
      text: `select distinct v.hash from ${table} t cross join lateral (values ${values}) v (hash)
        join (select stored_hex((null::${table}).${columns[0]}, h) as hash from unnest($1::text[]) h) w on w.hash = v.hash
        where t.valid_from > $2`,
      values: [hashes, block],
    });
    for (const { hash } of rows) referenced.add(hash);
  }
  return referenced;
}
