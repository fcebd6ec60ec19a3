// The reference model of the store: a full copy of every table for every block.
import { formatKey, type Row } from "../../../src/schema/table.ts";
import { SAMPLE_DECLARATIONS, type SampleChange, sampleTableOf } from "./sample-tables.ts";

/** Rows by table name, then by key text. */
export type PlainTables = ReadonlyMap<string, ReadonlyMap<string, Row>>;

type PlainPosition = { readonly block: number; readonly tx_hash: string; readonly log_index: number };

export class PlainHistory {
  readonly #states = new Map<number, Map<string, Map<string, Row>>>();
  #head: number;

  constructor(firstBlock: number) {
    this.#head = firstBlock;
    this.#states.set(firstBlock, new Map(SAMPLE_DECLARATIONS.map(({ table }) => [table.name, new Map()])));
  }

  get head(): number {
    return this.#head;
  }

  at(block: number): PlainTables {
    const state = this.#states.get(block);
    if (!state) throw new Error(`block ${block} was never made`);
    return state;
  }

  /** Adds a block, which begins as the last one ended. */
  begin(): void {
    const copy = new Map([...this.at(this.#head)].map(([name, rows]) => [name, new Map(rows)]));
    this.#head += 1;
    this.#states.set(this.#head, copy);
  }

  find(act: Pick<SampleChange, "table" | "key">): Row | null {
    const { table, key } = sampleTableOf(act);
    return (
      this.at(this.#head)
        .get(table.name)
        ?.get(formatKey(table.key, key(act.key))) ?? null
    );
  }

  /** Applies the change in the newest block. */
  change(act: SampleChange, { tx_hash, log_index }: Omit<PlainPosition, "block">): void {
    const { table, key, values, fields, counts } = sampleTableOf(act);
    const before = this.find(act);
    const origin = { block_number: BigInt(this.#head), tx_hash, log_index };
    const made = { ...key(act.key), ...values(act.value), ...(table.hasProvenance ? origin : {}) };
    const after =
      act.verb === "update"
        ? { ...before, ...fields(act.value) }
        : act.verb === "add" && counts && before
          ? { ...before, ...sums(before, values(act.value)) }
          : made;
    this.#states.get(this.#head)?.get(table.name)?.set(formatKey(table.key, after), after);
  }

  rollback(block: number): void {
    for (let gone = block + 1; gone <= this.#head; gone += 1) this.#states.delete(gone);
    this.#head = block;
  }
}

function sums(before: Row, amounts: Row): Row {
  return Object.fromEntries(
    Object.entries(amounts).map(([name, amount]) => [name, (before[name] as bigint) + (amount as bigint)]),
  );
}

/** A row as the database driver returns it: text if JavaScript has no exact type. */
export function toStoredRow(row: Row): Row {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, typeof value === "bigint" ? String(value) : value]),
  );
}
