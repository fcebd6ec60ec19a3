// `proof=1` on the read of one record: reads the record with the position of its event, and adds what proves it.
import { Fault } from "../../lib/fault.ts";
import type { Hex } from "../../lib/hex.ts";
import {
  assembleBody,
  assertBlockReached,
  type IndexHead,
  type MinBlock,
  type Read,
  type ReadInput,
  type ResultRow,
  type RunRead,
} from "../../schema/reads/read.ts";
import type { RecordProofs } from "../../schema/reads/record-proofs.ts";

/** A record as the response has it, and where it was read. */
export type ProvableRecord = {
  readonly operationId: string;
  readonly record: ResultRow;
  /** The log that made the record. */
  readonly origin: RecordOrigin;
  readonly block: bigint;
  readonly head: Pick<IndexHead, "number" | "hash">;
  readonly client: string;
};

type RecordOrigin = { readonly block: bigint; readonly blockHash: Hex; readonly txHash: string };

/** Rejects only for what is wrong with the request; otherwise the proofs say why there are none. */
export type ProveRecord = (record: ProvableRecord) => Promise<RecordProofs>;

// A proof takes a node as long as several reads take the database.
const REQUESTS_PER_PROOF = 5;

export function asksForProof(read: Read, query: ReadonlyMap<string, string>): boolean {
  const given = read.isProvable === true ? query.get("proof") : undefined;
  if (given === undefined || given === "1") return given === "1";
  throw new Fault("INPUT_INVALID", "proof must be 1.");
}

type ProvenReadOptions = {
  readonly run: RunRead;
  readonly prove: ProveRecord;
  readonly client: string;
  readonly minBlock: MinBlock;
  /** Counts a further request of the client; throws if it has made too many. */
  readonly countRequest: () => void;
};

type ProvenRead = { readonly body: ResultRow; readonly head: IndexHead };

/** The record as it is without proofs, with one member more. */
export async function readWithProofs(
  read: Read,
  input: ReadInput,
  { run, prove, client, minBlock, countRequest }: ProvenReadOptions,
): Promise<ProvenRead> {
  for (let counted = 1; counted < REQUESTS_PER_PROOF; counted += 1) countRequest();
  const whole = { ...input, provenance: true };
  const plan = read.plan(whole);
  const needs = read.writableTables === undefined ? {} : { records: "replayed" as const };
  const atLeast = input.asOf?.block ?? minBlock;
  const found = await run({ sql: plan.sql, cost: plan.cost, client, atLeast, ...needs }, (head, rows) => {
    assertBlockReached(minBlock, head.number);
    return { head, row: assembleBody({ read, input: whole }, plan, head, rows) as ResultRow };
  });
  const { head, row } = found;
  const record = input.provenance ? row : dropProvenance(read, row);
  const { number, hash } = head;
  const proofs = await prove({
    operationId: read.operationId,
    record,
    origin: {
      block: BigInt(String(row.block_number)),
      blockHash: row.block_hash as Hex,
      txHash: String(row.tx_hash),
    },
    block: input.asOf?.block ?? number,
    head: { number, hash },
    client,
  });
  return { body: { ...record, proofs }, head };
}

const PROVENANCE = new Set(["block_number", "tx_hash", "log_index", "block_hash", "block_timestamp"]);

function dropProvenance({ responseSchema }: Read, row: ResultRow): ResultRow {
  const own = (responseSchema.required ?? []) as readonly string[];
  return Object.fromEntries(
    Object.entries(row).filter(([name]) => !PROVENANCE.has(name) || own.includes(name)),
  );
}
