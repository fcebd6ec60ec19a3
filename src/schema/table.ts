// Declares tables of indexed rows: columns, key, indexes, and how much history they keep.
import type { Hex } from "../lib/hex.ts";
import { bytes32, type Column, uint16, uint63, type ValueOf } from "./column.ts";

export type Columns = Readonly<Record<string, Column<unknown>>>;
export type RowOf<C> = { readonly [Name in keyof C]: ValueOf<C[Name]> };

/** A row of any table: plain values by column name. */
export type Row = Readonly<Record<string, unknown>>;

/**
 * `full` keeps every version, so that the past can be read at any block. `recent` keeps versions only back to the
 * finalized block: right for rollups that change with almost every event.
 */
type History = "full" | "recent";

export type Table<C extends Columns = Columns, K extends keyof C & string = keyof C & string> = {
  readonly name: string;
  /** All columns in the order they are written, including the provenance columns. */
  readonly columns: C;
  readonly key: readonly K[];
  /** For lists, of now and of the past: each begins with the columns of a filter and ends with the order. */
  readonly indexes: readonly (readonly string[])[];
  /** For reads that search the current rows only. */
  readonly currentIndexes: readonly (readonly string[])[];
  readonly history: History;
  /** Whether the contract counts the only key column up: a row that began later has a higher key. */
  readonly countsUp: boolean;
  /** Whether rows carry the block, transaction and log that wrote them. */
  readonly hasProvenance: boolean;
};

type IndexColumns<C> = readonly (readonly (keyof C & string)[])[];

export const PROVENANCE_COLUMNS = { block_number: uint63, tx_hash: bytes32, log_index: uint16 } as const;

export function defineTable<C extends Columns, const K extends keyof C & string>(
  name: string,
  columns: C,
  options: {
    key: readonly K[];
    countsUp?: boolean;
    index?: IndexColumns<C>;
    currentIndex?: IndexColumns<C>;
  },
): Table<C & typeof PROVENANCE_COLUMNS, K> {
  return {
    name,
    columns: { ...columns, ...PROVENANCE_COLUMNS },
    key: options.key,
    indexes: options.index ?? [],
    currentIndexes: options.currentIndex ?? [],
    history: "full",
    countsUp: options.countsUp ?? false,
    hasProvenance: true,
  };
}

/** A table of counters: rows start at zero, and changes only add amounts. */
export function defineRollup<C extends Columns, const K extends keyof C & string>(
  name: string,
  columns: C,
  options: { key: readonly K[]; currentIndex?: IndexColumns<C>; history?: History },
): Table<C, K> {
  const { key, currentIndex = [], history = "recent" } = options;
  return {
    name,
    columns,
    key,
    indexes: [],
    currentIndexes: currentIndex,
    history,
    countsUp: false,
    hasProvenance: false,
  };
}

/** The columns that are not part of the key, such as the counters of a rollup. */
export function listValueColumns<C extends Columns, K extends keyof C & string>({
  columns,
  key,
}: Table<C, K>): readonly Exclude<keyof C & string, K>[] {
  const names = Object.keys(columns) as (keyof C & string)[];
  return names.filter((name): name is Exclude<keyof C & string, K> => !key.some((part) => part === name));
}

/** The key as one text; its parts are hex, digits or names, so a bar can separate them. */
export function formatKey(key: readonly string[], row: Row): string {
  // A loop, because this runs several times per event.
  let text = formatPart(row[key[0] ?? ""]);
  for (let i = 1; i < key.length; i += 1) text += `|${formatPart(row[key[i] ?? ""])}`;
  return text;
}

/** Engines remember the text of a small number, and write that of a bigint each time. */
function formatPart(value: unknown): string {
  if (typeof value !== "bigint") return String(value);
  const exact = Number(value);
  return String(Number.isSafeInteger(exact) ? exact : value);
}

/** The zero address and hash, which the protocol uses for "none". */
export const ZERO_ADDRESS: Hex = `0x${"0".repeat(40)}`;
export const ZERO_HASH: Hex = `0x${"0".repeat(64)}`;
