// Expiry of what people wrote: records that no indexed row has referred to for long enough are deleted, a few at a time.
import type { WritableTable } from "../../schema/record-store.ts";
import { buildChangeNotification } from "../../store/postgres/change-notifications.ts";
import type { Database } from "../../store/postgres/database.ts";
import type { Session } from "../../store/postgres/session.ts";
import { lockStoredTotal } from "../../store/postgres/storage-limits.ts";
import {
  findReferencedHashes,
  findReferencesAfter,
  type HashColumns,
  type ReferenceScan,
} from "./find-references.ts";

export type ExpiryOptions = {
  /** Where the index may refer to a record. */
  readonly hashColumns: readonly HashColumns[];
  /** How long a record stays that nothing refers to. */
  readonly unreferencedDays: number;
  readonly signal: AbortSignal;
};

type HashedTable = {
  readonly table: "documents" | "attestation_schemas" | "intent_metadata";
  readonly hash: string;
  readonly where: string;
  /** Which cached responses are made from it. */
  readonly changes: readonly WritableTable[];
};

const HASHED: readonly HashedTable[] = [
  { table: "documents", hash: "hash", where: "true", changes: [] },
  {
    table: "attestation_schemas",
    hash: "schema_hash",
    where: "not built_in",
    changes: ["attestation_schemas"],
  },
  { table: "intent_metadata", hash: "intent_hash", where: "true", changes: ["intent_metadata"] },
];

// So exactly is known when a record was last referred to, and so often is each looked up.
const CHECK_EVERY = "interval '1 day'";
// Each look reads the tables of the index from end to end: many hashes share one.
const HASHES_PER_LOOK = 10_000;
// Writes wait while a batch is deleted: at 128 KiB each, this many take a few hundredths of a second.
const BATCH = 200;
// Small rows, which nothing waits for.
const VERSIONS_BATCH = 5_000;

/** Looks up every record that is due, and tells how many were deleted. What fails keeps nothing else from expiring. */
export async function expireRecords(database: Database, options: ExpiryOptions): Promise<number> {
  const steps = [
    ...HASHED.map((hashed) => () => expireHashed(database, hashed, options)),
    () => expireReservations(database, options),
    () => forgetOldCounts(database, options),
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
  if (failures.length > 1) throw new AggregateError(failures, "Several kinds of records did not expire.");
  return deleted;
}

async function expireHashed(
  database: Database,
  hashed: HashedTable,
  { hashColumns: places, unreferencedDays: unreferredDays, signal }: ExpiryOptions,
): Promise<number> {
  const { table, hash, where } = hashed;
  let deleted = 0;
  while (!signal.aborted) {
    const { rows } = await database.query<{ hash: string }>(
      `select ${hash} as hash from ${table} where ${where} and checked_at < now() - ${CHECK_EVERY} order by checked_at limit ${HASHES_PER_LOOK}`,
    );
    const due = [...new Set(rows.map((row) => row.hash))];
    if (due.length === 0) break;
    const look = await findReferencedHashes(database, places, due);
    for (let at = 0; at < due.length && !signal.aborted; at += BATCH) {
      const batch = due.slice(at, at + BATCH);
      deleted += await database.transaction((session) =>
        expireBatch(session, hashed, {
          schema: database.schema,
          days: unreferredDays,
          places,
          look,
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
  readonly places: readonly HashColumns[];
  readonly look: ReferenceScan;
  readonly batch: readonly string[];
};

async function expireBatch(
  session: Session,
  { table, hash, where, changes }: HashedTable,
  { schema, days, places, look, batch }: Batch,
): Promise<number> {
  await lockStoredTotal(session);
  // A look takes minutes and is shared by many batches: what was indexed since is looked up for each of them.
  const since = await findReferencesAfter(session, places, { hashes: batch, block: look.finalizedBlock });
  const referred = batch.filter((each) => look.referenced.has(each) || since.has(each));
  await session.query({
    text: `update ${table} set referred_at = now() where ${where} and ${hash} = any($1::text[])`,
    values: [referred],
  });
  // A request stays for as long as a response that answers it.
  if (table === "documents") {
    await session.query({
      text: `update documents d set referred_at = now() where d.kind = 'quote_request' and d.hash = any($1::text[])
               and exists (select 1 from documents r where r.kind = 'quote_response' and r.request_hash = d.hash)`,
      values: [batch],
    });
  }
  // Looked at again here: it may have been published again since it was found.
  const { count } = await session.query({
    text: `delete from ${table} where ${where} and ${hash} = any($1::text[]) and referred_at < now() - make_interval(days => $2)`,
    values: [batch, days],
  });
  await session.query({
    text: `update ${table} set checked_at = now() where ${where} and ${hash} = any($1::text[])`,
    values: [batch],
  });
  if (count > 0 && changes.length > 0) await session.query(buildChangeNotification(schema, changes));
  return count;
}

/** Only the owner's reservation is ever linked: the others of an indexed intent are referred to by nothing. */
async function expireReservations(
  database: Database,
  { unreferencedDays: unreferredDays, signal }: ExpiryOptions,
): Promise<number> {
  let deleted = 0;
  for (let checked = BATCH; checked === BATCH && !signal.aborted; ) {
    checked = await database.transaction(async (session) => {
      await lockStoredTotal(session);
      const due = await session.query<{ intent_hash: string; owner: string }>(
        `update intent_reservations r set checked_at = now(),
           referred_at = case when exists (select 1 from intents i where i.intent_hash = r.intent_hash and i.owner = r.owner and i.valid_to is null)
             then now() else r.referred_at end
         where (r.intent_hash, r.owner) in (select d.intent_hash, d.owner from intent_reservations d
           where d.checked_at < now() - ${CHECK_EVERY} order by d.checked_at limit ${BATCH})
         returning r.intent_hash, r.owner`,
      );
      const { count } = await session.query({
        text: `delete from intent_reservations r using unnest($1::text[], $2::text[]) as d (intent_hash, owner)
               where r.intent_hash = d.intent_hash and r.owner = d.owner and r.referred_at < now() - make_interval(days => $3)`,
        values: [due.rows.map((row) => row.intent_hash), due.rows.map((row) => row.owner), unreferredDays],
      });
      if (count > 0) await session.query(buildChangeNotification(database.schema, ["intent_reservations"]));
      deleted += count;
      return due.count;
    });
  }
  return deleted;
}

/** Counts are no records: none is told of. */
async function forgetOldCounts(
  database: Database,
  { unreferencedDays: unreferredDays, signal }: ExpiryOptions,
): Promise<number> {
  // Yesterday's may still be written by a transaction that began then.
  await database.query("delete from client_writes where day < (now() at time zone 'UTC')::date - 1");
  // Signatures expire within minutes: none is left that a version of that time could be used with again.
  for (let deleted = VERSIONS_BATCH; deleted === VERSIONS_BATCH && !signal.aborted; ) {
    const { count } = await database.query({
      text: `delete from write_versions where (resource, signer) in (select resource, signer from write_versions
               where used_at < now() - make_interval(days => $1) order by used_at limit ${VERSIONS_BATCH})`,
      values: [unreferredDays],
    });
    deleted = count;
  }
  return 0;
}
