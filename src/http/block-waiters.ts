// Requests that wait until the index has a block: one list per process, woken by change notifications, with a poll behind.

import { parseUint } from "../lib/decimal.ts";
import { Fault } from "../lib/fault.ts";
import { type Parameter, queryParameter, uintParameter } from "../schema/parameter.ts";
import {
  BLOCK_MAX,
  createBlockNotIndexedFault,
  type MinBlock,
  RETRY_AFTER_SECONDS,
} from "../schema/reads/read.ts";
import type { RouteRequest } from "./internal-requests.ts";

export type BlockWaitersOptions = {
  /** The number of the newest indexed block; null while nothing is indexed. */
  readonly readHead: () => Promise<bigint | null>;
  readonly waitMsMax?: number;
  /** The time limit of a request; a wait takes at most half of it, so that time is left to respond. 0: none. */
  readonly requestMsMax?: number;
  readonly waitersMax?: number;
  readonly waitersPerClientMax?: number;
  readonly pollMs?: number;
};

type BlockWait = {
  readonly minBlock: MinBlock;
  readonly client: string;
  /** Aborts when the client is gone. */
  readonly signal: AbortSignal;
};

// A block and the time to index it. A client that needs longer asks again: a waiting request holds a connection.
const WAIT_MS_MAX = 5_000;
// Besides every other request, a few kilobytes each.
const WAITERS_MAX = 1_000;
// More reads than a page makes at once; one client must not take every slot.
const WAITERS_PER_CLIENT_MAX = 50;
// Notifications arrive within milliseconds. This is for the time without a connection that listens, one query at a time.
const POLL_MS = 250;

type Waiter = { readonly minBlock: bigint; readonly wake: () => void; readonly fail: (fault: Fault) => void };

export class BlockWaiters {
  readonly #options: Required<BlockWaitersOptions>;
  readonly #waiters = new Set<Waiter>();
  readonly #countByClient = new Map<string, number>();
  #head: bigint | null = null;
  #read: "idle" | "running" | "outdated" = "idle";
  /** When the head could last not be read: it is tried again by the poll, not by each waiter. */
  #failedMs = Number.NEGATIVE_INFINITY;
  #poll: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: BlockWaitersOptions) {
    const { requestMsMax = 0, waitMsMax = WAIT_MS_MAX } = options;
    this.#options = {
      requestMsMax,
      waitersMax: WAITERS_MAX,
      waitersPerClientMax: WAITERS_PER_CLIENT_MAX,
      pollMs: POLL_MS,
      ...options,
      waitMsMax: requestMsMax > 0 ? Math.min(waitMsMax, requestMsMax / 2) : waitMsMax,
    };
  }

  /**
   * Runs `attempt` once the index has the block. The attempt throws BLOCK_NOT_INDEXED if what it read is older: the
   * head known here may be ahead of it, or of a fork that was rolled back.
   */
  async run<T>(wait: BlockWait, attempt: () => Promise<T>): Promise<T> {
    const { minBlock } = wait;
    if (minBlock === null) return await attempt();
    const untilMs = performance.now() + this.#options.waitMsMax;
    for (let failed = false; ; failed = true) {
      if (failed || this.#head === null || this.#head < minBlock) await this.#wait(minBlock, wait, untilMs);
      try {
        return await attempt();
      } catch (error) {
        if (!(error instanceof Fault) || error.code !== "BLOCK_NOT_INDEXED") throw error;
        // The response shows that the known head is wrong.
        if (this.#head !== null && this.#head >= minBlock) this.#head = null;
        if (performance.now() >= untilMs) throw error;
      }
    }
  }

  /** A read ran at this head. */
  observeHead(head: bigint): void {
    if (head === this.#head) return;
    this.#head = head;
    for (const { minBlock, wake } of this.#waiters) if (minBlock <= head) wake();
  }

  /** The index has changed. However many wait, one query finds out how far it is. */
  onChange(): void {
    if (this.#waiters.size > 0) this.#readHead();
  }

  /** Ends every wait: the process shuts down. */
  close(): void {
    this.#isClosed = true;
    for (const { fail } of this.#waiters) fail(shuttingDown());
  }

  #wait(minBlock: bigint, { client, signal }: BlockWait, untilMs: number): Promise<void> {
    const { waitersMax, waitersPerClientMax } = this.#options;
    if (this.#isClosed) throw shuttingDown();
    const ofClient = this.#countByClient.get(client) ?? 0;
    if (this.#waiters.size >= waitersMax || ofClient >= waitersPerClientMax) {
      throw this.#behind(minBlock, "Too many requests wait for a block already. ");
    }
    return new Promise((resolve, reject) => {
      const end = (settle: () => void) => () => {
        this.#remove(waiter, client);
        clearTimeout(timer);
        signal.removeEventListener("abort", leave);
        settle();
      };
      const giveUp = end(() => reject(this.#behind(minBlock)));
      // The client is gone: the response is not read.
      const leave = giveUp;
      const waiter: Waiter = {
        minBlock,
        wake: end(resolve),
        fail: (fault) => end(() => reject(fault))(),
      };
      const timer = setTimeout(giveUp, Math.max(0, untilMs - performance.now()));
      signal.addEventListener("abort", leave, { once: true });
      this.#add(waiter, client);
      if (signal.aborted) leave();
    });
  }

  #add(waiter: Waiter, client: string): void {
    this.#waiters.add(waiter);
    this.#countByClient.set(client, (this.#countByClient.get(client) ?? 0) + 1);
    // Later ones need no query of their own: the change that they wait for is announced, or found by the poll.
    const isHopeful = performance.now() - this.#failedMs >= this.#options.pollMs;
    if (isHopeful && (this.#poll === undefined || this.#head === null)) this.#readHead();
    this.#poll ??= setInterval(() => this.#readHead(), this.#options.pollMs);
  }

  #remove(waiter: Waiter, client: string): void {
    this.#waiters.delete(waiter);
    const left = (this.#countByClient.get(client) ?? 0) - 1;
    if (left > 0) this.#countByClient.set(client, left);
    else this.#countByClient.delete(client);
    if (this.#waiters.size > 0) return;
    clearInterval(this.#poll);
    this.#poll = undefined;
  }

  #readHead(): void {
    if (this.#read !== "idle") {
      this.#read = "outdated";
      return;
    }
    this.#read = "running";
    this.#options
      .readHead()
      .then(
        (head) => (head === null ? this.#wakeAll() : this.observeHead(head)),
        // The reads themselves say what is wrong; those that do not wait for the next poll.
        () => {
          this.#failedMs = performance.now();
          this.#wakeAll();
        },
      )
      .finally(() => {
        const isOutdated = this.#read === "outdated" && this.#waiters.size > 0;
        this.#read = "idle";
        if (isOutdated) this.#readHead();
      });
  }

  #wakeAll(): void {
    for (const { wake } of this.#waiters) wake();
  }

  #behind(minBlock: bigint, reason = ""): Fault {
    return createBlockNotIndexedFault(minBlock, this.#head, reason);
  }
}

function shuttingDown(): Fault {
  return new Fault("SHUTTING_DOWN", "This process is shutting down; try again in a moment.", {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}

export const MIN_BLOCK_HEADER = "x-min-block";
const MIN_BLOCK_KEY = "min_block";

const kind = uintParameter(BLOCK_MAX);

/** As every operation describes them that reads the index. */
export const minBlockParameters: readonly Parameter[] = [
  queryParameter(
    MIN_BLOCK_KEY,
    kind,
    "Wait until this block is indexed, such as the block of your transaction's receipt; after a few seconds 503.",
  ),
  {
    name: MIN_BLOCK_HEADER,
    in: "header",
    required: false,
    kind,
    description: "The same as min_block. Of both, the larger number counts.",
  },
];

/** The larger of both; null without either. Throws a Fault if one is not a block number. */
export function readMinBlock(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  query: ReadonlyMap<string, string>,
): MinBlock {
  const header = headers[MIN_BLOCK_HEADER];
  const key = query.get(MIN_BLOCK_KEY);
  if (header === undefined && key === undefined) return null;
  const given = [
    ...(header === undefined ? [] : [parseUint([header].flat().join(", "), MIN_BLOCK_HEADER, BLOCK_MAX)]),
    ...(key === undefined ? [] : [parseUint(key, MIN_BLOCK_KEY, BLOCK_MAX)]),
  ];
  return given.reduce((larger, each) => (each > larger ? each : larger));
}

/** Runs `attempt` once the index has the block, unless the client leaves before. */
export async function withMinBlock<T>(
  waiters: BlockWaiters,
  { request, minBlock }: { readonly request: RouteRequest; readonly minBlock: MinBlock },
  attempt: () => Promise<T>,
): Promise<T> {
  const left = new AbortController();
  const leave = () => left.abort();
  // Listens on the connection: a request itself counts as closed once its body is read. Requests may be pipelined, so
  // that one connection has as many listeners as its client may have waiters.
  const { socket } = request.raw;
  socket.setMaxListeners(0);
  socket.once("close", leave);
  if (socket.destroyed) leave();
  try {
    return await waiters.run({ minBlock, client: request.client, signal: left.signal }, attempt);
  } finally {
    socket.removeListener("close", leave);
  }
}
