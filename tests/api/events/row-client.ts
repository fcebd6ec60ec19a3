// A client of events with rows as documented: it has every row of the index from nothing but the changes, also after an undo.
import { expect } from "vitest";
import type { EventRecord } from "../../../src/protocol/event-page.ts";
import { VERSIONED_TABLES } from "../../../src/protocol/event-page.ts";
import type { Database } from "../../../src/store/postgres/database.ts";

export type EventWithRows = EventRecord & { readonly rows: NonNullable<EventRecord["rows"]> };
type RowChangeRecord = EventWithRows["rows"][number];
type PlainRow = RowChangeRecord["after"];

/** A row as one text, whatever the order of its columns. */
export function textOf(row: PlainRow): string {
  return JSON.stringify(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1)));
}

const nameOf = ({ table, key }: Pick<RowChangeRecord, "table" | "key">) => `${table} ${textOf(key)}`;

export class RowClient {
  readonly events: EventWithRows[] = [];
  readonly #rows = new Map<string, PlainRow>();
  undoCount = 0;

  apply(event: EventRecord): void {
    const { rows } = event;
    if (!rows) throw new Error(`${event.type} in block ${event.block_number} has no rows`);
    for (const change of rows) {
      expect(this.#rows.get(nameOf(change)) ?? null, `${nameOf(change)} before ${event.id}`).toEqual(
        change.before,
      );
      this.#rows.set(nameOf(change), change.after);
    }
    this.events.push({ ...event, rows });
  }

  undo({ block_number }: { readonly block_number: string }): void {
    this.undoCount += 1;
    while (Number(this.events.at(-1)?.block_number ?? -1) > Number(block_number)) {
      for (const change of [...(this.events.pop()?.rows ?? [])].reverse()) {
        if (change.before === null) this.#rows.delete(nameOf(change));
        else this.#rows.set(nameOf(change), change.before);
      }
    }
  }

  /** The last row after each block that changed it is the stored version of that block, and the only one. */
  async expectStoredVersions(database: Database): Promise<void> {
    const expected = new Map<string, string>();
    for (const { rows, block_number } of this.events) {
      for (const change of rows) expected.set(`${nameOf(change)} at ${block_number}`, textOf(change.after));
    }
    const stored = new Map<string, string>();
    for (const { table, row, from, isCurrent } of await readVersions(database)) {
      const key = Object.fromEntries(table.key.map((name) => [name, row[name] ?? null]));
      const name = nameOf({ table: table.name, key });
      stored.set(`${name} at ${from}`, textOf(row));
      if (isCurrent) expect(this.#rows.get(name), name).toEqual(row);
    }
    expect(expected.size).toBeGreaterThan(0);
    expect([...expected].sort()).toEqual([...stored].sort());
  }

  get tables(): readonly string[] {
    return [...new Set(this.events.flatMap(({ rows }) => rows.map(({ table }) => table)))].sort();
  }
}

async function readVersions(database: Database) {
  const lists = VERSIONED_TABLES.map(async (table) => {
    const { rows } = await database.query<Record<string, string | number | boolean | null>>(
      `select * from ${table.name}`,
    );
    return rows.map(({ valid_from, valid_to, ...row }) => ({
      ...{ table, row, from: String(valid_from), isCurrent: valid_to === null },
    }));
  });
  return (await Promise.all(lists)).flat();
}
