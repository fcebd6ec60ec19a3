// How many connections are open at once, in all and per client, and a warning when that, or descriptors, run out.
import { readFileSync } from "node:fs";
import type { Server, Socket } from "node:net";
import { Fault } from "../../lib/fault.ts";
import type { Log, LogThrottle } from "../../lib/log.ts";
import { writeConnectionError } from "../error-responses.ts";
import { toClientId } from "./rate-limit.ts";

export type ConnectionLimitOptions = {
  /** In all; 0 is no limit. */
  readonly connectionsMax: number;
  /** Per client address; 0 is no limit, which it must be where a proxy opens all connections. */
  readonly perClientMax: number;
  readonly log: Log;
  readonly repeatLimit: LogThrottle;
};

// Kept for the database, for nodes and for files: without them no request could be served over the connections we have.
const DESCRIPTORS_RESERVED = 64;

export function limitConnections(server: Server, options: ConnectionLimitOptions): void {
  const { connectionsMax, perClientMax, log, repeatLimit: repeats } = options;
  const warn = (message: string, fields: Readonly<Record<string, unknown>>) =>
    repeats.report(message, (repeated) =>
      log.warn({ ...fields, ...(repeated === 0 ? {} : { repeated }) }, message),
    );
  const descriptors = usableDescriptors();
  const perClient = createCounts();

  if (connectionsMax > 0) server.maxConnections = connectionsMax;
  server.on("drop", () => warn("Connection limit reached, connection closed", { connectionsMax }));
  server.on("connection", (socket: Socket) => {
    // The system gives the lowest free number, so a high one tells that almost all are taken. It has to be found out
    // here: when none is left, libuv accepts and closes connections without any event.
    if (descriptors !== null && descriptorOf(socket) >= descriptors) {
      warn("File descriptors run out, connection closed", { descriptors });
      return void socket.destroy();
    }
    if (perClientMax === 0) return;
    const client = toClientId(socket.remoteAddress ?? "");
    socket.once("close", () => perClient.remove(client));
    if (perClient.add(client) <= perClientMax) return;
    warn("Connection limit of a client reached, connection closed", { client, perClientMax });
    const sentence = `There is a limit of ${perClientMax} connections per client.`;
    // There is room as soon as one of its other connections ends.
    writeConnectionError(new Fault("RATE_LIMITED", sentence), socket, { "retry-after": "1" });
  });
  server.on("error", (error: NodeJS.ErrnoException) => {
    // A failure to listen is reported to the caller of listen.
    if (server.listening) warn("A connection could not be accepted", { code: error.code ?? error.message });
  });
}

function createCounts(): { add(key: string): number; remove(key: string): void } {
  const counts = new Map<string, number>();
  return {
    add(key) {
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      return count;
    },
    remove(key) {
      const count = (counts.get(key) ?? 0) - 1;
      if (count > 0) counts.set(key, count);
      else counts.delete(key);
    },
  };
}

/** How many descriptors connections may use; null where the system does not say how many there are. */
function usableDescriptors(): number | null {
  let limits: string;
  try {
    limits = readFileSync("/proc/self/limits", "latin1");
  } catch {
    // Only Linux has this file.
    return null;
  }
  const soft = /^Max open files +([0-9]+)/m.exec(limits)?.[1];
  if (soft === undefined) return null;
  return Number(soft) - Math.min(DESCRIPTORS_RESERVED, Math.floor(Number(soft) / 4));
}

// What Node's sockets have beyond their declared type; -1 where there is no number.
function descriptorOf(socket: Socket): number {
  const { _handle: handle } = socket as Socket & { readonly _handle?: { readonly fd?: number } | null };
  return handle?.fd ?? -1;
}
