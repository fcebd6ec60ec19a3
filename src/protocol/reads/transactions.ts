// GET /tx/:hash/explain: every event of the protocol in a transaction, in log order, from the stored logs.
import type { Hex } from "../../lib/hex.ts";
import type { ChainLog } from "../../schema/chain-log.ts";
import { closedObject, listOf, type TypeOf, titledRecord } from "../../schema/json-schema.ts";
import { hashParameter, pathParameter } from "../../schema/parameter.ts";
import { type AsOf, defineIndexRead, toRecords } from "../../schema/reads/read.ts";
import { PAGE_BYTES_MAX } from "../../schema/reads/record.ts";
import { compileSql, rawSql, type SqlText, sql } from "../../schema/sql.ts";
import { decodeLogRow, type LogRow, plainBytesSql } from "../../schema/stored-log.ts";
import { createLogDecoder, type ExplainedEvent, explainEvent, type LogDecoder } from "../decode-logs.ts";
import type { Deployment } from "../deployment.ts";

/** The first logs, up to the byte limit; an event in JSON is larger than its log. An index has the first bytes of hashes. */
function selectLogs(hash: string, asOf: AsOf): SqlText {
  const upTo = asOf === null ? sql`h.block_number` : sql`${asOf.block.toString()}::bigint`;
  const logBytes = rawSql(plainBytesSql("o", ["topics", "data"]));
  const measured = sql`select o.*, sum(${logBytes}) over (order by o.log_index) - (${logBytes}) as bytes_before, count(*) over () as log_count
      from (select decode(${hash}, 'hex') as hash) w join logs o
        on substring(o.tx_hash from 1 for 7) = substring(w.hash from 1 for 7) and o.tx_hash = w.hash
      where o.block_number <= ${upTo}`;
  return sql`select l.block_number, l.log_index, l.tx_index, encode(l.address, 'hex') as address, encode(l.topics, 'hex') as topics,
      encode(l.data, 'hex') as data, encode(b.hash, 'hex') as hash, b.timestamp, d.contracts::text as contracts, l.log_count
    from (${measured}) l join blocks b on b.number = l.block_number
    where l.bytes_before < ${rawSql(String(PAGE_BYTES_MAX))} order by l.log_index`;
}

const selectLogsNow = compileSql(selectLogs("", null));

function statement(hash: Hex, asOf: AsOf): SqlText {
  const digits = hash.slice(2);
  return asOf === null ? selectLogsNow(digits) : selectLogs(digits, asOf);
}

type SelectedLog = Omit<LogRow, "tx_hash"> & { readonly contracts: string; readonly log_count: string };

// A database holds one deployment, so one decoder is enough.
let cached: { readonly contracts: string; readonly decoder: LogDecoder } | null = null;

function decoderFor(contracts: string): LogDecoder {
  if (cached?.contracts !== contracts) {
    const parsed = JSON.parse(contracts) as Deployment["contracts"];
    cached = { contracts, decoder: createLogDecoder({ contracts: parsed }) };
  }
  return cached.decoder;
}

export const explanationSchema = titledRecord("Explanation", {
  tx_hash: { type: "string" },
  block_number: { type: "string" },
  summary: { type: "string" },
  events: listOf(
    closedObject({
      eventName: { type: "string" },
      args: { type: "object" },
      description: { type: "string" },
    }),
  ),
});

const explainTransaction = defineIndexRead({
  path: "/tx/:hash/explain",
  operationId: "explainTransaction",
  summary: "Explain a transaction",
  description:
    "Every event of the protocol in the transaction, in log order, each decoded and in one sentence.",
  tag: "Transactions",
  parameters: [pathParameter("hash", hashParameter, "Transaction hash.")],
  provenance: false,
  responseSchema: explanationSchema,
  notFoundMessage: "No indexed transaction has this hash.",
  plan({ values: { hash }, asOf }) {
    return {
      sql: statement(hash, asOf),
      // Uses an index; the gas of a transaction bounds its number of logs.
      cost: "quick",
      assemble: (resultRows) => {
        const rows = toRecords<SelectedLog>(resultRows);
        const [first] = rows;
        if (!first) return null;
        const logs = rows.map((row) => decodeLogRow({ ...row, tx_hash: hash.slice(2) }));
        return explainLogs(hash, logs, decoderFor(first.contracts), Number(first.log_count));
      },
    };
  },
});

export const transactionReads = [explainTransaction];

// The size of an explanation without its events: the hash, the block, and the frame of the summary.
const FRAME_BYTES = 1_024;

/**
 * Null if none of the logs is an event of the protocol. Omits events beyond the byte limit, but never the first;
 * `logCount` is the number of logs of the transaction, if `logs` does not have all of them.
 */
export function explainLogs(
  txHash: Hex,
  logs: readonly ChainLog[],
  decoder: LogDecoder,
  logCount = logs.length,
): TypeOf<typeof explanationSchema> | null {
  const events: ExplainedEvent[] = [];
  let bytes = FRAME_BYTES;
  let explainedCount = 0;
  for (const log of logs) {
    const event = decoder.decode(log, BigInt(log.blockTimestamp));
    if (event) {
      const explained = explainEvent(event);
      // The summary repeats the description, with a separator.
      bytes += bytesOf(explained) + bytesOf(explained.description) + 2;
      if (bytes > PAGE_BYTES_MAX && events.length > 0) break;
      events.push(explained);
    }
    explainedCount += 1;
  }
  const [first] = logs;
  if (!first || events.length === 0) return null;
  const descriptions = events.map(({ description }) => description).join("; ");
  const rest = logCount - explainedCount;
  return {
    tx_hash: txHash,
    block_number: String(first.blockNumber),
    summary:
      rest === 0
        ? `Transaction contained ${events.length} event(s): ${descriptions}.`
        : `Transaction contained more than is shown here, the first ${events.length} event(s): ${descriptions}. The ${rest} log(s) after them are left out because of their size.`,
    events,
  };
}

const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value)) + 1;
