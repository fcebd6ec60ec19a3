// All exported tables: raw logs with their decoded events, blocks, and every table that keeps its whole history.
import { createLogDecoder, explainEvent, type LogDecoder } from "../protocol/decode-logs.ts";
import type { Deployment } from "../protocol/deployment.ts";
import { tables } from "../protocol/domains.ts";
import type { LogWithDetails } from "../schema/chain-log.ts";
import type { Table } from "../schema/table.ts";
import { findBlockWithByte, readBlocksWithLogs, readVersionsBegun } from "../store/index/range-rows.ts";
import { readStoredLogs } from "../store/index/raw-logs.ts";
import { type ExportRow, type ExportTable, toValue, valueTypeOf } from "./export-table.ts";

// Outsiders decide how long a log is: one can have megabytes, and its event again as many. A page has whole blocks, so
// that it can be larger by one of them, which is bounded by its gas.
const PAGE = { logsMax: 1_000, bytes: 2 * 1024 * 1024 };
const SECOND_MS = 1_000n;

/**
 * Rollups that keep only recent versions are left out: they have no past to export, and all they count is in the
 * other tables.
 */
export function createExportTables(deployment: Pick<Deployment, "contracts">): readonly ExportTable[] {
  const versioned = tables.filter(({ history }) => history === "full").map(createVersionedTable);
  return [createLogsTable(createLogDecoder(deployment)), BLOCKS, ...versioned];
}

const BLOCKS: ExportTable = {
  name: "blocks",
  key: ["number"],
  isVersioned: false,
  columns: [
    { name: "number", type: "int64", nullable: false },
    { name: "hash", type: "hex", nullable: false },
    { name: "block_time", type: "timestamp", nullable: false },
    { name: "log_count", type: "int32", nullable: false },
  ],
  async *readPages(session, range) {
    for await (const rows of readBlocksWithLogs(session, range)) {
      yield rows.map(({ number, hash, timestamp, log_count }) => [
        BigInt(String(number)),
        String(hash),
        BigInt(String(timestamp)) * SECOND_MS,
        Number(log_count),
      ]);
    }
  },
};

function createLogsTable(decoder: LogDecoder): ExportTable {
  return {
    name: "logs",
    key: ["block_number", "log_index"],
    isVersioned: false,
    columns: [
      { name: "block_number", type: "int64", nullable: false },
      { name: "block_hash", type: "hex", nullable: false },
      { name: "block_time", type: "timestamp", nullable: false },
      { name: "tx_hash", type: "hex", nullable: false },
      { name: "tx_index", type: "int32", nullable: false },
      { name: "log_index", type: "int32", nullable: false },
      { name: "address", type: "hex", nullable: false },
      { name: "topic0", type: "hex", nullable: true },
      { name: "topic1", type: "hex", nullable: true },
      { name: "topic2", type: "hex", nullable: true },
      { name: "topic3", type: "hex", nullable: true },
      { name: "data", type: "hex", nullable: false },
      { name: "details", type: "hex", nullable: true },
      { name: "contract", type: "text", nullable: true },
      { name: "event", type: "text", nullable: true },
      { name: "args", type: "json", nullable: true },
    ],
    async *readPages(session, { from, to }) {
      for (let afterBlock = from - 1; ; ) {
        const full = await findBlockWithByte(session, { from: afterBlock + 1, to }, PAGE);
        const range = { afterBlock, toBlock: full ?? to - 1, logsMax: PAGE.logsMax };
        const logs = await readStoredLogs(session, range);
        const last = logs.at(-1);
        if (!last) return;
        yield logs.map((each) => toLogRow(each, decoder));
        afterBlock = last.log.blockNumber;
      }
    },
  };
}

function toLogRow({ log, details }: LogWithDetails, decoder: LogDecoder): ExportRow {
  const { topics } = log;
  const event = decoder.decode(log, BigInt(log.blockTimestamp));
  return [
    BigInt(log.blockNumber),
    log.blockHash,
    BigInt(log.blockTimestamp) * SECOND_MS,
    log.transactionHash,
    log.transactionIndex,
    log.logIndex,
    log.address,
    topics[0] ?? null,
    topics[1] ?? null,
    topics[2] ?? null,
    topics[3] ?? null,
    log.data,
    details,
    event?.contract ?? null,
    event?.name ?? null,
    event ? JSON.stringify(explainEvent(event).args) : null,
  ];
}

function createVersionedTable(table: Table): ExportTable {
  const columns = [
    ...Object.entries(table.columns).map(([name, column]) => ({
      name,
      type: valueTypeOf(column),
      nullable: column.nullable,
    })),
    { name: "valid_from", type: "int64", nullable: false } as const,
  ];
  return {
    name: table.name,
    key: table.key,
    isVersioned: true,
    columns,
    async *readPages(session, range) {
      for await (const rows of readVersionsBegun(session, table, range))
        yield rows.map((row) => columns.map(({ name, type }) => toValue(type, row[name])));
    },
  };
}
