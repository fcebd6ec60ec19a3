// Load on an HTTP server: so many connections, each asking again as soon as it was answered.
import { connect, type Socket } from "node:net";

export type LoadResult = { readonly requests: number; readonly ms: number };

export type LoadOptions = {
  readonly url: string;
  readonly connections: number;
  readonly ms: number;
  /** The path of the `number`-th request. */
  readonly path: (number: number) => string;
  /** What every answer must have as its status. */
  readonly status: number;
  readonly header?: string;
  /** Hears how long each answer was waited for. */
  readonly onResponseMs?: (ms: number) => void;
};

// Longer than any answer of a server that still lives.
const SILENCE_MS_MAX = 15_000;
const HEAD_END = Buffer.from("\r\n\r\n");

// Over bare sockets, because Node's HTTP client costs more than the servers it would measure.
/** Asks until the time is over; fails when any answer has another status than the one expected. */
export async function runHttpLoad(asked: LoadOptions): Promise<LoadResult> {
  const { hostname, port } = new URL(asked.url);
  const sockets = await Promise.all(
    Array.from({ length: asked.connections }, () => open(hostname, Number(port))),
  );
  const startedMs = performance.now();
  let number = 0;
  let requests = 0;
  const tail = `HTTP/1.1\r\nHost: ${hostname}:${port}\r\n${asked.header ? `${asked.header}\r\n` : ""}\r\n`;
  const wanted = `HTTP/1.1 ${asked.status} `;
  try {
    await Promise.all(
      sockets.map(
        (socket) =>
          new Promise<void>((resolve, reject) => {
            let sentMs = 0;
            const next = () => {
              sentMs = performance.now();
              if (sentMs - startedMs >= asked.ms) return resolve();
              const path = asked.path(number);
              number += 1;
              socket.write(`GET ${path} ${tail}`);
            };
            const answered = () => {
              requests += 1;
              asked.onResponseMs?.(performance.now() - sentMs);
              next();
            };
            socket.on("data", createMessageReader(wanted, answered, reject));
            socket.setTimeout(SILENCE_MS_MAX, () => reject(new Error(`${asked.url} fell silent`)));
            socket.once("error", reject);
            socket.once("close", () => reject(new Error(`${asked.url} closed a connection`)));
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

/** One answer at a time is on the way, so an answer begins where the last one ended: at the start of a chunk. */
function createMessageReader(wanted: string, answered: () => void, failed: (error: Error) => void) {
  let begun: Buffer | null = null;
  let missing = 0;
  return (chunk: Buffer): void => {
    if (missing > 0) {
      missing -= chunk.length;
      if (missing === 0) answered();
      return;
    }
    const head: Buffer = begun ? Buffer.concat([begun, chunk]) : chunk;
    const end = head.indexOf(HEAD_END);
    if (end < 0) {
      begun = head;
      return;
    }
    begun = null;
    const text = head.toString("latin1", 0, end);
    if (!text.startsWith(wanted)) {
      failed(new Error(`expected ${wanted}, got ${text.slice(0, 200)}`));
      return;
    }
    missing = lengthOf(text) - (head.length - end - HEAD_END.length);
    if (missing === 0) answered();
  };
}

function lengthOf(head: string): number {
  if (head.startsWith("HTTP/1.1 304")) return 0;
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
  if (length === undefined) throw new Error(`an answer without a length: ${head}`);
  return Number(length);
}
