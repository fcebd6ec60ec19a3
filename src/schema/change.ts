// What an event does to a row: create it, replace it, update some columns, or add to its counters.

import { type Columns, keyText, type PROVENANCE, type Row, type RowOf, type Table } from "./table.ts";

/** Which block, transaction and log a change comes from. */
export type Origin = { readonly block_number: bigint; readonly tx_hash: string; readonly log_index: number };

export type Change = {
  readonly table: Table;
  readonly keyText: string;
  /** A row or a part of one that holds the key columns. */
  readonly key: Row;
  /** What the change takes the row before it to be: not there, of no concern, or needed to make the change. */
  readonly before: "absent" | "ignored" | "needed";
  /** The row after the change; throws where the row should (not) have been there: that is a defect. */
  readonly apply: (before: Row | null, origin: Origin) => Row;
};

type KeyOf<C extends Columns, K extends keyof C & string> = Pick<RowOf<C>, K>;
/** What a fold says of a row; where it comes from is added by us. */
type Stated<C extends Columns> = Omit<RowOf<C>, keyof typeof PROVENANCE>;

/** A row that is not there yet. */
export function insert<C extends Columns, K extends keyof C & string>(
  table: Table<C, K>,
  row: Stated<C>,
): Change {
  const text = keyText(table.key, row);
  return {
    table: table as unknown as Table,
    keyText: text,
    key: row,
    before: "absent",
    apply: (before, origin) => {
      if (before) throw new Error(`${table.name} ${text} exists already`);
      return { ...row, ...origin };
    },
  };
}

/** A row whatever was there before. */
export function put<C extends Columns, K extends keyof C & string>(
  table: Table<C, K>,
  row: Stated<C>,
): Change {
  return {
    table: table as unknown as Table,
    keyText: keyText(table.key, row),
    key: row,
    before: "ignored",
    apply: (_before, origin) => ({ ...row, ...origin }),
  };
}

/** Other values in some columns of a row that must be there. */
export function update<C extends Columns, K extends keyof C & string>(
  table: Table<C, K>,
  key: KeyOf<C, K>,
  fields: Partial<Stated<C>>,
): Change {
  const text = keyText(table.key, key);
  return {
    table: table as unknown as Table,
    keyText: text,
    key,
    before: "needed",
    apply: (before) => {
      if (!before) throw new Error(`${table.name} ${text} is to be updated, but is not there`);
      return { ...before, ...fields };
    },
  };
}

/** More (or less) in some counters; a row that is not there yet starts at zero. */
export function add<C extends Columns, K extends keyof C & string>(
  table: Table<C, K>,
  key: KeyOf<C, K>,
  amounts: Partial<Record<Exclude<keyof C & string, K>, bigint>>,
): Change {
  return {
    table: table as unknown as Table,
    keyText: keyText(table.key, key),
    key,
    before: "needed",
    apply: (before) => {
      const increments = Object.entries(amounts).filter(([, amount]) => amount !== 0n);
      if (before && increments.length === 0) return before;
      const next: Record<string, unknown> = { ...(before ?? zeroRow(table as unknown as Table, key)) };
      for (const [name, amount] of increments) next[name] = (next[name] as bigint) + (amount as bigint);
      return next;
    },
  };
}

function zeroRow(table: Table, key: Row): Row {
  return Object.fromEntries(Object.keys(table.columns).map((name) => [name, name in key ? key[name] : 0n]));
}
