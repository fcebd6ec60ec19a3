// The position of the index on the chain: block hashes, the checkpoint, and the status that the indexer reports.
import type { Hex } from "../../lib/hex.ts";
import type { BlockId, BlockSummary } from "../../schema/chain-log.ts";
import { encodeCopyLine, encodeCopyLines } from "../fast/copy-encoder.ts";
import type { PipelineStep } from "../fast/pipeline.ts";
import type { QueryRunner } from "../postgres/session.ts";
import { encodeBytea } from "./raw-logs.ts";

/** The last block whose events are in the rows, and the last one known to be final. */
export type Checkpoint = {
  readonly block: BlockSummary;
  readonly finalized: number;
};

export type StoredBlock = BlockSummary & {
  readonly logCount: number;
};

type BlockRow = { readonly number: string; readonly hash: Hex; readonly timestamp: string };

const hexOf = (column: string) => `'0x' || encode(${column}, 'hex') as hash`;

function decodeBlock({ number, hash, timestamp }: BlockRow): BlockSummary {
  return { number: Number(number), hash, timestamp: Number(timestamp) };
}

export async function readCheckpoint(session: QueryRunner): Promise<Checkpoint | null> {
  const { rows } = await session.query<BlockRow & { readonly finalized_block: string }>(
    `select block_number as number, ${hexOf("block_hash")}, block_timestamp as timestamp, finalized_block
     from checkpoint`,
  );
  const [row] = rows;
  return row ? { block: decodeBlock(row), finalized: Number(row.finalized_block) } : null;
}

/** The stored blocks that a condition, an order and a limit select. */
async function readBlocks(
  session: QueryRunner,
  selection: string,
  values: readonly number[],
): Promise<BlockSummary[]> {
  const text = `select number, ${hexOf("hash")}, timestamp from blocks ${selection}`;
  return (await session.query<BlockRow>({ text, values })).rows.map(decodeBlock);
}

/** A block as it is stored; null if it is not, as an empty one that is final. */
export async function readStoredBlock(session: QueryRunner, number: number): Promise<BlockSummary | null> {
  const [block] = await readBlocks(session, "where number = $1", [number]);
  return block ?? null;
}

/** The newest block with logs up to a block; such blocks are stored for good. */
export async function readNewestBlockWithLogs(session: QueryRunner, upTo: number): Promise<BlockId | null> {
  const selection = "where number <= $1 and log_count > 0 order by number desc limit 1";
  const [block] = await readBlocks(session, selection, [upTo]);
  return block ? { number: block.number, hash: block.hash } : null;
}

/** The newest stored blocks from `number` downwards, newest first. */
export function readBlocksDescending(
  session: QueryRunner,
  number: number,
  limit: number,
): Promise<BlockSummary[]> {
  return readBlocks(session, "where number <= $1 order by number desc limit $2", [number, limit]);
}

/** `safe` is the newest block that a node calls safe; what is final is safe too. */
export function buildCheckpointStep({ block, finalized }: Checkpoint, safe?: number | null): PipelineStep {
  return {
    name: "write checkpoint",
    text: `
      insert into checkpoint (block_number, block_hash, block_timestamp, finalized_block, safe_block) values ($1, $2, $3, $4, $5)
      on conflict (only_row) do update set block_number = excluded.block_number, block_hash = excluded.block_hash,
        block_timestamp = excluded.block_timestamp, safe_block = excluded.safe_block,
        finalized_block = greatest(checkpoint.finalized_block, excluded.finalized_block)`,
    values: [block.number, encodeBytea(block.hash), block.timestamp, finalized, safe ?? finalized],
  };
}

export function buildBlocksStep(blocks: readonly StoredBlock[]): PipelineStep {
  return {
    copy: "copy blocks (number, hash, timestamp, log_count) from stdin",
    messages: encodeCopyLines(
      blocks.map((block) =>
        encodeCopyLine([
          String(block.number),
          encodeBytea(block.hash),
          String(block.timestamp),
          String(block.logCount),
        ]),
      ),
    ),
  };
}

// Two days of a chain with a block every two seconds. A reader who comes back later is sent further back: see docs/events.md#cursors-and-undo.
const ABANDONED_BLOCKS_KEPT = 100_000;

/** Deletes blocks and logs after a block, and remembers which blocks they were; rows are rolled back separately. */
export function buildDeleteChainSteps({ number, hash }: BlockId): PipelineStep[] {
  return [
    { text: "delete from logs where block_number > $1", values: [number] },
    {
      text: `
        with gone as (delete from blocks where number > $1 returning number, hash)
        insert into abandoned_blocks (hash, number, ancestor_number, ancestor_hash)
        select hash, number, $1, $2::bytea from gone
        on conflict (hash) do update
          set ancestor_number = excluded.ancestor_number, ancestor_hash = excluded.ancestor_hash`,
      values: [number, encodeBytea(hash)],
    },
    { text: "delete from abandoned_blocks where number < $1", values: [number - ABANDONED_BLOCKS_KEPT] },
  ];
}

/** Final blocks without logs are not needed, except the one that a rollback may return to. */
export function buildPruneBlocksStep(finalized: number): PipelineStep {
  const text = "delete from blocks where number < $1 and log_count = 0";
  return { name: "prune blocks", text, values: [finalized] };
}

/** For the processes that serve the indexer's rows. A process that has not seen the chain's head yet keeps the last one. */
export async function writeIndexerStatus(session: QueryRunner, status: object): Promise<void> {
  await session.query({
    text: `insert into indexer_status as s (status, reported_at) values ($1::jsonb, now())
           on conflict (only_row) do update set reported_at = excluded.reported_at,
             status = case when excluded.status -> 'head' = 'null'::jsonb
               then excluded.status || jsonb_strip_nulls(jsonb_build_object('head', s.status -> 'head', 'headSeenAt', s.status -> 'headSeenAt'))
               else excluded.status end`,
    values: [JSON.stringify(status)],
  });
}

/** An indexer reports every second: thirty missed reports mean that it is gone, or cut off. */
export const REPORT_AGE_SECONDS_MAX = 30;

/** Null if no indexer ever ran; the age shows whether one still does. */
export async function readIndexerStatus(
  session: QueryRunner,
): Promise<{ readonly report: unknown; readonly ageSeconds: number } | null> {
  const { rows } = await session.query<{ status: unknown; age: number }>(
    "select status, extract(epoch from now() - reported_at)::int as age from indexer_status",
  );
  const [row] = rows;
  return row ? { report: row.status, ageSeconds: Number(row.age) } : null;
}

/** Tells whose index a statement has read, in a few bytes; `d` is the row of the deployment. */
export const DEPLOYMENT_FINGERPRINT =
  "encode(substring(sha256(convert_to(jsonb_build_array(d.chain_id, d.start_block, d.contracts)::text, 'UTF8')) from 1 for 8), 'hex')";
