// Changes of rows by an event: insert, upsert, update of some columns, or addition to counters.

import {
  type Columns,
  formatKey,
  type PROVENANCE_COLUMNS,
  type Row,
  type RowOf,
  type Table,
} from "./table.ts";

/** The block, transaction and log that a change comes from. */
export type EventOrigin = {
  readonly block_number: bigint;
  readonly tx_hash: string;
  readonly log_index: number;
};

export type Change = {
  readonly table: Table;
  readonly keyText: string;
  /** A row, or a part of one, with the key columns. */
  readonly key: Row;
  /** A whole row, some of its columns, or amounts to add. */
  readonly values: Row;
  /** The change's expectation of the prior row. */
  readonly priorRow: "absent" | "ignored" | "needed";
  /** The row after the change; throws if the prior row is unexpectedly present or absent, which is a defect. */
  readonly apply: (this: Change, before: Row | null, origin: EventOrigin) => Row;
};

type KeyOf<C extends Columns, K extends keyof C & string> = Pick<RowOf<C>, K>;
/** A row as a fold writes it; `apply` adds the origin. */
type FoldedRow<C extends Columns> = Omit<RowOf<C>, keyof typeof PROVENANCE_COLUMNS>;

/** Creates a row that must not exist. */
export function insert<C extends Columns, K extends keyof C & string>(
  table: Table<C, K>,
  row: FoldedRow<C>,
): Change {
  return change(table, row, row, "absent", applyInsert);
}

/** Writes a row, whatever was there before. */
export function upsert<C extends Columns, K extends keyof C & string>(
  table: Table<C, K>,
  row: FoldedRow<C>,
): Change {
  return change(table, row, row, "ignored", applyUpsert);
}

/** Changes some columns of a row that must exist. */
export function update<C extends Columns, K extends keyof C & string>(
  table: Table<C, K>,
  key: KeyOf<C, K>,
  fields: Partial<FoldedRow<C>>,
): Change {
  return change(table, key, fields as Row, "needed", applyUpdate);
}

/** Adds to some counters, or subtracts; a missing row starts at zero. */
export function addAmounts<C extends Columns, K extends keyof C & string>(
  table: Table<C, K>,
  key: KeyOf<C, K>,
  amounts: Partial<Record<Exclude<keyof C & string, K>, bigint>>,
): Change {
  return change(table, key, amounts as Row, "needed", applyAdd);
}

/** Additions to one row, summed before the row is known. */
export class AmountSum {
  readonly #first: Change;
  readonly #amounts: Record<string, bigint> = {};
  /** The block of the last addition that is not zero, or of the first addition if all are. */
  block: number;
  #isZero = true;

  constructor(first: Change, block: number) {
    this.#first = first;
    this.block = block;
  }

  /** Whether a change adds to counters, so that it may come before or after other additions. */
  static accepts({ apply }: Change): boolean {
    return apply === applyAdd;
  }

  add({ values }: Change, block: number): void {
    for (const name in values) {
      const amount = values[name] as bigint;
      if (amount === 0n) continue;
      this.#amounts[name] = (this.#amounts[name] ?? 0n) + amount;
      this.block = block;
      this.#isZero = false;
    }
  }

  /** The row after all additions; the same row if none of them added anything. */
  applyTo(before: Row | null): Row {
    if (before && this.#isZero) return before;
    return addTo(before ? { ...before } : zeroRow(this.#first.table, this.#first.key), this.#amounts);
  }
}

function change<C extends Columns, K extends keyof C & string>(
  table: Table<C, K>,
  key: Row,
  values: Row,
  priorRow: Change["priorRow"],
  apply: Change["apply"],
): Change {
  return {
    table,
    keyText: formatKey(table.key, key),
    key,
    values,
    priorRow,
    apply,
  };
}

// One function for all changes of a kind: there are millions, and a closure for each would cost more than the change.

function applyInsert(this: Change, before: Row | null, origin: EventOrigin): Row {
  if (before) throw new Error(`${this.table.name} ${this.keyText} already exists`);
  return { ...this.values, ...origin };
}

function applyUpsert(this: Change, _before: Row | null, origin: EventOrigin): Row {
  return { ...this.values, ...origin };
}

function applyUpdate(this: Change, before: Row | null): Row {
  if (!before)
    throw new Error(`${this.table.name} ${this.keyText} cannot be updated, because it does not exist`);
  return { ...before, ...this.values };
}

function applyAdd(this: Change, before: Row | null): Row {
  if (!before) return addTo(zeroRow(this.table, this.key), this.values);
  // Without anything to add, the same row: no new version is written.
  for (const name in this.values) if (this.values[name] !== 0n) return addTo({ ...before }, this.values);
  return before;
}

/** Counters and amounts are bigints: `addAmounts` accepts nothing else. */
function addTo(row: Record<string, unknown>, amounts: Row): Row {
  for (const name in amounts) row[name] = (row[name] as bigint) + (amounts[name] as bigint);
  return row;
}

function zeroRow(table: Table, key: Row): Record<string, unknown> {
  return Object.fromEntries(Object.keys(table.columns).map((name) => [name, name in key ? key[name] : 0n]));
}
