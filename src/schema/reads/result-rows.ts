// What a statement answered, and the one place where a row of it becomes a record.

/** Cells in the order of the columns: numbers as text, booleans, JSON as objects. */
export type ResultRows = {
  /** A name that begins with _ is for whoever wrote the statement: no record has it. */
  readonly columns: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
};

export type ResultRow = Readonly<Record<string, unknown>>;

/** The rows as objects, or the first few of them. */
export function toRecords({ columns, rows }: ResultRows, countMax = rows.length): ResultRow[] {
  const shown = shownOf(columns);
  const records: ResultRow[] = [];
  for (let index = 0; index < rows.length && index < countMax; index += 1) {
    const cells = rows[index] as readonly unknown[];
    const record: Record<string, unknown> = {};
    for (const { name, at } of shown) record[name] = cells[at];
    records.push(record);
  }
  return records;
}

type Shown = { readonly name: string; readonly at: number };

// A statement that is asked again and again has the same list of columns each time.
const shownByColumns = new WeakMap<readonly string[], readonly Shown[]>();

function shownOf(columns: readonly string[]): readonly Shown[] {
  const known = shownByColumns.get(columns);
  if (known) return known;
  const shown = columns.flatMap((name, at) => (name.startsWith("_") ? [] : [{ name, at }]));
  shownByColumns.set(columns, shown);
  return shown;
}

/** The only row, or the first; null where there is none. */
export function toFirstRecord(answered: ResultRows): ResultRow | null {
  return toRecords(answered, 1)[0] ?? null;
}

/** What a column that no record shows holds in a row. */
export function readHiddenColumn({ columns, rows }: ResultRows, row: number, name: string): unknown {
  return rows[row]?.[columns.indexOf(name)];
}
