// Logs from a position on, in chain order or backwards, with what shows whether that position is still on the chain.
import type { Hex } from "../../lib/hex.ts";
import type { ChainLog } from "../../schema/chain-log.ts";
import { type ResultRows, toFirstRecord, toRecords } from "../../schema/reads/read.ts";
import { rawSql, type SqlText, sql } from "../../schema/sql.ts";
import { decodeLogRow, type LogRow, plainBytesSql } from "../../schema/stored-log.ts";
import { DEPLOYMENT_FINGERPRINT } from "./checkpoint.ts";

/** A log index that comes after every other: all of the block is behind the position. The largest integer of SQL. */
export const END_OF_BLOCK = 2 ** 31 - 1;

/** How far events are read: to the head, or to the last block that the chain calls safe or final. */
export const FINALITIES = ["instant", "safe", "finalized"] as const;
export type Finality = (typeof FINALITIES)[number];

export type LogPosition = { readonly block: number; readonly logIndex: number };

/** A block as stored; the hash is null if the block is deleted, as empty final ones are. */
type StoredHash = { readonly number: number; readonly hash: Hex | null };

export type EventLogsQuery = {
  /** The position that must be on the chain. The hash is null if it need not be compared. */
  readonly position: LogPosition & { readonly hash: Hex | null };
  /** Reads backwards from here, and not forwards from the position. */
  readonly before: LogPosition | null;
  /** A block with logs whose hash to look up; null for none. */
  readonly lastLogBlock: number | null;
  /** Whether there are logs between this block and the position, both excluded and included in this order. */
  readonly quietSince: number;
  readonly finality: Finality;
  /** Only logs with one of these first topics have their content; null for all. */
  readonly topics0: readonly Hex[] | null;
  readonly logsMax: number;
};

export type EventLogs = {
  /** The deployment whose logs these are. */
  readonly deploymentFingerprint: string;
  /** The last block to read, as `finality` and `before` allow. */
  readonly upTo: StoredHash & { readonly timestamp: number };
  /** The newest block with logs up to there. */
  readonly upToLastLogBlock: { readonly number: number; readonly hash: Hex } | null;
  /** The blocks that are stored now under the numbers that the query names. */
  readonly positionHash: Hex | null;
  readonly isPositionAbandoned: boolean;
  readonly lastLogBlockHash: Hex | null;
  readonly isQuiet: boolean;
  /** In the order of the query. */
  readonly logs: readonly PositionedLog[];
  /** Whether there are more: the number or the bytes of these are at their limit. */
  readonly hasMore: boolean;
};

export type PositionedLog = {
  readonly block: number;
  readonly hash: Hex;
  readonly logIndex: number;
  /** Null if it has none of the topics. */
  readonly log: ChainLog | null;
};

/** The last block that may be read, of the checkpoint as `h`. */
export const UP_TO: Readonly<Record<Finality, string>> = {
  instant: "h.block_number",
  // After a rollback the safe block of the other branch may be above the head.
  safe: "least(h.block_number, greatest(h.finalized_block, h.safe_block))",
  finalized: "least(h.block_number, h.finalized_block)",
};

// The bytes that are decoded and formatted at once. A single log may be larger: it is then the only one.
const WINDOW_BYTES_MAX = 512 * 1024;

/**
 * One statement, because position and logs must be of one snapshot. It visits `logsMax` logs from an index, whatever the
 * size of the table. `limit 1` in the lookups keeps the planner from joining whole tables, `offset 0` from computing the
 * fingerprint again for each log.
 */
export function selectEventLogs(query: EventLogsQuery): SqlText {
  const { position, before, finality, lastLogBlock, quietSince } = query;
  const block = String(position.block);
  const direction = rawSql(before === null ? "" : " desc");
  const isWanted =
    query.topics0 === null
      ? sql`true`
      : sql`encode(substring(s.topics from 1 for 32), 'hex') = any(${formatTopics(query.topics0)}::text[])`;
  // One bound for each direction: of two upper bounds the index might use the wider one, and filter by the other.
  const isNext =
    before === null
      ? sql`(o.block_number, o.log_index) > (${block}::bigint, ${String(position.logIndex)}::int) and o.block_number <= u.number`
      : sql`(o.block_number, o.log_index) < (u.number, u.log_index)`;
  const next = sql`select o.* from logs o
      where ${isNext}
      order by o.block_number${direction}, o.log_index${direction} limit ${String(query.logsMax)}::int`;
  const wanted = sql`select s.*, ${isWanted} as is_wanted from (${next}) s`;
  const bytes = sql`case when m.is_wanted then ${rawSql(plainBytesSql("m", ["topics", "data"]))} else 0 end`;
  const measured = sql`select m.*, sum(${bytes}) over (order by m.block_number${direction}, m.log_index${direction}) - (${bytes}) as bytes_before,
      count(*) over () as found from (${wanted}) m`;
  return sql`select f.fingerprint, u.number as up_to, encode(ub.hash, 'hex') as up_to_hash, coalesce(ub.timestamp, h.block_timestamp) as up_to_timestamp,
      encode(pb.hash, 'hex') as position_hash, ${isAbandoned(position.hash)} as is_abandoned,
      encode(ab.hash, 'hex') as last_log_hash, ${hasLogs(quietSince, position.block)} as has_logs,
      nb.number as newest, encode(nb.hash, 'hex') as newest_hash,
      l.found, l.block_number, l.log_index, l.tx_index, encode(l.tx_hash, 'hex') as tx_hash, l.is_wanted,
      case when l.is_wanted then encode(l.address, 'hex') end as address, case when l.is_wanted then encode(l.topics, 'hex') end as topics,
      case when l.is_wanted then encode(l.data, 'hex') end as data, encode(lb.hash, 'hex') as hash, lb.timestamp
    from (${lastToRead(finality, before)}) u
    cross join (select ${rawSql(DEPLOYMENT_FINGERPRINT)} as fingerprint offset 0) f
    left join lateral (${blockAt("u.number")}) ub on true
    left join lateral (${blockAt(sql`${block}::bigint`)}) pb on true
    left join lateral (${blockAt(sql`${lastLogBlock === null ? null : String(lastLogBlock)}::bigint`)}) ab on true
    left join lateral (${newestBlockWithLogs("u.number")}) nb on true
    left join lateral (${measured}) l on l.bytes_before < ${rawSql(String(WINDOW_BYTES_MAX))}
    left join lateral (${blockAt("l.block_number")}) lb on true
    order by l.block_number${direction}, l.log_index${direction}`;
}

function lastToRead(finality: Finality, before: LogPosition | null): SqlText {
  const upTo = rawSql(UP_TO[finality]);
  if (before === null) return sql`select ${upTo} as number`;
  const block = sql`${String(before.block)}::bigint`;
  return sql`select n.number, case when n.number < ${block} then ${rawSql(String(END_OF_BLOCK))} else ${String(before.logIndex)}::int end as log_index
      from (select least(${upTo}, ${block}) as number) n`;
}

function blockAt(number: string | SqlText): SqlText {
  const wanted = typeof number === "string" ? rawSql(number) : number;
  return sql`select b.number, b.hash, b.timestamp from blocks b where b.number = ${wanted} limit 1`;
}

function newestBlockWithLogs(upTo: string): SqlText {
  return sql`select g.block_number as number, (select b.hash from blocks b where b.number = g.block_number) as hash
      from logs g where g.block_number <= ${rawSql(upTo)} order by g.block_number desc limit 1`;
}

function isAbandoned(hash: Hex | null): SqlText {
  return sql`exists (select from abandoned_blocks x where x.hash = decode(${hash === null ? "" : hash.slice(2)}, 'hex'))`;
}

// The first one by the index: for a wide range, which a crafted cursor can have, `exists` would scan the table up to it.
function hasLogs(after: number, upTo: number): SqlText {
  return sql`(select true from logs q where q.block_number > ${String(after)}::bigint and q.block_number <= ${String(upTo)}::bigint
      order by q.block_number limit 1)`;
}

// As one text: hex needs no quotes in an array of PostgreSQL.
function formatTopics(topics: readonly Hex[]): string {
  return `{${topics.map((topic) => topic.slice(2)).join(",")}}`;
}

type SelectedLog = LogRow & { readonly is_wanted: boolean };

/** The rows of `selectEventLogs`; there is always one. */
export function decodeEventLogs(rows: ResultRows, { logsMax }: Pick<EventLogsQuery, "logsMax">): EventLogs {
  const first = toFirstRecord(rows);
  if (!first) throw new Error("the position of a reader has no row");
  const newest = hexOrNull(first.newest_hash);
  const logs = first.block_number === null ? [] : toRecords<SelectedLog>(rows).map(decodeLog);
  return {
    deploymentFingerprint: String(first.fingerprint),
    upTo: {
      number: Number(first.up_to),
      hash: hexOrNull(first.up_to_hash),
      timestamp: Number(first.up_to_timestamp),
    },
    upToLastLogBlock: newest === null ? null : { number: Number(first.newest), hash: newest },
    positionHash: hexOrNull(first.position_hash),
    isPositionAbandoned: first.is_abandoned === true,
    lastLogBlockHash: hexOrNull(first.last_log_hash),
    isQuiet: first.has_logs !== true,
    logs,
    hasMore: logs.length === logsMax || logs.length < Number(first.found ?? 0),
  };
}

function decodeLog(row: SelectedLog): PositionedLog {
  const log = row.is_wanted ? decodeLogRow(row) : null;
  return { block: Number(row.block_number), hash: `0x${row.hash}`, logIndex: row.log_index, log };
}

function hexOrNull(value: unknown): Hex | null {
  return typeof value === "string" ? `0x${value}` : null;
}

/**
 * The newest block of an abandoned branch that is still on the chain, with the newest block with logs up to it. One
 * step for each reorg since: every step leads to a lower block.
 */
export function selectAncestor(hash: Hex): SqlText {
  return sql`with recursive walk (number, hash) as (
      select x.ancestor_number, x.ancestor_hash from abandoned_blocks x where x.hash = decode(${hash.slice(2)}, 'hex')
      union all
      select x.ancestor_number, x.ancestor_hash from walk w join abandoned_blocks x on x.hash = w.hash
      where not exists (select from blocks b where b.number = w.number and b.hash = w.hash)
    )
    select w.number, encode(w.hash, 'hex') as hash, nb.number as newest, encode(nb.hash, 'hex') as newest_hash
    from walk w join blocks b on b.number = w.number and b.hash = w.hash
    left join lateral (${newestBlockWithLogs("w.number")}) nb on true
    order by w.number desc limit 1`;
}

type Ancestor = {
  readonly number: number;
  readonly hash: Hex;
  readonly lastLogBlock: { readonly number: number; readonly hash: Hex } | null;
};

/** Null if no rollback has recorded the branch. */
export function decodeAncestor(rows: ResultRows): Ancestor | null {
  const [first] = toRecords(rows);
  if (!first) return null;
  const newest = hexOrNull(first.newest_hash);
  return {
    number: Number(first.number),
    hash: `0x${String(first.hash)}`,
    lastLogBlock: newest === null ? null : { number: Number(first.newest), hash: newest },
  };
}
