// What an event does to a row: create it, replace it, update some columns, or add to its counters.

import {
  type Columns,
  formatKey,
  type PROVENANCE_COLUMNS,
  type Row,
  type RowOf,
  type Table,
} from "./table.ts";

/** Which block, transaction and log a change comes from. */
export type EventOrigin = {
  readonly block_number: bigint;
  readonly tx_hash: string;
  readonly log_index: number;
};

export type Change = {
  readonly table: Table;
  readonly keyText: string;
  /** A row or a part of one that holds the key columns. */
  readonly key: Row;
  /** What the change says: a whole row, some columns of one, or amounts to add. */
  readonly values: Row;
  /** What the change takes the row before it to be: not there, of no concern, or needed to make the change. */
  readonly priorRow: "absent" | "ignored" | "needed";
  /** The row after the change; throws where the row should (not) have been there: that is a defect. */
  readonly apply: (this: Change, before: Row | null, origin: EventOrigin) => Row;
};

type KeyOf<C extends Columns, K extends keyof C & string> = Pick<RowOf<C>, K>;
/** What a fold says of a row; where it comes from is added by us. */
type Stated<C extends Columns> = Omit<RowOf<C>, keyof typeof PROVENANCE_COLUMNS>;

/** A row that is not there yet. */
export function insert<C extends Columns, K extends keyof C & string>(
  table: Table<C, K>,
  row: Stated<C>,
): Change {
  return change(table, row, row, "absent", applyInsert);
}

/** A row whatever was there before. */
export function upsert<C extends Columns, K extends keyof C & string>(
  table: Table<C, K>,
  row: Stated<C>,
): Change {
  return change(table, row, row, "ignored", applyPut);
}

/** Other values in some columns of a row that must be there. */
export function update<C extends Columns, K extends keyof C & string>(
  table: Table<C, K>,
  key: KeyOf<C, K>,
  fields: Partial<Stated<C>>,
): Change {
  return change(table, key, fields as Row, "needed", applyUpdate);
}

/** More (or less) in some counters; a row that is not there yet starts at zero. */
export function addAmounts<C extends Columns, K extends keyof C & string>(
  table: Table<C, K>,
  key: KeyOf<C, K>,
  amounts: Partial<Record<Exclude<keyof C & string, K>, bigint>>,
): Change {
  return change(table, key, amounts as Row, "needed", applyAdd);
}

function change<C extends Columns, K extends keyof C & string>(
  table: Table<C, K>,
  key: Row,
  values: Row,
  before: Change["priorRow"],
  apply: Change["apply"],
): Change {
  return {
    table: table as unknown as Table,
    keyText: formatKey(table.key, key),
    key,
    values,
    priorRow: before,
    apply,
  };
}

// One function for all changes of a kind: they are made by the million, and a closure for each would cost more than
// the change itself.

function applyInsert(this: Change, before: Row | null, origin: EventOrigin): Row {
  if (before) throw new Error(`${this.table.name} ${this.keyText} exists already`);
  return { ...this.values, ...origin };
}

function applyPut(this: Change, _before: Row | null, origin: EventOrigin): Row {
  return { ...this.values, ...origin };
}

function applyUpdate(this: Change, before: Row | null): Row {
  if (!before) throw new Error(`${this.table.name} ${this.keyText} is to be updated, but is not there`);
  return { ...before, ...this.values };
}

function applyAdd(this: Change, before: Row | null): Row {
  let next: Record<string, unknown> | null = before ? null : zeroRow(this.table, this.key);
  for (const name in this.values) {
    const amount = this.values[name] as bigint;
    if (amount === 0n) continue;
    next ??= { ...before };
    next[name] = (next[name] as bigint) + amount;
  }
  // Nothing to add leaves the very same row, so that no version is made of it.
  return next ?? (before as Row);
}

function zeroRow(table: Table, key: Row): Record<string, unknown> {
  return Object.fromEntries(Object.keys(table.columns).map((name) => [name, name in key ? key[name] : 0n]));
}
