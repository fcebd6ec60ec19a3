// An independent read model, written from the description of the protocol: rows in maps, events in order.
import type { ModelEvent } from "./model-events.ts";

/** A row as the database gives it: integers as text, except those of at most sixteen bits. */
export type PlainRow = Readonly<Record<string, string | number | boolean | null>>;
type Input = Readonly<Record<string, unknown>>;

type ModelRule = (model: ReadModel, event: ModelEvent) => void;
/** Rules by contract and event, as in "AgentRegistry.AgentRevoked". */
export type ModelRules = Readonly<Record<string, ModelRule>>;

export class ReadModel {
  readonly #tables = new Map<string, Map<string, PlainRow>>();
  readonly #rules: ModelRules;

  constructor(rules: ModelRules) {
    this.#rules = rules;
  }

  /** Shares the rows, which are replaced and never changed. */
  copy(): ReadModel {
    const copied = new ReadModel(this.#rules);
    for (const [table, rows] of this.#tables) copied.#tables.set(table, new Map(rows));
    return copied;
  }

  apply(event: ModelEvent): void {
    const rule = this.#rules[`${event.contract}.${event.event}`];
    if (!rule) throw new Error(`the model does not know ${event.contract}.${event.event}`);
    rule(this, event);
  }

  rows(table: string): PlainRow[] {
    return [...(this.#tables.get(table)?.values() ?? [])];
  }

  get(table: string, key: unknown): PlainRow {
    const row = this.#tables.get(table)?.get(keyOf(key));
    if (!row) throw new Error(`the model has no ${table} ${keyOf(key)}`);
    return row;
  }

  has(table: string, key: unknown): boolean {
    return this.#tables.get(table)?.has(keyOf(key)) ?? false;
  }

  /** Adds or replaces a row, with its provenance. */
  put(table: string, key: unknown, row: Input, event: ModelEvent): void {
    this.#set(table, key, {
      ...plain(row),
      block_number: String(event.block),
      tx_hash: event.transactionHash,
      log_index: event.logIndex,
    });
  }

  change(table: string, key: unknown, fields: Input): void {
    this.#set(table, key, { ...this.get(table, key), ...plain(fields) });
  }

  /** Adds to the counters of a row; a new row begins with `start`: the key columns and zeros. */
  count(table: string, key: unknown, start: Input, amounts: Readonly<Record<string, bigint>>): void {
    const before: PlainRow = this.has(table, key) ? this.get(table, key) : plain(start);
    const after = Object.entries(amounts).map(([name, amount]) => {
      const counted = before[name];
      if (typeof counted !== "string") throw new Error(`${table}.${name} counts nothing`);
      return [name, String(BigInt(counted) + amount)] as const;
    });
    this.#set(table, key, { ...before, ...Object.fromEntries(after) });
  }

  #set(table: string, key: unknown, row: PlainRow): void {
    const rows = this.#tables.get(table) ?? new Map<string, PlainRow>();
    this.#tables.set(table, rows.set(keyOf(key), row));
  }
}

function keyOf(key: unknown): string {
  return JSON.stringify(Array.isArray(key) ? key.map(plainValue) : [plainValue(key)]);
}

function plain(row: Input): PlainRow {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, plainValue(value)]));
}

/** Large integers become text; addresses become lower case. */
function plainValue(value: unknown): string | number | boolean | null {
  if (typeof value === "bigint") return String(value);
  if (typeof value === "string") return /^0x[0-9a-fA-F]{40}$/.test(value) ? value.toLowerCase() : value;
  if (typeof value === "number" || typeof value === "boolean" || value === null) return value;
  throw new Error(`no column holds ${String(value)}`);
}

/** The value of an event argument; throws for a misspelt name. */
export function eventArgument<T = bigint>(event: ModelEvent, name: string): T {
  if (!(name in event.args)) throw new Error(`${event.event} has no argument ${name}`);
  return event.args[name] as T;
}
