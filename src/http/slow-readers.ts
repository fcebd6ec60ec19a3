// Bounds what slow readers make us hold: a minimum rate for every response, and no next response while much is unread.

import { readFileSync, readlinkSync } from "node:fs";
import { readFile } from "node:fs/promises";
import type { Server } from "node:http";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

export type SlowReaderLimits = {
  /** Reading n unread bytes may take this long, and n / rate more. */
  readonly graceMs: number;
  readonly bytesPerSecondMin: number;
  /** Time that quick reading saves for later: as much as these bytes take at the minimum rate. */
  readonly savedBytesMax: number;
  /** With more than this unread, the next request of the connection waits while memory is scarce. */
  readonly unreadBytesMax: number;
  /** Memory is scarce when all connections of the machine hold more than this in the kernel. */
  readonly tcpBytesMax: number;
  readonly checkMs: number;
};

export const SLOW_READER_LIMITS: SlowReaderLimits = {
  // A phone in a tunnel comes back within this time.
  graceMs: 30_000,
  // 128 kbit/s: a line of the second generation of mobile networks. A page of a list has half a megabyte: 62 seconds.
  bytesPerSecondMin: 16 * 1_024,
  // A kernel takes this much before its program has read anything, and then nothing until the program has read.
  savedBytesMax: 6 * 1_024 * 1_024,
  // Clients that read a response before they send the next request have hardly anything unread. The kernel would hold
  // four megabytes for others.
  unreadBytesMax: 256 * 1_024,
  // As much as sixteen connections that read nothing. Below it nothing is wrong, and looking closer would cost more.
  tcpBytesMax: 64 * 1_024 * 1_024,
  checkMs: 5_000,
};

// How often the memory is read, which takes a tenth of a millisecond.
const MEMORY_MS = 100;
// The list of all connections takes milliseconds: at most a tenth of the time, unless the machine is busy anyway.
const REST_PER_LIST = 10;
const REST_MS_MAX = 100;

/** The state of a connection with something unread, as of the last check. */
type Reading = {
  readonly atMs: number;
  readonly readBytes: number;
  /** How much time is left; reading adds to it. */
  readonly leftMs: number;
  /** Once the client has read up to here, all that was unread when its time began, it has a new grace. */
  readonly dueBytes: number;
};

type Connection = {
  readonly socket: Socket;
  /** Null until it is needed, and if the system has none. */
  inode: string | null;
  /** How much had been written when the client had read nearly everything. */
  confirmedBytes: number;
  reading: Reading | null;
};

/** How much had been written to a connection before the stream that is open on it. */
const bytesBeforeStream = new WeakMap<Socket, number>();

/**
 * Exempts an open stream from the idle timeout and the minimum rate: it is quiet as long as nothing happens, and what
 * writes to it also decides when to give it up. Call the returned function once everything is written: what the client
 * has not read by then, and further responses of the connection, are like any other.
 */
export function exemptStream(socket: Socket): () => void {
  const idleMs = socket.timeout ?? 0;
  socket.setTimeout(0);
  bytesBeforeStream.set(socket, socket.bytesWritten);
  let isOpen = true;
  return () => {
    if (!isOpen) return;
    isOpen = false;
    bytesBeforeStream.delete(socket);
    socket.setTimeout(idleMs);
  };
}

const countDue = (socket: Socket) => bytesBeforeStream.get(socket) ?? socket.bytesWritten;

export class SlowReaders {
  readonly #limits: SlowReaderLimits;
  readonly #connections = new Map<Socket, Connection>();
  #queues: Promise<SendQueues | null> | null = null;
  #nextListMs = 0;
  #isScarce = false;
  #nextMemoryMs = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(server: Server, limits: SlowReaderLimits = SLOW_READER_LIMITS) {
    this.#limits = limits;
    server.on("connection", (socket: Socket) => this.#add(socket));
  }

  /**
   * Null if the next request of the connection may start at once, as almost always; otherwise resolves when the client has
   * read what was sent before, or is gone.
   */
  waitUntilRead(socket: Socket): Promise<void> | null {
    const connection = this.#connections.get(socket);
    if (!connection || socket.bytesWritten - connection.confirmedBytes <= this.#limits.unreadBytesMax)
      return null;
    return this.#isMemoryScarce() ? this.#waitUntilRead(connection) : null;
  }

  async #waitUntilRead(connection: Connection): Promise<void> {
    const { socket } = connection;
    while (!socket.destroyed) {
      const written = socket.bytesWritten;
      if (this.#countUnread(connection, await this.#readQueues()) > this.#limits.unreadBytesMax) continue;
      connection.confirmedBytes = written;
      return;
    }
  }

  #isMemoryScarce(): boolean {
    const nowMs = performance.now();
    if (nowMs >= this.#nextMemoryMs) {
      this.#nextMemoryMs = nowMs + MEMORY_MS;
      this.#isScarce = readTcpMemory() > this.#limits.tcpBytesMax;
    }
    return this.#isScarce;
  }

  #add(socket: Socket): void {
    this.#connections.set(socket, { socket, inode: null, confirmedBytes: 0, reading: null });
    this.#timer ??= setInterval(() => void this.#check(), this.#limits.checkMs).unref();
    socket.once("close", () => {
      this.#connections.delete(socket);
      if (this.#connections.size > 0 || this.#timer === null) return;
      clearInterval(this.#timer);
      this.#timer = null;
    });
  }

  /** Callers share the list while it is being read or waits for its turn. */
  #readQueues(): Promise<SendQueues | null> {
    this.#queues ??= this.#readNextQueues().finally(() => {
      this.#queues = null;
    });
    return this.#queues;
  }

  async #readNextQueues(): Promise<SendQueues | null> {
    await sleep(Math.max(0, this.#nextListMs - performance.now()));
    const startMs = performance.now();
    const queues = await readSendQueues();
    const endMs = performance.now();
    this.#nextListMs = endMs + Math.min(REST_MS_MAX, REST_PER_LIST * (endMs - startMs));
    return queues;
  }

  #countUnread(connection: Connection, queues: SendQueues | null): number {
    const { socket } = connection;
    if (queues !== null) connection.inode ??= findInode(socket);
    return countWaiting(socket) + (queues?.get(connection.inode ?? "") ?? 0);
  }

  async #check(): Promise<void> {
    const suspects = [...this.#connections.values()].filter(
      ({ socket, confirmedBytes, reading }) => countDue(socket) > confirmedBytes || reading !== null,
    );
    if (suspects.length === 0) return;
    const queues = await this.#readQueues();
    for (const each of suspects) this.#cutIfSlow(each, queues);
  }

  #cutIfSlow(connection: Connection, queues: SendQueues | null): void {
    const { socket } = connection;
    const read = socket.bytesWritten - this.#countUnread(connection, queues);
    const dueBytes = countDue(socket);
    if (read >= dueBytes) {
      connection.reading = null;
      connection.confirmedBytes = dueBytes;
      return;
    }
    connection.reading = this.#continueReading(connection.reading, read, dueBytes);
    // A reset: after a mere close the kernel would go on holding what is unread.
    if (connection.reading.leftMs < 0) socket.resetAndDestroy();
  }

  #continueReading(last: Reading | null, readBytes: number, dueBytes: number): Reading {
    const { graceMs, bytesPerSecondMin, savedBytesMax } = this.#limits;
    const toMs = (bytes: number) => (bytes / bytesPerSecondMin) * 1_000;
    const atMs = performance.now();
    if (last === null) return { atMs, readBytes, leftMs: graceMs, dueBytes };
    const leftMs = Math.min(
      last.leftMs - (atMs - last.atMs) + toMs(readBytes - last.readBytes),
      graceMs + toMs(savedBytesMax),
    );
    return readBytes < last.dueBytes
      ? { atMs, readBytes, leftMs, dueBytes: last.dueBytes }
      : { atMs, readBytes, leftMs: Math.max(leftMs, graceMs), dueBytes };
  }
}

/** The parts of a socket that Node does not declare. */
type SocketHandle = {
  readonly fd?: number;
  readonly bytesWritten?: number;
  readonly writeQueueSize?: number;
};

const handleOf = (socket: Socket): SocketHandle =>
  (socket as Socket & { readonly _handle?: SocketHandle | null })._handle ?? {};

/** The number of its file; -1 for a socket that is closed. */
export function descriptorOf(socket: Socket): number {
  return handleOf(socket).fd ?? -1;
}

/** The bytes that the kernel has not taken yet: the rest of the present write, and what comes after it. */
function countWaiting(socket: Socket): number {
  const { bytesWritten: begun = socket.bytesWritten, writeQueueSize = 0 } = handleOf(socket);
  return writeQueueSize + socket.bytesWritten - begun;
}

/** Bytes by connection; connections without any are left out. */
type SendQueues = ReadonlyMap<string, number>;

// The columns: number, local and remote address, state, bytes to send and to read, timer, retries, user, timeout, inode.
const LINE = /^ *\d+: \S+ \S+ \S\S (?!00000000)([0-9A-F]{8}):\S+ \S+ \S+ +\d+ +\d+ (\d+) /gm;
const FILES = ["/proc/self/net/tcp", "/proc/self/net/tcp6"];

/** Null if the system does not say it: only Linux does. Takes some milliseconds, of which the kernel needs most. */
export async function readSendQueues(): Promise<SendQueues | null> {
  const queues = new Map<string, number>();
  try {
    for (const file of FILES) {
      const text = await readFile(file, "latin1");
      for (const [, bytes = "", inode = ""] of text.matchAll(LINE))
        queues.set(inode, Number.parseInt(bytes, 16));
    }
  } catch {
    // A system without these files.
    return null;
  }
  return queues;
}

// The page size of Linux on every processor that Node has packages for; elsewhere it is a few times larger.
const PAGE_BYTES = 4_096;

/**
 * The bytes that all TCP connections of the machine hold in the kernel, read in a tenth of a millisecond; 0 if unknown.
 */
function readTcpMemory(): number {
  try {
    return (
      Number(/^TCP: .* mem (\d+)/m.exec(readFileSync("/proc/self/net/sockstat", "latin1"))?.[1] ?? 0) *
      PAGE_BYTES
    );
  } catch {
    // A system without this file.
    return 0;
  }
}

/** The key of a connection in the queues; null for one that is closed, or if the system does not report it. */
export function findInode(socket: Socket): string | null {
  try {
    return /\d+/.exec(readlinkSync(`/proc/self/fd/${descriptorOf(socket)}`))?.[0] ?? null;
  } catch {
    // Closed, or a system without these files.
    return null;
  }
}
