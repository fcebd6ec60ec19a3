// Rows that a batch of blocks touches: loaded once, changed in memory in order, written as versions at the end.
import { AmountSum, type Change, type EventOrigin } from "../../schema/change.ts";
import type { RequiredRow } from "../../schema/domain.ts";
import type { Row, Table } from "../../schema/table.ts";

/** Reads the current rows of a table for some keys; the result has the existing ones, by key text. */
export type RowLoader = (table: Table, keys: readonly TouchedKey[]) => Promise<ReadonlyMap<string, Row>>;

export type TouchedKey = { readonly keyText: string; readonly key: Row };

/** The changes to one table: versions that end, and new versions. */
export type TableVersions = {
  readonly table: Table;
  readonly endedVersions: readonly (TouchedKey & { readonly at: number })[];
  readonly newVersions: readonly { readonly row: Row; readonly from: number; readonly to: number | null }[];
};

type Version = { readonly from: number; row: Row; to: number | null };
type WaitingChange = { readonly change: Change; readonly origin: EventOrigin };

type Entry = {
  readonly key: Row;
  /** The row before this batch; undefined until it is loaded. */
  before: Row | null | undefined;
  /** Whether changes wait for `before`. */
  isNeeded: boolean;
  /** Versions created by this batch: at most one per block, because the last one in a block wins. */
  versions: Version[];
  /** Changes that wait until `before` is loaded. */
  waiting: WaitingChange[];
  /** Additions in place of versions and waiting changes, if only the last row of the batch is stored. */
  sum: AmountSum | null;
};

// Most rows of a batch have one version and no waiting change. A list that grows by `push` has room for seventeen at once,
// which the garbage collector would copy with every row.
const NONE: never[] = [];

function append<T>(list: T[], item: T): T[] {
  if (list.length === 0) return [item];
  list.push(item);
  return list;
}

type TableEntries = { readonly table: Table; readonly entries: Map<string, Entry> };

export class RowVersions {
  readonly #loadRows: RowLoader;
  readonly #final: boolean;
  readonly #tables = new Map<string, TableEntries>();

  /** `final`: no reorg can undo the blocks, so that tables with `recent` history need only their last rows. */
  constructor(loadRows: RowLoader, { final = false }: { readonly final?: boolean } = {}) {
    this.#loadRows = loadRows;
    this.#final = final;
  }

  /** Makes rows available to `find`, with one query per table. */
  async load(needs: readonly RequiredRow[]): Promise<void> {
    const missing = new Map<string, TableEntries>();
    for (const { table, keyText, key } of needs) {
      const entry = this.#entry(table, keyText, key);
      if (entry.before !== undefined || entry.versions.length > 0) continue;
      const known = missing.get(table.name) ?? { table, entries: new Map() };
      missing.set(table.name, known);
      known.entries.set(keyText, entry);
    }
    await this.#loadEntries([...missing.values()]);
  }

  find(table: Table, keyText: string): Row | null {
    const row = this.latest(table, keyText);
    if (row === undefined)
      throw new Error(`fold read ${table.name} ${keyText} without declaring it as needed`);
    return row;
  }

  /** As `find`, but undefined if the batch does not know the row. */
  latest(table: Table, keyText: string): Row | null | undefined {
    const entry = this.#tables.get(table.name)?.entries.get(keyText);
    if (entry?.sum) return undefined;
    const version = entry?.versions.at(-1);
    return version ? version.row : entry?.before;
  }

  /** Calls `visit` with each row of these tables that the finished batch knows. */
  forEachLatest(
    tables: ReadonlySet<Table>,
    visit: (table: Table, keyText: string, row: Row | null) => void,
  ): void {
    for (const { table, entries } of this.#tables.values()) {
      if (!tables.has(table)) continue;
      entries.forEach(({ versions, before }, keyText) => {
        const row = versions.at(-1)?.row ?? before;
        if (row !== undefined) visit(table, keyText, row);
      });
    }
  }

  change(change: Change, origin: EventOrigin): void {
    const entry = this.#entry(change.table, change.keyText, change.key);
    if (this.#final && canSum(entry, change)) {
      const block = Number(origin.block_number);
      entry.isNeeded = true;
      entry.sum ??= new AmountSum(change, block);
      entry.sum.add(change, block);
      return;
    }
    // A change may claim that its row is new: the unique index on current rows rejects a wrong claim.
    if (change.priorRow === "absent" && entry.before === undefined) entry.before = null;
    const isReady = entry.versions.length > 0 || entry.before !== undefined || change.priorRow === "ignored";
    if (isReady && entry.waiting.length === 0) {
      applyChange(entry, change, origin);
    } else {
      entry.isNeeded = true;
      entry.waiting = append(entry.waiting, { change, origin });
    }
  }

  /** Loads what waiting changes need, applies them, and returns the versions of every table touched. */
  async finish(): Promise<readonly TableVersions[]> {
    await this.#loadEntries([...this.#tables.values()].map(selectUnloaded));
    for (const { entries } of this.#tables.values()) entries.forEach(applyWaiting);
    return [...this.#tables.values()]
      .map(toTableVersions)
      .filter(({ newVersions }) => newVersions.length > 0);
  }

  #entry(table: Table, keyText: string, key: Row): Entry {
    let rows = this.#tables.get(table.name);
    if (!rows) {
      rows = { table, entries: new Map() };
      this.#tables.set(table.name, rows);
    }
    let entry = rows.entries.get(keyText);
    if (!entry) {
      entry = { key, before: undefined, isNeeded: false, versions: NONE, waiting: NONE, sum: null };
      rows.entries.set(keyText, entry);
    }
    return entry;
  }

  // Requests all tables at once: the session runs them one after another, without idle time in between.
  async #loadEntries(missing: readonly TableEntries[]): Promise<void> {
    await Promise.all(
      missing.map(async ({ table, entries }) => {
        if (entries.size === 0) return;
        const found = await this.#loadRows(
          table,
          Array.from(entries, ([keyText, { key }]) => ({ keyText, key })),
        );
        for (const [keyText, entry] of entries) {
          entry.before = found.get(keyText) ?? null;
          applyWaiting(entry);
        }
      }),
    );
  }
}

/** Loads rows from earlier batches if they are known there, and stored rows otherwise. */
export function createOverlayLoader(earlier: Pick<RowVersions, "latest">, stored: RowLoader): RowLoader {
  return async (table, keys) => {
    const found = new Map<string, Row>();
    const unknown: TouchedKey[] = [];
    for (const touched of keys) {
      const row = earlier.latest(table, touched.keyText);
      if (row === undefined) unknown.push(touched);
      else if (row !== null) found.set(touched.keyText, row);
    }
    if (unknown.length > 0) for (const [key, row] of await stored(table, unknown)) found.set(key, row);
    return found;
  };
}

/** A row that a fold may read is changed at once. */
function canSum({ sum, before, versions }: Entry, change: Change): boolean {
  if (change.table.history !== "recent" || !AmountSum.accepts(change)) return false;
  return sum !== null || (before === undefined && versions.length === 0);
}

/** The entries whose changes wait for a row. By forEach, as the other passes over all entries: an iterator makes a pair of each. */
function selectUnloaded({ table, entries }: TableEntries): TableEntries {
  const unloaded = new Map<string, Entry>();
  entries.forEach((entry, keyText) => {
    if (entry.isNeeded && entry.before === undefined) unloaded.set(keyText, entry);
  });
  return { table, entries: unloaded };
}

/** Makes the changes that waited for the row. */
function applyWaiting(entry: Entry): void {
  const { waiting, sum, before = null } = entry;
  entry.waiting = NONE;
  for (const { change, origin } of waiting) applyChange(entry, change, origin);
  if (!sum) return;
  const row = sum.applyTo(before);
  if (row !== before) addVersion(entry, sum.block, row);
  entry.sum = null;
}

function applyChange(entry: Entry, change: Change, origin: EventOrigin): void {
  const latest = entry.versions.at(-1);
  const before = latest ? latest.row : (entry.before ?? null);
  const after = change.apply(before, origin);
  if (after === before) return;
  const from = Number(origin.block_number);
  if (latest?.from === from) latest.row = after;
  else addVersion(entry, from, after);
}

function addVersion(entry: Entry, from: number, row: Row): void {
  const latest = entry.versions.at(-1);
  if (latest) latest.to = from;
  entry.versions = append(entry.versions, { from, row, to: null });
}

function toTableVersions({ table, entries }: TableEntries): TableVersions {
  const endedVersions: (TouchedKey & { at: number })[] = [];
  const newVersions: Version[] = [];
  entries.forEach(({ key, before, versions }, keyText) => {
    const [first] = versions;
    if (!first) return;
    if (before !== null) endedVersions.push({ keyText, key, at: first.from });
    for (const version of versions) newVersions.push(version);
  });
  return { table, endedVersions, newVersions };
}
