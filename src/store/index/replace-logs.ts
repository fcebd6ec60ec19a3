// Stored logs of final blocks replaced by what nodes show of them now: a repair, after which rows must be rebuilt.

import type { Session } from "../postgres/session.ts";
import { buildLogsStep, encodeBytea, type StoredDetailedLog } from "./raw-logs.ts";

/** `logs` are all logs of these blocks. Blocks that have none keep their hash, and are pruned as empty ones are. */
export async function replaceStoredLogs(
  session: Session,
  { from, to }: { readonly from: number; readonly to: number },
  logs: readonly StoredDetailedLog[],
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
  await session.sendPipeline([buildLogsStep(logs)]);
}
