// The rows that a batch of blocks touches: loaded once, changed in memory in order, written as versions at the end.
import type { Change, EventOrigin } from "../../schema/change.ts";
import type { RequiredRow } from "../../schema/domain.ts";
import type { Row, Table } from "../../schema/table.ts";

/** Reads the current rows of a table for some keys: those there are, by key text. */
export type RowLoader = (table: Table, keys: readonly TouchedKey[]) => Promise<ReadonlyMap<string, Row>>;

export type TouchedKey = { readonly keyText: string; readonly key: Row };

/** What is to be written of one table: which versions end where, and which begin. */
export type TableVersions = {
  readonly table: Table;
  readonly endedVersions: readonly (TouchedKey & { readonly at: number })[];
  readonly newVersions: readonly { readonly row: Row; readonly from: number; readonly to: number | null }[];
};

export type RowVersions = {
  /** Makes rows available to `find`; one query per table, however many are needed. */
  load(needs: readonly RequiredRow[]): Promise<void>;
  find(table: Table, keyText: string): Row | null;
  change(change: Change, origin: EventOrigin): void;
  /** As `find`, but undefined where the batch does not know the row. */
  latest(table: Table, keyText: string): Row | null | undefined;
  /** Loads what changes still need, makes them, and answers with the versions of every table touched. */
  finish(): Promise<readonly TableVersions[]>;
};

type Version = { readonly from: number; row: Row };

type Entry = {
  readonly key: Row;
  /** The row before this batch; undefined as long as nobody needed to know it. */
  before: Row | null | undefined;
  /** Whether `before` has to be loaded. */
  needed: boolean;
  /** Versions made by this batch: at most one a block, because within a block the last one wins. */
  readonly versions: Version[];
  /** Changes that wait for the row before the batch. */
  readonly waiting: { readonly change: Change; readonly origin: EventOrigin }[];
};

type Rows = { readonly table: Table; readonly entries: Map<string, Entry> };

export function createRowVersions(loadRows: RowLoader): RowVersions {
  const tables = new Map<string, Rows>();

  const entryOf = (table: Table, keyText: string, key: Row): Entry => {
    let rows = tables.get(table.name);
    if (!rows) {
      rows = { table, entries: new Map() };
      tables.set(table.name, rows);
    }
    let entry = rows.entries.get(keyText);
    if (!entry) {
      entry = { key, before: undefined, needed: false, versions: [], waiting: [] };
      rows.entries.set(keyText, entry);
    }
    return entry;
  };

  // All tables are asked for at once: they are answered one after another, but nobody's turn comes in between.
  const loadNeeded = async (): Promise<void> => {
    await Promise.all(
      [...tables.values()].map(async ({ table, entries }) => {
        const missing: (TouchedKey & { readonly entry: Entry })[] = [];
        for (const [keyText, entry] of entries) {
          if (entry.needed && entry.before === undefined) missing.push({ keyText, key: entry.key, entry });
        }
        if (missing.length === 0) return;
        const found = await loadRows(table, missing);
        for (const { keyText, entry } of missing) entry.before = found.get(keyText) ?? null;
      }),
    );
  };

  const latest: RowVersions["latest"] = (table, keyText) => {
    const entry = tables.get(table.name)?.entries.get(keyText);
    const version = entry?.versions.at(-1);
    return version ? version.row : entry?.before;
  };

  return {
    async load(needs) {
      for (const { table, keyText, key } of needs) entryOf(table, keyText, key).needed = true;
      await loadNeeded();
    },
    latest,
    find(table, keyText) {
      const row = latest(table, keyText);
      if (row === undefined) throw new Error(`a fold looks at ${table.name} ${keyText} without needing it`);
      return row;
    },
    change(change, origin) {
      const entry = entryOf(change.table, change.keyText, change.key);
      // A row that is said to be new is taken at its word: the unique index on current rows refuses a lie.
      if (change.priorRow === "absent" && entry.before === undefined) entry.before = null;
      const ready = entry.versions.length > 0 || entry.before !== undefined || change.priorRow === "ignored";
      if (ready && entry.waiting.length === 0) return applyTo(entry, change, origin);
      entry.needed = true;
      entry.waiting.push({ change, origin });
    },
    async finish() {
      await loadNeeded();
      for (const { entries } of tables.values()) {
        for (const entry of entries.values()) {
          for (const { change, origin } of entry.waiting.splice(0)) applyTo(entry, change, origin);
        }
      }
      return [...tables.values()].map(versionsOf).filter(({ newVersions: begun }) => begun.length > 0);
    },
  };
}

/** Rows that the batch before has left, where it knows them, and stored ones where it does not. */
export function createOverlayLoader(before: Pick<RowVersions, "latest">, stored: RowLoader): RowLoader {
  return async (table, keys) => {
    const found = new Map<string, Row>();
    const unknown: TouchedKey[] = [];
    for (const touched of keys) {
      const row = before.latest(table, touched.keyText);
      if (row === undefined) unknown.push(touched);
      else if (row !== null) found.set(touched.keyText, row);
    }
    if (unknown.length > 0) for (const [key, row] of await stored(table, unknown)) found.set(key, row);
    return found;
  };
}

function applyTo(entry: Entry, change: Change, origin: EventOrigin): void {
  const latest = entry.versions.at(-1);
  const before = latest ? latest.row : (entry.before ?? null);
  const after = change.apply(before, origin);
  if (after === before) return;
  const from = Number(origin.block_number);
  if (latest?.from === from) latest.row = after;
  else entry.versions.push({ from, row: after });
}

function versionsOf({ table, entries }: Rows): TableVersions {
  const ended: (TouchedKey & { at: number })[] = [];
  const begun: { row: Row; from: number; to: number | null }[] = [];
  for (const [keyText, { key, before, versions }] of entries) {
    const [first] = versions;
    if (!first) continue;
    if (before !== null) ended.push({ keyText, key, at: first.from });
    versions.forEach(({ row, from }, index) => {
      begun.push({ row, from, to: versions[index + 1]?.from ?? null });
    });
  }
  return { table, endedVersions: ended, newVersions: begun };
}
