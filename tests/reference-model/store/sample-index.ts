// An index of sample tables in a real database, alongside the plain history it must equal.
import { randomBytes } from "node:crypto";
import type { Hex } from "../../../src/lib/hex.ts";
import { formatKey, type Row, type Table } from "../../../src/schema/table.ts";
import type { Checkpoint, StoredBlock } from "../../../src/store/index/checkpoint.ts";
import { type RebuildOptions, rebuildRows } from "../../../src/store/index/rebuild.ts";
import { RowCache } from "../../../src/store/index/row-cache.ts";
import { createRowIndexes, createRowTables, recordRowTables } from "../../../src/store/index/row-tables.ts";
import {
  type IndexBatch,
  type IndexStore,
  openIndexStore,
  type PreparedBatch,
} from "../../../src/store/index/store.ts";
import { acquireLock, type Lock } from "../../../src/store/postgres/advisory-lock.ts";
import type { Database } from "../../../src/store/postgres/database.ts";
import { digestTables } from "../../support/digest-tables.ts";
import { openTestDatabase } from "../../support/index/test-index.ts";
import { PlainHistory, type PlainTables, toStoredRow } from "./plain-history.ts";
import {
  createSampleFold,
  encodeSampleLog,
  SAMPLE_TABLES,
  type SampleChange,
  sampleTableOf,
} from "./sample-tables.ts";

export type SampleBlock = readonly SampleChange[];
export type RowVersion = { readonly row: Row; readonly from: number; readonly to: number | null };

export type SampleIndex = {
  readonly database: Database;
  readonly store: IndexStore;
  /** The store as a process has it that starts now. */
  reopen(): IndexStore;
  /** The plain history, as long as only `write` and `rollback` are used. */
  readonly history: PlainHistory;
  readonly finalized: number;
  /** Writes blocks on top of the head, of which all but the last `unsettled` are final; adapts changes to be possible. */
  write(blocks: readonly SampleBlock[], unsettled: number): Promise<void>;
  /** The same without the plain history: for writes that must fail. */
  attempt(blocks: readonly SampleBlock[], unsettled: number): Promise<void>;
  rollback(block: number): Promise<void>;
  versions(table: Table): Promise<RowVersion[]>;
  digest(): Promise<Readonly<Record<string, string>>>;
  /** Rebuilds the rows from the stored logs. */
  rebuild(): Promise<void>;
  /** Deletes everything. */
  reset(): Promise<void>;
  close(): Promise<void>;
};

const DECLARATION = { tables: SAMPLE_TABLES, foldVersion: 1 };
const FIRST_BLOCK = 0;

export async function openSampleIndex(): Promise<SampleIndex> {
  const { database, drop } = await openTestDatabase();
  const lock = await acquireLock(database, "sample", { waitMs: 0 });
  if (!lock) throw new Error("the lock is taken");
  await lock.transaction(async (session) => {
    await createRowTables(session, SAMPLE_TABLES);
    await createRowIndexes(session, SAMPLE_TABLES);
    await recordRowTables(session, DECLARATION);
  });
  const index = new StoredSampleIndex(database, lock, drop);
  await index.begin();
  return index;
}

class StoredSampleIndex implements SampleIndex {
  readonly database: Database;
  readonly store: IndexStore;
  history = new PlainHistory(FIRST_BLOCK);
  finalized = FIRST_BLOCK;
  readonly #lock: Lock;
  readonly #drop: () => Promise<void>;
  /** The blocks of the current branch. */
  readonly #branch = new Map<number, Checkpoint["block"]>();

  constructor(database: Database, lock: Lock, drop: () => Promise<void>) {
    this.database = database;
    this.#lock = lock;
    this.store = this.reopen();
    this.#drop = drop;
  }

  reopen(): IndexStore {
    const createCache = () => new RowCache(CACHED_ROWS_MAX);
    return openIndexStore(this.database, this.#lock, SAMPLE_TABLES, createCache);
  }

  /** Writes the first block. */
  async begin(): Promise<void> {
    const tip = this.#blockRef(FIRST_BLOCK);
    const batch = { tip, blocks: [storedBlock(tip, 0)], logs: [], finalized: FIRST_BLOCK };
    await writeBatch(this.store, batch, createSampleFold());
  }

  async write(blocks: readonly SampleBlock[], unsettled: number): Promise<void> {
    const { history } = this;
    const first = history.head + 1;
    const expected: (Row | null)[] = [];
    const made = blocks.map((acts) => {
      history.begin();
      return acts.map((wanted, index) => {
        const before = history.find(wanted);
        const act = possible(wanted, before);
        if (act.looks) expected.push(before);
        const { transactionHash } = encodeSampleLog(act, { block: history.head, blockHash: "0x", index });
        history.change(act, { tx_hash: transactionHash, log_index: index });
        return act;
      });
    });
    const seen: (Row | null)[] = [];
    await this.#send(first, made, unsettled, (batch) =>
      writeInParts(
        this.store,
        batch,
        createSampleFold((row) => seen.push(row)),
      ),
    );
    sameLooks(seen, expected);
  }

  attempt(blocks: readonly SampleBlock[], unsettled: number): Promise<void> {
    return this.#send(this.history.head + 1, blocks, unsettled, (batch) =>
      writeBatch(
        this.store,
        batch,
        createSampleFold(() => undefined),
      ),
    );
  }

  async rollback(block: number): Promise<void> {
    await this.store.rollback(this.#blockRef(block));
    this.history.rollback(block);
    for (const number of this.#branch.keys()) if (number > block) this.#branch.delete(number);
  }

  async versions(table: Table): Promise<RowVersion[]> {
    const { rows } = await this.database.query<Record<string, unknown>>(
      `select * from ${table.name} order by ${[...table.key, "valid_from"].join(", ")}`,
    );
    return rows.map(({ valid_from, valid_to, ...row }) => ({
      row,
      from: Number(valid_from),
      to: valid_to === null ? null : Number(valid_to),
    }));
  }

  digest(): Promise<Readonly<Record<string, string>>> {
    return digestTables(this.database, SAMPLE_TABLES, this.finalized);
  }

  async rebuild(): Promise<void> {
    await rebuildRows(this.#lock, {
      schema: this.database.schema,
      declaration: DECLARATION,
      fold: createSampleFold(),
      signal: new AbortController().signal,
      onProgress: () => undefined,
    });
  }

  async reset(): Promise<void> {
    const names = [...SAMPLE_TABLES.map(({ name }) => name), "logs", "blocks", "checkpoint"];
    // For a few rows much faster than to truncate, which makes new files for each table and index.
    await this.database.query(names.map((name) => `delete from ${name}`).join("; "));
    this.history = new PlainHistory(FIRST_BLOCK);
    this.finalized = FIRST_BLOCK;
    this.#branch.clear();
    await this.begin();
  }

  async close(): Promise<void> {
    await this.#lock.release();
    await this.#drop();
  }

  async #send(
    first: number,
    blocks: readonly SampleBlock[],
    unsettled: number,
    write: (batch: IndexBatch) => Promise<void>,
  ): Promise<void> {
    const refs = blocks.map((_, index) => this.#blockRef(first + index));
    const tip = this.#blockRef(first + blocks.length - 1);
    const logs = blocks.flatMap((acts, at) =>
      acts.map((act, index) => {
        const { number: block, hash: blockHash } = this.#blockRef(first + at);
        return { log: encodeSampleLog(act, { block, blockHash, index }), details: null };
      }),
    );
    // Final history as a backfill writes it: without empty blocks, except the last one.
    const stored = refs.filter(
      ({ number }) => unsettled > 0 || number === tip.number || blocks[number - first]?.length !== 0,
    );
    await write({
      tip,
      blocks: stored.map((ref) => storedBlock(ref, blocks[ref.number - first]?.length ?? 0)),
      logs,
      finalized: tip.number - unsettled,
    });
    this.finalized = Math.max(this.finalized, Math.min(tip.number, tip.number - unsettled));
  }

  #blockRef(number: number): Checkpoint["block"] {
    const known = this.#branch.get(number);
    if (known) return known;
    const hash: Hex = `0x${randomBytes(32).toString("hex")}`;
    const made = { number, hash, timestamp: 1_700_000_000 + number };
    this.#branch.set(number, made);
    return made;
  }
}

function storedBlock(ref: Checkpoint["block"], logCount: number): StoredBlock {
  return { ...ref, logCount };
}

function sameLooks(seen: readonly (Row | null)[], expected: readonly (Row | null)[]): void {
  const text = (rows: readonly (Row | null)[]) => JSON.stringify(rows.map((row) => row && sorted(row)));
  if (text(seen) !== text(expected))
    throw new Error(`a fold saw ${text(seen)}, but there was ${text(expected)}`);
}

function sorted(row: Row): Row {
  return Object.fromEntries(Object.entries(toStoredRow(row)).sort(([a], [b]) => a.localeCompare(b)));
}

/** The rows as of a block, by key. */
export function rowsAt(table: Table, versions: readonly RowVersion[], block: number): Map<string, Row> {
  const valid = versions.filter(({ from, to }) => from <= block && (to === null || block < to));
  return new Map(valid.map(({ row }) => [formatKey(table.key, row), row]));
}

/** The plain rows of one table in the form of the database. */
export function toPlainRows(table: Table, rows: PlainTables): Map<string, Row> {
  return new Map([...(rows.get(table.name) ?? [])].map(([key, row]) => [key, toStoredRow(row)]));
}

/** Adapts the change to the current history: an insert of an existing row becomes a replacement, and so on. */
function possible(act: SampleChange, before: Row | null): SampleChange {
  if (sampleTableOf(act).counts) {
    // Counters never go below zero, on any branch.
    const left = ((before?.times ?? 0n) as bigint) + BigInt(act.value % 4);
    return { ...act, verb: "add", value: left < 0n ? -act.value : act.value };
  }
  const verbs = before
    ? ({ insert: "put", put: "put", update: "update", add: "update" } as const)
    : ({ insert: "insert", put: "put", update: "insert", add: "insert" } as const);
  return { ...act, verb: verbs[act.verb], value: Math.abs(act.value) };
}

/** Folds a batch and writes it. */
export async function writeBatch(
  store: IndexStore,
  batch: IndexBatch,
  fold: RebuildOptions["fold"],
): Promise<void> {
  const prepared = await store.prepare(batch, (rows) => fold(batch.logs, rows), null);
  await prepared.write();
}

// A batch may fold on rows of the batch before, on those that the cache has of earlier ones, and on stored ones.
const PARTS_MAX = 12;
const CACHED_ROWS_MAX = 2;

/** Final history as a backfill writes it: batches that are each folded before the one before is written. */
async function writeInParts(
  store: IndexStore,
  batch: IndexBatch,
  fold: RebuildOptions["fold"],
): Promise<void> {
  if (batch.finalized < batch.tip.number) return writeBatch(store, batch, fold);
  let before: PreparedBatch | null = null;
  let writing = Promise.resolve();
  for (const part of splitBatch(batch)) {
    const prepared: Promise<PreparedBatch> = store.prepare(part, (rows) => fold(part.logs, rows), before);
    [before] = await Promise.all([prepared, writing]);
    writing = before.write();
  }
  await writing;
}

function splitBatch(batch: IndexBatch): IndexBatch[] {
  const { blocks, tip } = batch;
  const size = Math.ceil(blocks.length / PARTS_MAX);
  const parts: IndexBatch[] = [];
  for (let at = 0; at < blocks.length; at += size) {
    const own = blocks.slice(at, at + size);
    const numbers = new Set(own.map(({ number }) => number));
    const logs = batch.logs.filter(({ log }) => numbers.has(log.blockNumber));
    const { number, hash, timestamp } = own.at(-1) ?? tip;
    parts.push({ ...batch, tip: { number, hash, timestamp }, blocks: own, logs, finalized: number });
  }
  return parts;
}
