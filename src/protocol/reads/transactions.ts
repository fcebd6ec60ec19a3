// Reads: GET /tx/:hash/explain, from the stored logs.
import type { Hex } from "../../lib/hex.ts";
import type { ChainLog } from "../../schema/chain-log.ts";
import { closedObject } from "../../schema/json-schema.ts";
import { hashParameter } from "../../schema/parameter.ts";
import type { AsOf, Read } from "../../schema/reads/read.ts";
import { PAGE_BYTES_MAX } from "../../schema/reads/record.ts";
import { type ResultRow, toRecords } from "../../schema/reads/result-rows.ts";
import { compileSql, rawSql, type SqlText, sql } from "../../schema/sql.ts";
import { createLogDecoder, type LogDecoder } from "../decode/logs.ts";
import type { Deployment } from "../deployment.ts";
import { explainLogs } from "../explain.ts";

/** The first logs, up to the byte limit; an event in JSON is larger than its log. */
function selectLogs(hash: string, asOf: AsOf): SqlText {
  const upTo = asOf === null ? sql`h.block_number` : sql`${asOf.toString()}::bigint`;
  const logBytes = sql`octet_length(o.topics) + octet_length(o.data)`;
  const measured = sql`select o.*, sum(${logBytes}) over (order by o.log_index) - (${logBytes}) as bytes_before, count(*) over () as log_count
      from logs o where o.tx_hash = decode(${hash}, 'hex') and o.block_number <= ${upTo}`;
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

function logOf(row: ResultRow, transactionHash: Hex): ChainLog {
  return {
    address: `0x${String(row.address)}`,
    topics: (String(row.topics).match(/.{64}/g) ?? []).map((topic): Hex => `0x${topic}`),
    data: `0x${String(row.data)}`,
    blockNumber: Number(row.block_number),
    blockHash: `0x${String(row.hash)}`,
    blockTimestamp: Number(row.timestamp),
    transactionHash,
    transactionIndex: Number(row.tx_index),
    logIndex: Number(row.log_index),
  };
}

// A database holds one deployment, so one decoder is enough.
let cached: { readonly contracts: string; readonly decoder: LogDecoder } | null = null;

function decoderFor(contracts: string): LogDecoder {
  if (cached?.contracts !== contracts) {
    const parsed = JSON.parse(contracts) as Deployment["contracts"];
    cached = { contracts, decoder: createLogDecoder({ contracts: parsed }) };
  }
  return cached.decoder;
}

const EVENT = closedObject({
  eventName: { type: "string" },
  args: { type: "object" },
  description: { type: "string" },
});

const explainTransaction: Read = {
  path: "/tx/:hash/explain",
  operationId: "explainTransaction",
  summary: "Explain a transaction",
  tag: "Transactions",
  parameters: [
    { name: "hash", in: "path", required: true, kind: hashParameter, description: "Transaction hash." },
  ],
  provenance: false,
  responseSchema: {
    title: "Explanation",
    ...closedObject({
      tx_hash: { type: "string" },
      block_number: { type: "string" },
      summary: { type: "string" },
      events: { type: "array", items: EVENT },
    }),
  },
  notFoundMessage: "No indexed transaction has this hash.",
  plan({ values, asOf }) {
    const hash = values.hash as Hex;
    return {
      sql: statement(hash, asOf),
      // Uses an index; the gas of a transaction bounds its number of logs.
      cost: "quick",
      assemble: (resultRows) => {
        const rows = toRecords(resultRows);
        const [first] = rows;
        if (!first) return null;
        const decoder = decoderFor(String(first.contracts));
        return explainLogs(
          hash,
          rows.map((row) => logOf(row, hash)),
          decoder,
          Number(first.log_count),
        );
      },
    };
  },
};

export const transactionReads = [explainTransaction];
