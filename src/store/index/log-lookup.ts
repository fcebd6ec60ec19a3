// Stored logs looked up by their place, and counted by their event.
import type { Hex } from "../../lib/hex.ts";
import type { ChainLog } from "../../schema/chain-log.ts";
import type { Session } from "../postgres/session.ts";
import { decodeBytea, decodeStoredLog, encodeBytea, type LogRow } from "./raw-logs.ts";

type Queries = Pick<Session, "query">;

export type LogPosition = { readonly block: bigint; readonly logIndex: number };

/** In the order of the places; null where no log is stored. */
export async function readLogsAt(
  session: Queries,
  places: readonly LogPosition[],
): Promise<readonly (ChainLog | null)[]> {
  const { rows } = await session.query<LogRow>({
    text: `select l.*, b.hash, b.timestamp from logs l join blocks b on b.number = l.block_number
      where (l.block_number, l.log_index) in (select * from unnest($1::bigint[], $2::int[]))`,
    values: [places.map(({ block }) => block), places.map(({ logIndex }) => logIndex)],
  });
  const found = new Map(
    rows.map((row) => {
      const { log } = decodeStoredLog(row);
      return [`${log.blockNumber}/${log.logIndex}`, log];
    }),
  );
  return places.map(({ block, logIndex }) => found.get(`${block}/${logIndex}`) ?? null);
}

export type LogCounts = { readonly countOf: (address: Hex, topic0: Hex) => number };

/** How many logs of each event these contracts have stored up to a block: one pass over them all. */
export async function countLogsByEvent(
  session: Queries,
  addresses: readonly Hex[],
  block: number,
): Promise<LogCounts> {
  const { rows } = await session.query<{ address: Uint8Array; topic0: Uint8Array; count: string }>({
    text: `select address, substring(topics from 1 for 32) as topic0, count(*) from logs
      where block_number <= $1 and address = any($2::bytea[]) group by 1, 2`,
    values: [block, addresses.map(encodeBytea)],
  });
  const counts = new Map(
    rows.map((row) => [`${decodeBytea(row.address)}${decodeBytea(row.topic0)}`, Number(row.count)]),
  );
  return { countOf: (address, topic0) => counts.get(`${address}${topic0}`) ?? 0 };
}

/** What tells the logs of an event apart: the first indexed arguments, some words of the data, and who emitted it. */
export type DistinctLogKey = {
  readonly topic0: Hex;
  /** Null where anyone may emit it, each for itself. */
  readonly address: Hex | null;
  readonly topics: number;
  readonly words: readonly number[];
};

/** How many logs of an event differ in those parts. */
export async function countDistinctLogs(
  session: Queries,
  apart: DistinctLogKey,
  block: number,
): Promise<number> {
  const parts = [
    "address",
    `substring(topics from 33 for ${32 * apart.topics})`,
    ...apart.words.map((word) => `substring(data from ${32 * word + 1} for 32)`),
  ];
  const { rows } = await session.query<{ count: string }>({
    text: `select count(*) from (select distinct ${parts.join(", ")} from logs
      where block_number <= $1 and substring(topics from 1 for 32) = $2
        and ($3::bytea is null or address = $3)) apart`,
    values: [block, encodeBytea(apart.topic0), apart.address === null ? null : encodeBytea(apart.address)],
  });
  return Number(rows[0]?.count);
}
