// A socket that is served by a thread of its own, so that a server with much to read never waits for a busy process.
import { Duplex } from "node:stream";
import { Worker } from "node:worker_threads";

// A whole batch of the indexer: then it is on its way while the next one is folded.
const RING_BYTES = 8 * 1024 * 1024;
// The thread holds a few pieces at a time; the bytes themselves lie in the ring.
const HEAP_LIMITS = { maxYoungGenerationSizeMb: 1, maxOldGenerationSizeMb: 32 };

type Address = { readonly path: string } | { readonly port: number; readonly host: string };

type Told = {
  readonly connected?: true;
  readonly read?: Uint8Array;
  readonly sent?: number;
  readonly ended?: true;
  readonly closed?: true;
  readonly failed?: { readonly message: string; readonly code: string };
};

/**
 * The part of a net.Socket that the database driver uses.
 *
 * A local socket takes 200 KB at a time, which a server reads in a few milliseconds; a process that decodes and folds
 * looks at its sockets less often than that. So bytes are copied into a ring that both threads see, and the other
 * thread, which does nothing else, sends them whenever there is room.
 */
export class ThreadedSocket extends Duplex {
  readonly #ring = new Uint8Array(new SharedArrayBuffer(RING_BYTES));
  #thread: Worker | null = null;
  #free = RING_BYTES;
  #at = 0;
  #ended = false;
  #waiting: Buffer[] = [];
  #done: (() => void) | null = null;

  connect(portOrPath: number | string, host = "localhost"): this {
    const address: Address =
      typeof portOrPath === "string" ? { path: portOrPath } : { port: portOrPath, host };
    const thread = new Worker(new URL("threaded-socket-worker.mjs", import.meta.url), {
      workerData: { ring: this.#ring.buffer, address },
      resourceLimits: HEAP_LIMITS,
      // Neither our loaders nor our profilers: it is a dozen lines.
      execArgv: [],
    });
    this.#thread = thread;
    thread.on("message", (told: Told) => this.#hear(told));
    thread.on("error", (error) => this.destroy(error));
    thread.on("exit", () => this.#leave());
    return this;
  }

  /** The thread does so unasked. */
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

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#send([chunk], done);
  }

  override _writev(written: readonly { chunk: Buffer }[], done: () => void): void {
    this.#send(
      written.map(({ chunk }) => chunk),
      done,
    );
  }

  /** Whatever the server says is pushed as it comes: on a connection that writes, that is little. */
  override _read(): void {}

  override _final(done: () => void): void {
    this.#thread?.postMessage({ end: true });
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    const over = () => done(error);
    const ending = this.#thread?.terminate() ?? Promise.resolve();
    this.#thread = null;
    ending.then(over, over);
  }

  #hear({ connected, read, sent, ended, closed, failed }: Told): void {
    if (connected) this.emit("connect");
    if (read) this.push(Buffer.from(read.buffer, read.byteOffset, read.byteLength));
    if (sent) {
      this.#free += sent;
      this.#fillRing();
    }
    if (ended) this.#endReading();
    if (failed) this.destroy(Object.assign(new Error(failed.message), { code: failed.code }));
    if (closed) this.#leave();
  }

  #endReading(): void {
    if (!this.#ended) this.push(null);
    this.#ended = true;
  }

  /** Not before everything is read that the server has said: why it hangs up, for one. */
  #leave(): void {
    if (this.destroyed) return;
    this.#endReading();
    if (this.readableEnded) this.destroy();
    else this.once("end", () => this.destroy());
  }

  #send(chunks: Buffer[], done: () => void): void {
    this.#waiting = chunks;
    this.#done = done;
    this.#fillRing();
  }

  /** Takes as much as there is room for; the rest when the thread has told of more. */
  #fillRing(): void {
    let bytes = 0;
    for (let chunk = this.#waiting[0]; chunk && this.#free > 0; chunk = this.#waiting[0]) {
      const length = Math.min(chunk.length, this.#free, RING_BYTES - this.#at);
      this.#ring.set(chunk.subarray(0, length), this.#at);
      this.#at = (this.#at + length) % RING_BYTES;
      this.#free -= length;
      bytes += length;
      if (length < chunk.length) this.#waiting[0] = chunk.subarray(length);
      else this.#waiting.shift();
    }
    if (bytes > 0) this.#thread?.postMessage({ bytes });
    if (this.#waiting.length > 0) return;
    const done = this.#done;
    this.#done = null;
    done?.();
  }
}
