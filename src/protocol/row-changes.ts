// Finds what each event of a block changes: its folds run once more in memory, on the rows as they were before the block.
import type { Change, EventOrigin } from "../schema/change.ts";
import type { RequiredRow } from "../schema/domain.ts";
import type { Row, Table } from "../schema/table.ts";
import type { FoldRows } from "./fold.ts";

/** A row before and after an event; null before it is created. */
export type RowChange = {
  readonly table: Table;
  readonly before: Row | null;
  readonly after: Row;
};

type Entry = {
  readonly needed: RequiredRow;
  /** Undefined until it is given. */
  row: Row | null | undefined;
  /** Changes that wait for the row, in order. */
  readonly waiting: { readonly change: Change; readonly origin: EventOrigin; readonly noted: NotedChange }[];
};

/** One for each event and row, noted in the order of the fold, which waiting changes would lose. */
type NotedChange = { before: Row | null; after: Row | null };

/**
 * Totals that keep no versions of final blocks are left out: what an event did to them is not known later, and the same
 * event must always say the same.
 */
export class RowChanges implements FoldRows {
  readonly #entries = new Map<string, Entry>();
  readonly #byLog = new Map<number, Map<Entry, NotedChange>>();

  /** Rows that are to be given before the fold runs. */
  require(needs: readonly RequiredRow[]): void {
    for (const needed of needs) this.#entry(needed);
  }

  /** The rows whose state before the block is not known yet. */
  missing(): readonly RequiredRow[] {
    return [...this.#entries.values()].flatMap(({ row, needed }) => (row === undefined ? [needed] : []));
  }

  /** In the order of `missing`. */
  give(rows: readonly (Row | null)[]): void {
    const missing = [...this.#entries.values()].filter(({ row }) => row === undefined);
    for (const [at, entry] of missing.entries()) {
      entry.row = rows[at] ?? null;
      for (const { change, origin, noted } of entry.waiting.splice(0)) apply(entry, noted, change, origin);
    }
  }

  /** Throws unless `require` was given the same. */
  async load(needs: readonly RequiredRow[]): Promise<void> {
    for (const { table, keyText } of needs) this.find(table, keyText);
  }

  find(table: Table, keyText: string): Row | null {
    const row = this.#entries.get(formatEntry(table, keyText))?.row;
    if (row === undefined) throw new Error(`${table.name} ${keyText} is read before it is given`);
    return row;
  }

  change(change: Change, origin: EventOrigin): void {
    if (change.table.history === "recent") return;
    const entry = this.#entry(change);
    const changes = this.#byLog.get(origin.log_index) ?? new Map<Entry, NotedChange>();
    this.#byLog.set(origin.log_index, changes);
    const noted = changes.get(entry) ?? { before: null, after: null };
    changes.set(entry, noted);
    if (change.priorRow === "absent" && entry.row === undefined) entry.row = null;
    if (entry.row === undefined) entry.waiting.push({ change, origin, noted });
    else apply(entry, noted, change, origin);
  }

  /** The changes by log index, once nothing is missing. */
  finish(): ReadonlyMap<number, readonly RowChange[]> {
    const finished = new Map<number, readonly RowChange[]>();
    for (const [logIndex, changes] of this.#byLog) {
      const list = [...changes].flatMap(([{ needed }, { before, after }]) =>
        after === null ? [] : [{ table: needed.table, before, after }],
      );
      finished.set(logIndex, list);
    }
    return finished;
  }

  #entry({ table, keyText, key }: RequiredRow): Entry {
    const name = formatEntry(table, keyText);
    const known = this.#entries.get(name);
    if (known) return known;
    const entry: Entry = { needed: { table, keyText, key }, row: undefined, waiting: [] };
    this.#entries.set(name, entry);
    return entry;
  }
}

const formatEntry = (table: Table, keyText: string) => `${table.name} ${keyText}`;

/** Several changes of a row by one event count once, and a change that leaves the row equal does not count, as in the stored versions. */
function apply(entry: Entry, noted: NotedChange, change: Change, origin: EventOrigin): void {
  const before = entry.row ?? null;
  const after = change.apply(before, origin);
  if (after === before) return;
  if (noted.after === null) noted.before = before;
  noted.after = after;
  entry.row = after;
}
