// The rows that events have changed: each block is folded once for all readers, within limits, and kept for a while.
import { setImmediate as nextTurn } from "node:timers/promises";
import { createFairLimit, type FairLimit } from "../../lib/concurrency-limit.ts";
import type { Hex } from "../../lib/hex.ts";
import type { DecodedLog, LogDecoder } from "../../protocol/decode-logs.ts";
import { type RowChangeRecord, type RowRecord, VERSIONED_TABLES } from "../../protocol/event-page.ts";
import { foldLogs } from "../../protocol/fold.ts";
import { type RowChange, RowChanges } from "../../protocol/row-changes.ts";
import type { BlockId, ChainLog, LogWithDetails } from "../../schema/chain-log.ts";
import type { RunRead } from "../../schema/reads/read.ts";
import type { Row } from "../../schema/table.ts";
import {
  type BlockReadLimits,
  createRowsBeforeQuery,
  decodeBlockLogs,
  type RowBefore,
  selectBlockLogs,
} from "../../store/index/block-rows.ts";

function describeRowChange({ table, before, after }: RowChange): RowChangeRecord {
  return {
    table: table.name,
    key: pick(after, table.key),
    before: before && pick(before, Object.keys(table.columns)),
    after: pick(after, Object.keys(table.columns)),
  };
}

function pick(row: Row, names: readonly string[]): RowRecord {
  const record: Record<string, string | number | boolean | null> = {};
  for (const name of names) record[name] = toJson(row[name]);
  return record;
}

function toJson(value: unknown): string | number | boolean | null {
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return value;
  if (value === null) return null;
  throw new Error("a row has a value that no column holds");
}

export type EventRowsLimits = BlockReadLimits & {
  /** The memory that rows of folded blocks may take, about, and how long they are kept. */
  readonly keptBytesMax: number;
  readonly keptMsMax: number;
};

const EVENT_ROWS_LIMITS: EventRowsLimits = {
  // Half a second of folding, in turns of a millisecond: the gas of ordinary blocks buys fewer.
  logsMax: 10_000,
  logBytesMax: 8 * 1024 * 1024,
  rowBytesMax: 4 * 1024 * 1024,
  // Any block within the limits above, so that the pages of a large one fold it once.
  keptBytesMax: 64 * 1024 * 1024,
  // A repair of final history changes the rows of a block without changing its hash.
  keptMsMax: 60_000,
};

/** The meaning of an index's logs. */
type FoldMeaning = { readonly decoder: LogDecoder; readonly deployment: Buffer };

export type EventRows = {
  /** Null if the block is too large; undefined if it has not been folded: the next page has it. */
  rowsOf(log: ChainLog): readonly RowChangeRecord[] | null | undefined;
};

/** The changes by log index; null if the block is too large. */
type BlockChanges = ReadonlyMap<number, readonly RowChange[]> | null;
type KeptBlock = { readonly changes: BlockChanges; readonly bytes: number; readonly untilMs: number };

// Streams and pages wait for one at a time; their number is limited before.
const LANE = { runningMax: 1, runningPerKeyMax: 1, waitingMax: 10_000, waitingPerKeyMax: 1_000 };
// A row of twenty columns with the objects around it; long texts count in addition.
const ROW_BYTES = 1_024;
const DECODED_PER_TURN = 100;
const ROWS_BEFORE = createRowsBeforeQuery(VERSIONED_TABLES);

export class EventRowsReader {
  readonly #limits: EventRowsLimits;
  /** Folded blocks by deployment and hash, the oldest entry first. */
  readonly #kept = new Map<string, KeptBlock>();
  #keptBytes = 0;
  /**
   * One page at a time, so that the next one finds its blocks folded. New blocks do not wait for readers of history.
   */
  readonly #lanes: { readonly live: FairLimit; readonly history: FairLimit };

  constructor(limits: Partial<EventRowsLimits> = {}) {
    this.#limits = { ...EVENT_ROWS_LIMITS, ...limits };
    this.#lanes = { live: createFairLimit(LANE), history: createFairLimit(LANE) };
  }

  /**
   * Reads the rows of the first blocks that fit into the limits, and of at least one. Null if a reorg removed one of
   * them. `client` is who waits, null at the head.
   */
  async read(
    blocks: readonly BlockId[],
    meaning: FoldMeaning,
    client: string | null,
    run: RunRead,
  ): Promise<EventRows | null> {
    const known = this.#find(blocks, meaning);
    if (known.size === blocks.length) return toEventRows(known);
    const lane = client === null ? this.#lanes.live : this.#lanes.history;
    return await lane.run(client ?? "", async () => {
      const found = this.#find(blocks, meaning);
      const missing = blocks.filter(({ hash }) => !found.has(hash));
      if (missing.length === 0) return toEventRows(found);
      const folded = await new BlockFolding(run, this.#limits, meaning, client).fold(missing);
      if (folded === null) return null;
      for (const [hash, changes] of folded) {
        found.set(hash, changes);
        this.#keep(nameOf(hash, meaning), changes);
      }
      return toEventRows(found);
    });
  }

  #find(blocks: readonly BlockId[], meaning: FoldMeaning): Map<Hex, BlockChanges> {
    const found = new Map<Hex, BlockChanges>();
    for (const { hash } of blocks) {
      const kept = this.#kept.get(nameOf(hash, meaning));
      if (kept && kept.untilMs > performance.now()) found.set(hash, kept.changes);
    }
    return found;
  }

  #keep(name: string, changes: BlockChanges): void {
    const { keptBytesMax, keptMsMax } = this.#limits;
    const bytes = measure(changes);
    const nowMs = performance.now();
    this.#drop(name);
    for (const [oldest, { untilMs }] of this.#kept) {
      if (untilMs > nowMs && this.#keptBytes + bytes <= keptBytesMax) break;
      this.#drop(oldest);
    }
    this.#kept.set(name, { changes, bytes, untilMs: nowMs + keptMsMax });
    this.#keptBytes += bytes;
  }

  #drop(name: string): void {
    const kept = this.#kept.get(name);
    if (kept === undefined) return;
    this.#kept.delete(name);
    this.#keptBytes -= kept.bytes;
  }
}

const nameOf = (hash: Hex, { deployment }: FoldMeaning) => `${deployment.toString("hex")} ${hash}`;

function toEventRows(found: ReadonlyMap<Hex, BlockChanges>): EventRows {
  return {
    rowsOf({ blockHash, logIndex }) {
      const changes = found.get(blockHash);
      // An event that changes no row, or only totals.
      return changes ? (changes.get(logIndex) ?? []).map(describeRowChange) : changes;
    },
  };
}

/** About; texts that an event left as they were are shared with the row before. */
function measure(changes: BlockChanges): number {
  let bytes = ROW_BYTES;
  for (const list of changes?.values() ?? []) {
    for (const { before, after } of list) {
      bytes += ROW_BYTES;
      for (const name in after) {
        const value = after[name];
        if (typeof value === "string" && value !== before?.[name]) bytes += value.length;
      }
    }
  }
  return bytes;
}

function newestOf(blocks: readonly BlockId[]): BlockId | null {
  return blocks.reduce<BlockId | null>(
    (one, other) => (one && one.number > other.number ? one : other),
    null,
  );
}

type FoldedBlocks = ReadonlyMap<Hex, BlockChanges>;
type PreparedBlock = {
  readonly block: BlockId;
  readonly logs: readonly DecodedLog[];
  readonly changes: RowChanges;
};

/** Folds blocks once more: at most three statements, however many blocks, logs and rows. */
class BlockFolding {
  readonly #run: RunRead;
  readonly #limits: EventRowsLimits;
  readonly #meaning: FoldMeaning;
  readonly #client: string;

  constructor(run: RunRead, limits: EventRowsLimits, meaning: FoldMeaning, client: string | null) {
    this.#run = run;
    this.#limits = limits;
    this.#meaning = meaning;
    this.#client = client ?? "";
  }

  /** Null after a fork. */
  async fold(blocks: readonly BlockId[]): Promise<FoldedBlocks | null> {
    // Slow at the head too: a large block must not delay the quick reads of others.
    const statement = {
      sql: selectBlockLogs(blocks, this.#limits),
      cost: "slow",
      client: this.#client,
    } as const;
    const stored = await this.#run(statement, (_, rows) => decodeBlockLogs(rows));
    const [first] = blocks;
    if (first === undefined || blocks.some(({ hash }, at) => stored[at]?.hash !== hash)) return null;
    const prepared: PreparedBlock[] = [];
    for (const [at, block] of blocks.entries()) {
      const logs = stored[at]?.logs ?? null;
      if (logs === null) break;
      prepared.push(await this.#prepare(block, logs));
    }
    const tooLarge: FoldedBlocks = new Map([[first.hash, null]]);
    if (prepared.length === 0) return tooLarge;
    const folded = await this.#foldPrepared(prepared);
    if (folded !== "too large") return folded;
    if (blocks.length === 1) return tooLarge;
    // Alone, because whether a block is too large must not depend on who reads it.
    return await this.fold([first]);
  }

  async #prepare(block: BlockId, logs: readonly LogWithDetails[]): Promise<PreparedBlock> {
    const changes = new RowChanges();
    const events: DecodedLog[] = [];
    for (const [at, { log, details }] of logs.entries()) {
      const event = this.#meaning.decoder.decode(log, BigInt(log.blockTimestamp));
      if (event) {
        events.push({ log, details, event });
        if (event.rule.requiredRows) changes.require(event.rule.requiredRows(event));
      }
      if (at % DECODED_PER_TURN === DECODED_PER_TURN - 1) await nextTurn();
    }
    return { block, logs: events, changes };
  }

  async #foldPrepared(prepared: readonly PreparedBlock[]): Promise<FoldedBlocks | "too large" | null> {
    // First what folds read, then what only their changes need: which these are is known after the fold.
    const required = await this.#giveMissing(prepared);
    if (required !== "given") return required === "forked" ? null : required;
    for (const { logs, changes } of prepared) await foldLogs(logs, changes);
    const changed = await this.#giveMissing(prepared);
    if (changed !== "given") return changed === "forked" ? null : changed;
    return new Map(prepared.map(({ block, changes }) => [block.hash, changes.finish()]));
  }

  /** Rows and events belong together if the newest block is still on the chain: its hash stands for all before it. */
  async #giveMissing(prepared: readonly PreparedBlock[]): Promise<"given" | "forked" | "too large"> {
    const newest = newestOf(prepared.map(({ block }) => block));
    const wanted = prepared.flatMap(({ block, changes }) =>
      changes.missing().map((row): RowBefore => ({ ...row, block: block.number })),
    );
    if (newest === null || wanted.length === 0) return "given";
    const select = ROWS_BEFORE.select(wanted, newest.number, this.#limits);
    const statement = { sql: select, cost: "slow", client: this.#client } as const;
    const { hash, rows } = await this.#run(statement, (_, found) => ROWS_BEFORE.decode(wanted, found));
    if (hash !== newest.hash) return "forked";
    if (rows === null) return "too large";
    let at = 0;
    for (const { changes } of prepared) {
      const count = changes.missing().length;
      changes.give(rows.slice(at, at + count));
      at += count;
    }
    return "given";
  }
}
