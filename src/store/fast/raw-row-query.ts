// A named statement for the driver whose rows stay lists of cells, and whose columns are asked for once per connection.
import { type Connection, Query } from "pg";
import type { ResultRows } from "../../schema/reads/result-rows.ts";
import { parseAsText, typeParsers } from "../postgres/type-parsers.ts";

type Shape = {
  /** What the name stands for on this connection. */
  readonly text: string;
  readonly columns: readonly string[];
  /** Those that are something else than their text. */
  readonly parsed: readonly { readonly at: number; readonly parse: (text: string) => unknown }[];
};

type Description = { readonly fields: readonly { readonly name: string; readonly dataTypeID: number }[] };

// What the driver's query is beyond its declared type.
type DriverQuery = {
  readonly text: string;
  name: string;
  values: readonly unknown[];
  callback: (error: unknown) => void;
  submit(connection: Connection): Error | null;
};
// Pipelined connections take no other class than the driver's own.
const NamedQuery = Query as unknown as new (text: string) => DriverQuery;

// As long as a connection knows a statement its columns are the same: the server refuses it once they would change.
const shapes = new WeakMap<Connection, Map<string, Shape>>();

export class RawRowQuery extends NamedQuery {
  /** Read by the driver. */
  readonly query_timeout: number;
  #shape: Shape | undefined;
  #known: Map<string, Shape> | undefined;
  #rows: unknown[][] | null = null;

  constructor(
    statement: { readonly name: string; readonly text: string; readonly values: readonly unknown[] },
    timeoutMs: number,
    done: (error: unknown, answered: ResultRows) => void,
  ) {
    super(statement.text);
    this.name = statement.name;
    this.values = statement.values;
    this.query_timeout = timeoutMs;
    this.callback = (error) => {
      const rows = this.#rows ?? [];
      // The query may have grown old while it waited, and what an old object holds stays, be it needed or not.
      this.#rows = null;
      done(error, { columns: this.#shape?.columns ?? [], rows });
    };
  }

  override submit(connection: Connection): Error | null {
    this.#known = shapesOf(connection);
    const shape = this.#known.get(this.name);
    // How a statement is prepared, and lists and the like are written, is the driver's business.
    if (shape?.text !== this.text || !this.values.every(isPlain)) return super.submit(connection);
    this.#shape = shape;
    connection.bind({ statement: this.name, values: this.values as string[], valueMapper: plainText }, true);
    connection.execute(null, true);
    connection.sync();
    return null;
  }

  // The driver calls these methods by name as the server's messages arrive.
  handleRowDescription({ fields }: Description): void {
    const parsers = fields.map(({ dataTypeID }) => typeParsers.getTypeParser(dataTypeID, "text"));
    this.#shape = {
      text: this.text,
      columns: fields.map(({ name }) => name),
      parsed: parsers.flatMap((parse, at) => (parse === parseAsText ? [] : [{ at, parse }])),
    };
    this.#known?.set(this.name, this.#shape);
  }

  handleDataRow({ fields: cells }: { readonly fields: unknown[] }): void {
    // Made no sooner: lists that wait for an answer look long-lived to the engine, which then makes all of them so.
    this.#rows ??= [];
    this.#rows.push(cells);
  }

  handleReadyForQuery(): void {
    let failure: unknown = null;
    try {
      this.#parse();
    } catch (error) {
      failure = error;
    }
    this.callback(failure);
  }

  handleError(error: unknown): void {
    this.callback(error);
  }

  handleCommandComplete(): void {}

  #parse(): void {
    for (const { at, parse } of this.#shape?.parsed ?? []) {
      for (const cells of this.#rows ?? []) {
        if (cells[at] !== null) cells[at] = parse(cells[at] as string);
      }
    }
  }
}

function shapesOf(connection: Connection): Map<string, Shape> {
  const known = shapes.get(connection);
  if (known) return known;
  const made = new Map<string, Shape>();
  shapes.set(connection, made);
  return made;
}

function isPlain(value: unknown): boolean {
  return value === null || typeof value !== "object";
}

function plainText(value: unknown): string | null {
  return value === null || value === undefined ? null : String(value);
}
