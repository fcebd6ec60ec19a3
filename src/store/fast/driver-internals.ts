// The parts of the driver (pg 8.23.1) that its type declarations leave out: the only place that depends on them.
import type { EventEmitter } from "node:events";
import { type Client, type Connection, Query } from "pg";

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
