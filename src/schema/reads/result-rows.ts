// The rows of a statement, and the one place where a row becomes a record.

/** Cells in the order of the columns: numbers as text, booleans, JSON as objects. */
export type ResultRows = {
  /** A name that begins with _ is internal to the statement: no record shows it. */
  readonly columns: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
};

export type ResultRow = Readonly<Record<string, unknown>>;

/** The rows as objects, or the first few of them. */
export function toRecords({ columns, rows }: ResultRows, countMax = rows.length): ResultRow[] {
  const visible = visibleColumnsOf(columns);
  const records: ResultRow[] = [];
  for (const cells of rows) {
    if (records.length >= countMax) break;
    const record: Record<string, unknown> = {};
    for (const { name, at } of visible) record[name] = cells[at];
    records.push(record);
  }
  return records;
}

type VisibleColumn = { readonly name: string; readonly at: number };

// Repeated statements have the same column list each time.
const visibleColumns = new WeakMap<readonly string[], readonly VisibleColumn[]>();

function visibleColumnsOf(columns: readonly string[]): readonly VisibleColumn[] {
  const known = visibleColumns.get(columns);
  if (known) return known;
  const visible = columns.flatMap((name, at) => (name.startsWith("_") ? [] : [{ name, at }]));
  visibleColumns.set(columns, visible);
  return visible;
}

/** The first record; null if there is no row. */
export function toFirstRecord(rows: ResultRows): ResultRow | null {
  return toRecords(rows, 1)[0] ?? null;
}

/** The cell of a column that records do not show. */
export function readHiddenColumn({ columns, rows }: ResultRows, row: number, name: string): unknown {
  return rows[row]?.[columns.indexOf(name)];
}
