// The driver (pg 8.23.1): exact column values, and the only use of parts that its type declarations leave out.
import type { EventEmitter } from "node:events";
import { type Client, type Connection, type CustomTypesConfig, Query, types } from "pg";

type DriverQuery = {
  readonly text: string;
  name: string;
  values: readonly unknown[];
  callback: (error: unknown) => void;
  submit(connection: Connection): Error | null;
};

/** Pipelined connections accept only the driver's own class and its subclasses. */
export const NamedQuery = Query as unknown as new (text: string) => DriverQuery;

type ConnectionInternals = Connection & {
  attachListeners(stream: EventEmitter): void;
  endCopyFrom(): void;
};

/** Sends CopyDone without a Sync. */
export function endCopy(connection: Connection): void {
  (connection as ConnectionInternals).endCopyFrom();
}

/** The pid of the backend that serves a client. */
export function backendPid(client: Client): number {
  return (client as Client & { readonly processID: number }).processID;
}

/** Replaces how a client listens to its stream; `listen` is the driver's own way. Call it before connecting. */
export function interceptStream(
  client: Client,
  attach: (stream: EventEmitter, listen: (stream: EventEmitter) => void) => void,
): void {
  const connection = client.connection as ConnectionInternals;
  const listen = connection.attachListeners.bind(connection);
  connection.attachListeners = (stream) => attach(stream, listen);
}

// Values are text if JavaScript has no exact type for them.
const TEXT_ARRAY: number = 1009;
const TIMESTAMP_ARRAY = 1115;
const DATE_ARRAY = 1182;
const NUMERIC_ARRAY = 1231;

export const parseAsText = (value: string): string => value;
const parseTextArray = types.getTypeParser(TEXT_ARRAY, "text");

// The driver reads arrays of numeric as floats, and dates without a zone as midnight in this machine's zone: both
// silently change values. It returns text, int8 and numeric unchanged too; parseAsText lets RawRowQuery skip them.
const EXACT: ReadonlyMap<number, (value: string) => unknown> = new Map([
  [types.builtins.TEXT, parseAsText],
  [types.builtins.INT8, parseAsText],
  [types.builtins.NUMERIC, parseAsText],
  // Hex as responses have it. Every session sets bytea_output.
  [types.builtins.BYTEA, (value: string) => `0x${value.slice(2)}`],
  [types.builtins.DATE, parseAsText],
  [types.builtins.TIMESTAMP, parseAsText],
  [DATE_ARRAY, parseTextArray],
  [TIMESTAMP_ARRAY, parseTextArray],
  [NUMERIC_ARRAY, parseTextArray],
]);

export const typeParsers: CustomTypesConfig = {
  getTypeParser: (oid: number, format?: "text" | "binary") =>
    (format !== "binary" && EXACT.get(oid)) || types.getTypeParser(oid, format ?? "text"),
};
