// Which events an owner may receive: those in which the owner takes part, and those about what the owner has.
import type { Hex } from "../../lib/hex.ts";
import { matchesFilter } from "../../protocol/event-filter.ts";
import { joinSql, rawSql, type SqlText, sql } from "../../schema/sql.ts";
import type { QueryRunner } from "../../store/postgres/session.ts";
import type { DeliveredEvent } from "../events/read-events.ts";

/** An argument that names a record, and the records of an owner as of a block; `e` is the event. */
type OwnedRecord = { readonly argument: string; readonly owned: string };

const valid = (alias: string) =>
  `${alias}.valid_from <= e.block and (${alias}.valid_to is null or ${alias}.valid_to > e.block)`;
const plain = (table: string, key: string, owner: string) =>
  `select from ${table} t where t.${key} = e.id and t.${owner} = e.owner and ${valid("t")}`;
const ofMerchant = (table: string, key: string, other: string) =>
  `select from ${table} t left join merchants m on m.merchant_id = t.merchant_id and ${valid("m")} where t.${key} = e.id and ${valid("t")} and (m.owner = e.owner${other})`;

const OWNED_RECORDS: readonly OwnedRecord[] = [
  { argument: "agentId", owned: plain("agents", "agent_id", "owner") },
  { argument: "intentId", owned: plain("intents", "intent_id", "owner") },
  { argument: "merchantId", owned: plain("merchants", "merchant_id", "owner") },
  { argument: "solverId", owned: plain("solvers", "solver_id", "operator") },
  { argument: "attestorId", owned: plain("attestors", "attestor_id", "operator") },
  // Of attestations: the only events with an argument of this name.
  { argument: "id", owned: plain("attestations", "attestation_id", "attester") },
  { argument: "serviceNumericId", owned: ofMerchant("services", "service_numeric_id", "") },
  { argument: "receiptId", owned: ofMerchant("receipts", "receipt_id", " or t.agent = e.owner") },
  { argument: "disputeId", owned: ofMerchant("disputes", "dispute_id", "") },
];

type NamedRecord = { readonly argument: string; readonly id: string };

/**
 * The events that are the owner's, in order. Null if a block of them is no longer on the chain, where its rows could
 * belong to anyone: read again, and the reader reports the undo.
 */
export async function selectOwnedEvents(
  database: QueryRunner,
  owner: Hex,
  events: readonly DeliveredEvent[],
): Promise<readonly DeliveredEvent[] | null> {
  const isOwn = events.map(({ event }) =>
    matchesFilter(event, { types: null, subjects: { account: owner } }),
  );
  const named = events.flatMap(({ event: { args }, record }, index) => {
    const records = isOwn[index] ? [] : listNamedRecords(args);
    return records.map((each) => ({ ...each, index, block: record.block_number, hash: record.block_hash }));
  });
  if (named.length > 0) {
    const { text, values } = selectOwned(owner, JSON.stringify(named));
    const { rows } = await database.query<{ index: number; on_chain: boolean; owned: boolean }>({
      text,
      values,
    });
    if (rows.some(({ on_chain }) => !on_chain)) return null;
    for (const { index, owned } of rows) isOwn[index] ||= owned;
  }
  return events.filter((_, index) => isOwn[index]);
}

const SUBJECT_ARGUMENTS = ["merchantId", "serviceNumericId", null, "agentId"] as const;

/** A trust signal names its subject by a type and an id; facilitators have no id that an owner has. */
function listNamedRecords(args: DeliveredEvent["event"]["args"]): readonly NamedRecord[] {
  const named = OWNED_RECORDS.flatMap(({ argument }) =>
    argument in args ? [{ argument, id: String(args[argument]) }] : [],
  );
  const subject = "subjectType" in args ? SUBJECT_ARGUMENTS[Number(args.subjectType)] : null;
  return subject ? [...named, { argument: subject, id: String(args.subjectId) }] : named;
}

/** One statement, so that blocks and rows are of one snapshot. */
function selectOwned(owner: Hex, named: string): SqlText {
  const cases = OWNED_RECORDS.map(
    ({ argument, owned }) => sql`when ${argument} then exists (${rawSql(owned)})`,
  );
  return sql`select e.index, exists (select from blocks b where b.number = e.block and b.hash = decode(substring(e.hash from 3), 'hex')) as on_chain,
      case e.argument ${joinSql(cases, " ")} else false end as owned
    from (select r.*, ${owner}::text as owner from jsonb_to_recordset(${named}::jsonb) as r (argument text, id numeric, index int, block bigint, hash text)) e`;
}
