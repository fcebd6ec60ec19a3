// Limits open connections, in total and per client, and warns when connections or file descriptors run out.
import { readFileSync } from "node:fs";
import type { Server, Socket } from "node:net";
import { ClientCounts } from "../../lib/client-networks.ts";
import { Fault } from "../../lib/fault.ts";
import type { Log, LogThrottle } from "../../lib/log.ts";
import { writeConnectionError } from "../error-responses.ts";
import { toClientId } from "./request-guard.ts";

export type ConnectionLimitOptions = {
  /** In total; 0 means no limit. */
  readonly connectionsMax: number;
  /** Per client address; 0 means no limit, as it must be behind a proxy, which opens all connections. */
  readonly perClientMax: number;
  readonly log: Log;
  readonly repeatLimit: LogThrottle;
};

// For the database, nodes and files: without them no request on the open connections could be served.
const DESCRIPTORS_RESERVED = 64;

export function limitConnections(server: Server, options: ConnectionLimitOptions): void {
  const { connectionsMax, perClientMax } = options;
  const warn = createWarnings(options);
  const descriptorsMax = findUsableDescriptors();
  const counts = new ClientCounts();

  if (connectionsMax > 0) server.maxConnections = connectionsMax;
  server.on("drop", () => warn.connectionLimit(connectionsMax));
  server.on("connection", (socket: Socket) => {
    // The system assigns the lowest free number, so a high one means that almost all are taken. It must be noticed
    // here: once none is left, libuv accepts and closes connections without any event.
    if (descriptorsMax !== null && descriptorOf(socket) >= descriptorsMax) {
      warn.descriptorLimit(descriptorsMax);
      return void socket.destroy();
    }
    if (perClientMax === 0) return;
    const client = toClientId(socket.remoteAddress ?? "");
    const full = counts.findFull(client, perClientMax);
    counts.add(client);
    socket.once("close", () => counts.remove(client));
    if (full === null) return;
    warn.clientConnectionLimit(full.id, perClientMax);
    const fault = new Fault("RATE_LIMITED", `At most ${perClientMax} connections per client.`);
    // A new connection is possible as soon as another of this client ends.
    writeConnectionError(fault, socket, { "retry-after": "1" });
  });
  server.on("error", (error: NodeJS.ErrnoException) => {
    // A failure to listen is reported to the caller of listen.
    if (!server.listening) return;
    warn.acceptFailed(error.code ?? error.message);
  });
}

/** Under load each of these could repeat thousands of times a second. */
function createWarnings({ log, repeatLimit }: Pick<ConnectionLimitOptions, "log" | "repeatLimit">) {
  const report = (key: string, write: (fields: { readonly repeated: number | undefined }) => void) =>
    repeatLimit.report(key, (repeated) => write({ repeated: repeated || undefined }));
  return {
    connectionLimit: (connectionsMax: number) =>
      report("connection_limit", (repeats) =>
        log.warn(
          { component: "http", event: "connection_limit", connectionsMax, ...repeats },
          "Connection limit reached, connection closed",
        ),
      ),
    descriptorLimit: (descriptors: number) =>
      report("descriptor_limit", (repeats) =>
        log.warn(
          { component: "http", event: "descriptor_limit", descriptors, ...repeats },
          "File descriptors run out, connection closed",
        ),
      ),
    clientConnectionLimit: (client: string, perClientMax: number) =>
      report("client_connection_limit", (repeats) =>
        log.warn(
          { component: "http", event: "client_connection_limit", client, perClientMax, ...repeats },
          "Connection limit of a client reached, connection closed",
        ),
      ),
    acceptFailed: (code: string) =>
      report("accept_failed", (repeats) =>
        log.warn({ component: "http", event: "accept_failed", code, ...repeats }, "Connection not accepted"),
      ),
  };
}

/** How many descriptors connections may use; null if the system does not say how many there are. */
function findUsableDescriptors(): number | null {
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

// Node does not declare the handle of a socket; -1 without one.
export function descriptorOf(socket: Socket): number {
  const { _handle: handle } = socket as Socket & { readonly _handle?: { readonly fd?: number } | null };
  return handle?.fd ?? -1;
}
