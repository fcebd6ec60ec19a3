// Load on an HTTP server: a number of connections, each with its next request on a response.
import { connect, type Socket } from "node:net";

export type LoadResult = { readonly requests: number; readonly ms: number };

type LoadOptions = {
  readonly url: string;
  readonly connections: number;
  readonly ms: number;
  /** Ends the load before its time, with the responses that are on their way. */
  readonly signal?: AbortSignal;
  /** The path of the `number`-th request, which this connection sends. */
  readonly path: (number: number, connection: number) => string;
  /** Expected status of every response. */
  readonly status: number;
  readonly header?: string;
  /** How long a connection may wait for a response. */
  readonly silenceMsMax?: number;
  /** Called with the latency of each response. */
  readonly onResponseMs?: (ms: number) => void;
};

// Longer than a response of the indexing API takes.
const SILENCE_MS_MAX = 15_000;
const HEAD_END = Buffer.from("\r\n\r\n");

// Over bare sockets, because Node's HTTP client costs more than the servers it would measure.
/** Sends requests until the time is over; fails on an unexpected status. */
export async function runHttpLoad(options: LoadOptions): Promise<LoadResult> {
  const { hostname, port } = new URL(options.url);
  const sockets = await Promise.all(
    Array.from({ length: options.connections }, () => open(hostname, Number(port))),
  );
  const startedMs = performance.now();
  let number = 0;
  let requests = 0;
  const tail = `HTTP/1.1\r\nHost: ${hostname}:${port}\r\n${options.header ? `${options.header}\r\n` : ""}\r\n`;
  const wanted = `HTTP/1.1 ${options.status} `;
  try {
    await Promise.all(
      sockets.map(
        (socket, connection) =>
          new Promise<void>((resolve, reject) => {
            let sentMs = 0;
            const next = () => {
              sentMs = performance.now();
              if (sentMs - startedMs >= options.ms || options.signal?.aborted) return resolve();
              const path = options.path(number, connection);
              number += 1;
              socket.write(`GET ${path} ${tail}`);
            };
            const onResponse = () => {
              requests += 1;
              options.onResponseMs?.(performance.now() - sentMs);
              next();
            };
            socket.on("data", createMessageReader(wanted, onResponse, reject));
            socket.setTimeout(options.silenceMsMax ?? SILENCE_MS_MAX, () =>
              reject(new Error(`${options.url} stopped responding`)),
            );
            socket.once("error", reject);
            socket.once("close", () => reject(new Error(`${options.url} closed a connection`)));
            next();
          }),
      ),
    );
    return { requests, ms: performance.now() - startedMs };
  } finally {
    for (const socket of sockets) socket.destroy();
  }
}

function open(host: string, port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, noDelay: true }, () => {
      socket.off("error", reject);
      resolve(socket);
    });
    socket.once("error", reject);
  });
}

/** One response at a time is in flight, so each begins at the start of a chunk. */
function createMessageReader(wanted: string, onResponse: () => void, failed: (error: Error) => void) {
  let partial: Buffer | null = null;
  let missing = 0;
  return (chunk: Buffer): void => {
    if (missing > 0) {
      missing -= chunk.length;
      if (missing === 0) onResponse();
      return;
    }
    const head: Buffer = partial ? Buffer.concat([partial, chunk]) : chunk;
    const end = head.indexOf(HEAD_END);
    if (end < 0) {
      partial = head;
      return;
    }
    partial = null;
    const text = head.toString("latin1", 0, end);
    if (!text.startsWith(wanted)) {
      failed(new Error(`expected ${wanted}, got ${text.slice(0, 200)}`));
      return;
    }
    missing = lengthOf(text) - (head.length - end - HEAD_END.length);
    if (missing === 0) onResponse();
  };
}

function lengthOf(head: string): number {
  if (head.startsWith("HTTP/1.1 304")) return 0;
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
  if (length === undefined) throw new Error(`a response without a length: ${head}`);
  return Number(length);
}
