// A socket, including its TLS, that belongs to a thread: PostgreSQL keeps reading a batch while this process is busy.
//
// A local socket buffers 200 KB, which PostgreSQL reads in milliseconds, and a process that decodes and folds visits its
// event loop less often. So bytes are copied into a ring buffer that both threads share, and the thread sends them.
//
// Gain, for batches of 4 MB while the main thread folds the next one, with the server on the same two cores: 14 % of the
// time on a Unix socket, none over TCP, and a loss of 3 % over TLS (network sockets buffer several megabytes). It is used
// on every connection nevertheless, so that production and benchmark take one path. See threaded-socket.bench.ts.
// Delete it when batches are folded in another thread than the one that writes them, or when the gain is below 5 %.
import { Duplex } from "node:stream";
import { Worker } from "node:worker_threads";
import { Client, type ClientConfig } from "pg";
import { leaveTlsToStream } from "./driver-internals.ts";

// A whole batch of the indexer: the thread sends it while the next batch is folded.
const RING_BYTES = 8 * 1024 * 1024;
// The thread holds a few chunks at a time; the bytes themselves are in the ring.
const HEAP_LIMITS = { maxYoungGenerationSizeMb: 1, maxOldGenerationSizeMb: 32 };

type Address = { readonly path: string } | { readonly port: number; readonly host: string };

/** Options of tls.connect that can be sent to a thread. */
type TlsOptions = {
  readonly negotiation: "postgres" | "direct";
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly rejectUnauthorized?: boolean;
  /** `sslmode=verify-ca`: any host name is fine if the certificate is trusted. */
  readonly skipIdentityCheck: boolean;
};

type WorkerMessage = {
  readonly connected?: true;
  readonly read?: Uint8Array;
  readonly sent?: number;
  readonly ended?: true;
  readonly closed?: true;
  readonly failed?: { readonly message: string; readonly code?: string };
};

/** A client for bulk writes, whose socket (and TLS) belongs to a thread. */
export function createThreadedClient(config: ClientConfig): Client {
  const client = new Client({
    ...config,
    stream: (settings?: DriverSettings) => new ThreadedSocket(readTlsOptions(settings)),
  });
  leaveTlsToStream(client);
  return client;
}

/** What the driver passes to `stream`, whatever its declaration says. */
type DriverSettings = { readonly ssl?: unknown; readonly sslNegotiation?: string };

function readTlsOptions({ ssl, sslNegotiation }: DriverSettings = {}): TlsOptions | null {
  if (!ssl) return null;
  const given: Record<string, unknown> = typeof ssl === "object" ? { ...ssl } : {};
  // The driver hides the key from enumeration, so that it does not end up in logs.
  if (typeof ssl === "object" && "key" in ssl) given.key = ssl.key;
  const { checkServerIdentity, ...options } = given;
  return {
    ...options,
    negotiation: sslNegotiation === "direct" ? "direct" : "postgres",
    skipIdentityCheck: checkServerIdentity !== undefined,
  };
}

/** The part of a net.Socket that the driver uses. */
export class ThreadedSocket extends Duplex {
  readonly #ring = new Uint8Array(new SharedArrayBuffer(RING_BYTES));
  readonly #tls: TlsOptions | null;
  #thread: Worker | null = null;
  #freeBytes = RING_BYTES;
  #position = 0;
  #hasEnded = false;
  #pendingChunks: Buffer[] = [];
  #pendingCallback: (() => void) | null = null;

  constructor(tls: TlsOptions | null = null) {
    super();
    this.#tls = tls;
  }

  connect(portOrPath: number | string, host = "localhost"): this {
    const address: Address =
      typeof portOrPath === "string" ? { path: portOrPath } : { port: portOrPath, host };
    const thread = new Worker(new URL("threaded-socket-worker.mjs", import.meta.url), {
      workerData: { ring: this.#ring.buffer, address, tls: this.#tls },
      resourceLimits: HEAP_LIMITS,
      // The worker needs none of our loaders and profilers.
      execArgv: [],
    });
    this.#thread = thread;
    thread.on("message", (message: WorkerMessage) => this.#onMessage(message));
    thread.on("error", (error) => this.destroy(error));
    thread.on("exit", () => this.#close());
    return this;
  }

  /** The thread always does. */
  setNoDelay(): this {
    return this;
  }

  setKeepAlive(_enable: boolean, keepAliveMs: number): this {
    this.#thread?.postMessage({ keepAliveMs });
    return this;
  }

  ref(): this {
    this.#thread?.ref();
    return this;
  }

  unref(): this {
    this.#thread?.unref();
    return this;
  }

  override _write(chunk: Buffer, _encoding: string, callback: () => void): void {
    this.#send([chunk], callback);
  }

  override _writev(writes: readonly { chunk: Buffer }[], callback: () => void): void {
    this.#send(
      writes.map(({ chunk }) => chunk),
      callback,
    );
  }

  /** Responses are pushed as they arrive, without backpressure: a connection that writes gets few of them. */
  override _read(): void {}

  override _final(callback: () => void): void {
    this.#thread?.postMessage({ end: true });
    callback();
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    const finish = () => callback(error);
    const terminated = this.#thread?.terminate() ?? Promise.resolve();
    this.#thread = null;
    terminated.then(finish, finish);
  }

  #onMessage({ connected, read, sent, ended, closed, failed }: WorkerMessage): void {
    if (connected) this.emit("connect");
    if (read) this.push(Buffer.from(read.buffer, read.byteOffset, read.byteLength));
    if (sent) {
      this.#freeBytes += sent;
      this.#fillRing();
    }
    if (ended) this.#endReading();
    if (failed) this.destroy(Object.assign(new Error(failed.message), { code: failed.code }));
    if (closed) this.#close();
  }

  #endReading(): void {
    if (!this.#hasEnded) this.push(null);
    this.#hasEnded = true;
  }

  /** Waits until everything is read: the server's last message says why it disconnects. */
  #close(): void {
    if (this.destroyed) return;
    this.#endReading();
    if (this.readableEnded) this.destroy();
    else this.once("end", () => this.destroy());
  }

  #send(chunks: Buffer[], callback: () => void): void {
    this.#pendingChunks = chunks;
    this.#pendingCallback = callback;
    this.#fillRing();
  }

  /** Copies as much as fits; the rest follows when the thread has sent something. */
  #fillRing(): void {
    let bytes = 0;
    for (let chunk = this.#pendingChunks[0]; chunk && this.#freeBytes > 0; chunk = this.#pendingChunks[0]) {
      const length = Math.min(chunk.length, this.#freeBytes, RING_BYTES - this.#position);
      this.#ring.set(chunk.subarray(0, length), this.#position);
      this.#position = (this.#position + length) % RING_BYTES;
      this.#freeBytes -= length;
      bytes += length;
      if (length < chunk.length) this.#pendingChunks[0] = chunk.subarray(length);
      else this.#pendingChunks.shift();
    }
    if (bytes > 0) this.#thread?.postMessage({ bytes });
    if (this.#pendingChunks.length > 0) return;
    const callback = this.#pendingCallback;
    this.#pendingCallback = null;
    callback?.();
  }
}
