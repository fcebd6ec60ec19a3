// Raw logs in the database: exact and compact, the source of every row.
import type { Hex } from "../../lib/hex.ts";
import type { ChainLog, LogWithDetails } from "../../schema/chain-log.ts";
import { type DetailedLogRow, decodeDetailedLogRow, decodeLogRow, packLog } from "../../schema/stored-log.ts";
import {
  type CopyBinaryType,
  type CopyBinaryValue,
  encodeCopyRows,
  joinCopyRows,
} from "../fast/copy-encoder.ts";
import type { PipelineStep } from "../fast/pipeline.ts";
import type { QueryRunner, Session } from "../postgres/session.ts";
import { markRowTablesStale } from "./row-tables.ts";

type LogPosition = { readonly block: bigint; readonly logIndex: number };

const SELECT_LOGS = `
  select l.block_number, l.log_index, l.tx_index, encode(l.tx_hash, 'hex') as tx_hash, encode(l.address, 'hex') as address,
    encode(l.topics, 'hex') as topics, encode(l.data, 'hex') as data, encode(l.details, 'hex') as details,
    encode(b.hash, 'hex') as hash, b.timestamp
  from logs l join blocks b on b.number = l.block_number`;

/** In the order of the positions; null for a position without a stored log. */
export async function readLogsAt(
  session: QueryRunner,
  positions: readonly LogPosition[],
): Promise<readonly (ChainLog | null)[]> {
  const { rows } = await session.query<DetailedLogRow>({
    text: `${SELECT_LOGS}
      where (l.block_number, l.log_index) in (select * from unnest($1::bigint[], $2::int[]))`,
    values: [positions.map(({ block }) => block), positions.map(({ logIndex }) => logIndex)],
  });
  const found = new Map(
    rows.map((row) => {
      const log = decodeLogRow(row);
      return [`${log.blockNumber}/${log.logIndex}`, log];
    }),
  );
  return positions.map(({ block, logIndex }) => found.get(`${block}/${logIndex}`) ?? null);
}

export type LogCounts = { readonly countOf: (address: Hex, topic0: Hex) => number };

/** Counts the stored logs of these contracts up to a block by event, in one pass. */
export async function countLogsByEvent(
  session: QueryRunner,
  addresses: readonly Hex[],
  block: number,
): Promise<LogCounts> {
  const { rows } = await session.query<{ address: string; topic0: string; count: string }>({
    text: `select encode(address, 'hex') as address, encode(substring(topics from 1 for 32), 'hex') as topic0, count(*) from logs
      where block_number <= $1 and address = any($2::bytea[]) group by 1, 2`,
    values: [block, addresses.map(encodeBytea)],
  });
  const counts = new Map(
    rows.map(({ address, topic0, count }) => [`0x${address}0x${topic0}`, Number(count)]),
  );
  return { countOf: (address, topic0) => counts.get(`${address}${topic0}`) ?? 0 };
}

/** The values that distinguish the logs of an event: emitter, first indexed arguments, and some words of the data. */
type DistinctLogKey = {
  readonly topic0: Hex;
  /** Null if any contract may emit it. */
  readonly address: Hex | null;
  readonly topics: number;
  readonly words: readonly number[];
};

/** Counts the logs of an event that differ in that key. */
export async function countDistinctLogs(
  session: QueryRunner,
  key: DistinctLogKey,
  block: number,
): Promise<number> {
  const parts = [
    "l.address",
    `substring(p.topics from 33 for ${32 * key.topics})`,
    ...key.words.map((word) => `substring(p.data from ${32 * word + 1} for 32)`),
  ];
  const { rows } = await session.query<{ count: string }>({
    text: `select count(*) from (select distinct ${parts.join(", ")}
      from logs l cross join lateral plain_log(l.topics, l.data, l.details) p
      where l.block_number <= $1 and substring(l.topics from 1 for 32) = $2
        and ($3::bytea is null or l.address = $3)) distinct_logs`,
    values: [block, encodeBytea(key.topic0), key.address === null ? null : encodeBytea(key.address)],
  });
  return Number(rows[0]?.count);
}

/**
 * Repairs final blocks with the logs that nodes show now, and marks the rows as stale in the same transaction. `logs` are
 * all logs of these blocks. A block without logs keeps its hash, and is pruned as an empty one.
 */
export async function replaceStoredLogs(
  session: Session,
  { from, to }: { readonly from: number; readonly to: number },
  logs: readonly LogWithDetails[],
): Promise<void> {
  const counts = new Map<number, { readonly hash: string; readonly timestamp: number; count: number }>();
  for (const { log } of logs) {
    const known = counts.get(log.blockNumber);
    if (known) known.count += 1;
    else
      counts.set(log.blockNumber, {
        hash: encodeBytea(log.blockHash),
        timestamp: log.blockTimestamp,
        count: 1,
      });
  }
  const blocks = [...counts];
  await session.query({
    text: "delete from logs where block_number between $1 and $2",
    values: [from, to],
  });
  await session.query({
    text: "update blocks set log_count = 0 where number between $1 and $2",
    values: [from, to],
  });
  await session.query({
    text: `insert into blocks (number, hash, timestamp, log_count)
      select * from unnest($1::bigint[], $2::bytea[], $3::bigint[], $4::int[])
      on conflict (number) do update
        set hash = excluded.hash, timestamp = excluded.timestamp, log_count = excluded.log_count`,
    values: [
      blocks.map(([number]) => number),
      blocks.map(([, { hash }]) => hash),
      blocks.map(([, { timestamp }]) => timestamp),
      blocks.map(([, { count }]) => count),
    ],
  });
  await session.sendPipeline([buildLogsStep(encodeLogs(logs, await readLogForm(session)))]);
  await markRowTablesStale(session);
}

const TYPES: readonly CopyBinaryType[] = [
  "int8",
  "int4",
  "int4",
  "bytea",
  "bytea",
  "bytea",
  "bytea",
  "bytea",
];

/** How new logs are stored; both forms are read, and a schema may have both. */
export type LogForm = "plain" | "packed";

/** Plain in a schema of a version that read no packed logs: processes of it may still run. */
export async function readLogForm(session: QueryRunner): Promise<LogForm> {
  const { rows } = await session.query<{ is_packed: boolean }>("select is_packed from log_storage");
  return rows[0]?.is_packed === true ? "packed" : "plain";
}

/** Binary, because a log is mostly bytes: see copy-encoder.ts. */
export function encodeLogs(logs: readonly LogWithDetails[], form: LogForm): Buffer[] {
  return encodeCopyRows(TYPES, logValues(logs, form));
}

/** The logs of all parts of a batch by one COPY: the server makes room for a thousand rows at each. */
export function buildLogsStep(encoded: readonly Buffer[]): PipelineStep {
  return {
    copy: "copy logs (block_number, log_index, tx_index, tx_hash, address, topics, data, details) from stdin (format binary)",
    messages: joinCopyRows(encoded),
  };
}

function* logValues(logs: readonly LogWithDetails[], form: LogForm): Generator<CopyBinaryValue[]> {
  for (const { log, details } of logs) {
    const packed = form === "packed" ? packLog(log.topics, log.data, details) : null;
    yield [
      log.blockNumber,
      log.logIndex,
      log.transactionIndex,
      log.transactionHash,
      log.address,
      packed ? packed.topics : joinTopics(log),
      packed ? packed.data : log.data,
      packed ? null : details,
    ];
  }
}

function joinTopics({ topics }: ChainLog): Hex {
  let joined: Hex = "0x";
  for (const topic of topics) joined += topic.slice(2);
  return joined;
}

/** PostgreSQL's text format of bytes. */
export function encodeBytea(hex: Hex): string {
  return `\\x${hex.slice(2)}`;
}

/** The next logs after a block: at most about `logsMax`, but always whole blocks; empty at the end. */
export async function readStoredLogs(
  session: QueryRunner,
  range: { afterBlock: number; toBlock: number; logsMax: number },
): Promise<LogWithDetails[]> {
  const { rows } = await session.query<DetailedLogRow>({
    text: `
      with last as (
        select block_number from logs where block_number > $1 and block_number <= $2
        order by block_number, log_index offset $3 limit 1
      )
      ${SELECT_LOGS}
      where l.block_number > $1 and l.block_number <= coalesce((select block_number from last), $2)
      order by l.block_number, l.log_index`,
    values: [range.afterBlock, range.toBlock, range.logsMax - 1],
  });
  return rows.map(decodeDetailedLogRow);
}
