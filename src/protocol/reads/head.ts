// GET /head: the position of the index, which time a block has, and in which blocks around it something happened.
import { nullable, titledRecord } from "../../schema/json-schema.ts";
import { type AsOf, type Read, toFirstRecord } from "../../schema/reads/read.ts";
import { blockTimeAt } from "../../schema/reads/record.ts";
import { type SqlText, sql } from "../../schema/sql.ts";

function statement(asOf: AsOf): SqlText {
  const block = asOf === null ? sql`h.block_number` : sql`${asOf.toString()}::bigint`;
  // Blocks without events are deleted once they are final, so that either walk passes few of them.
  const previous = sql`select b.number from blocks b where b.number < ${block} and b.log_count > 0 order by b.number desc limit 1`;
  const next = sql`select b.number from blocks b where b.number > ${block} and b.log_count > 0 order by b.number limit 1`;
  return sql`select ${block} as block_number, ${blockTimeAt(asOf)} as block_timestamp, (${previous}) as previous_event_block,
      (${next}) as next_event_block, h.block_number as indexed_block, h.block_timestamp as indexed_timestamp,
      h.finalized_block as finalized_block, d.start_block as start_block`;
}

const BLOCK = { type: "string" } as const;

export const headSchema = titledRecord("Head", {
  block_number: BLOCK,
  block_timestamp: nullable(BLOCK),
  previous_event_block: nullable(BLOCK),
  next_event_block: nullable(BLOCK),
  indexed_block: BLOCK,
  indexed_timestamp: BLOCK,
  finalized_block: BLOCK,
  start_block: BLOCK,
});

const getHead: Read = {
  path: "/head",
  operationId: "getHead",
  summary: "Position of the index",
  description:
    "The latest indexed block, the newest final one and the first; and of the block that is read, its time and the nearest blocks before and after it with events of the protocol. An old block without events has the time of the last one before it with events.",
  tag: "Index",
  parameters: [],
  provenance: false,
  responseSchema: headSchema,
  notFoundMessage: null,
  plan: ({ asOf }) => ({ sql: statement(asOf), cost: "quick", assemble: toFirstRecord }),
};

export const headReads = [getHead];
