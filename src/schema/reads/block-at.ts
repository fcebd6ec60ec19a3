// Blocks to read at, by number or time: `327`, `327@1794477600` for states that depend on time, or the last block at a time.

import { parseUint } from "../../lib/decimal.ts";
import { Fault } from "../../lib/fault.ts";
import { formatMoment, parseMoment } from "../../lib/moment.ts";
import type { ParameterKind } from "../parameter.ts";
import { type SqlText, sql } from "../sql.ts";
import { type AtBlock, BLOCK_MAX, type RunRead, toFirstRecord } from "./read.ts";
import { timeAt } from "./record.ts";

type TimedHead = {
  readonly block_number: string | null;
  readonly block_timestamp: string | null;
  readonly first_number: string | null;
  readonly first_timestamp: string | null;
  readonly indexed_timestamp: string;
};

/**
 * Times ascend with numbers, and blocks without events are deleted once they are final: their state is that of the
 * block before them. Each step reads one block by its number, so that a long history takes some thirty.
 */
function findStatement(seconds: string): SqlText {
  const last = (number: SqlText) =>
    sql`select b.number, b.timestamp from blocks b where b.number <= ${number} order by b.number desc limit 1`;
  const middle = sql`(s.low + s.high + 1) / 2`;
  return sql`select found.block_number, (select b.timestamp from blocks b where b.number = found.block_number) as block_timestamp,
    (select min(b.number) from blocks b) as first_number,
    (select b.timestamp from blocks b order by b.number limit 1) as first_timestamp,
    h.block_timestamp as indexed_timestamp
    from (select (
      with recursive search (low, high) as (
        (select f.number, h.block_number from blocks f where f.timestamp <= ${seconds}::bigint
          and f.number = (select min(b.number) from blocks b))
        union all
        select case when m.timestamp <= ${seconds}::bigint then ${middle} else s.low end,
          case when m.timestamp <= ${seconds}::bigint then s.high else m.number - 1 end
        from search s cross join lateral (${last(middle)}) m where s.low < s.high
      )
      select found.number from search s cross join lateral (${last(sql`s.low`)}) found where s.low >= s.high
    ) as block_number) found`;
}

type FoundBlock = AtBlock & {
  /** The time itself. */
  readonly seconds: number;
};

type BlockAtOptions = {
  readonly text: string;
  /** The parameter that has the text, for errors. */
  readonly name?: string;
  readonly client: string;
  readonly nowMs: number;
  /** A server that has not reached this block would call a later time unknown. */
  readonly atLeast?: bigint | null;
};

/** Rejects with INPUT_INVALID for a text that is not a time, the future, and a time that the index does not have. */
export async function findBlockAt(
  run: RunRead,
  { text, name = "at", client, nowMs, atLeast = null }: BlockAtOptions,
): Promise<FoundBlock> {
  const seconds = parseMoment(text, name, nowMs);
  const statement = { sql: findStatement(String(seconds)), cost: "quick", client, atLeast } as const;
  return run(statement, (head, rows) => {
    const found = toFirstRecord<TimedHead>(rows);
    const indexed = Number(found?.indexed_timestamp ?? 0);
    if (seconds > indexed) {
      throw new Fault(
        "INPUT_INVALID",
        `${formatMoment(seconds)} is not indexed yet: the newest block is ${head.number} of ${formatMoment(indexed)}. Leave out at for the newest state.`,
      );
    }
    if (found?.block_number != null) {
      const isOfBlock = found.block_timestamp === String(seconds);
      return { block: BigInt(found.block_number), time: isOfBlock ? null : BigInt(seconds), seconds };
    }
    const first =
      found?.first_number == null
        ? "has no event yet"
        : `begins with block ${found.first_number} of ${formatMoment(Number(found.first_timestamp))}. Give that time or a later one`;
    throw new Fault("INPUT_INVALID", `${formatMoment(seconds)} is too early: the index ${first}.`);
  });
}

/** The block with the time that `timeAt` judges at: links and cursors may name any time. */
export async function clampTime(run: RunRead, asOf: AtBlock, client: string): Promise<AtBlock> {
  const { block, time } = asOf;
  if (time === null) return asOf;
  const statement = {
    sql: sql`select ${timeAt(asOf)} as time`,
    cost: "quick",
    client,
    atLeast: block,
  } as const;
  return run(statement, (_head, rows) => {
    const judged = toFirstRecord<{ readonly time: string | null }>(rows)?.time ?? null;
    return { block, time: judged === null ? null : BigInt(judged) };
  });
}

// The last second that a Date has.
const SECONDS_MAX = 8_640_000_000_000n;

export function parseAtBlock(text: string, name: string): AtBlock {
  const [block, time, ...others] = text.split("@");
  if (others.length > 0) {
    throw new Fault("INPUT_INVALID", `${name} must be a block number, or one with a time: 327@1794477600.`);
  }
  return {
    block: parseUint(block, name, BLOCK_MAX),
    time: time === undefined ? null : parseUint(time, `the time of ${name}`, SECONDS_MAX),
  };
}

export function formatAtBlock({ block, time }: AtBlock): string {
  return time === null ? String(block) : `${block}@${time}`;
}

/** The text itself, in the form that has one spelling for each block and time. */
export const atBlockKind: ParameterKind<string> = {
  json: { type: "string", pattern: "^(0|[1-9][0-9]*)(@[0-9]+)?$" },
  parse: (text, name) => formatAtBlock(parseAtBlock(text, name)),
};
