// Limits on work: so many tasks at once and so many that wait, and shares of a bucket that leave most to those who took little.
import type { Clock } from "./clock.ts";
import { Fault } from "./fault.ts";
import { LruMap } from "./lru-map.ts";

/** Shared by keys: no key gets all slots, and waiting keys take turns. Clients of one IPv6 /48 are one key. */
export type FairLimit = { run<T>(key: string, task: () => Promise<T>): Promise<T> };

type FairLimitOptions = {
  readonly runningMax: number;
  readonly runningPerKeyMax: number;
  readonly waitingMax: number;
  readonly waitingPerKeyMax: number;
};

export function createFairLimit(options: FairLimitOptions): FairLimit {
  const running = new Map<string, number>();
  /** Waiting tasks by key, the next key first; without keys that have none. */
  const queues = new Map<string, (() => void)[]>();
  let runningAll = 0;
  let waitingAll = 0;

  const hasFreeSlot = (key: string) =>
    runningAll < options.runningMax && (running.get(key) ?? 0) < options.runningPerKeyMax;

  function begin(key: string): void {
    runningAll += 1;
    running.set(key, (running.get(key) ?? 0) + 1);
  }

  function end(key: string): void {
    runningAll -= 1;
    const left = (running.get(key) ?? 0) - 1;
    if (left > 0) running.set(key, left);
    else running.delete(key);
    for (const [next, queue] of queues) {
      if (!hasFreeSlot(next)) continue;
      // To the end of the queue, so that the other keys come before its next task.
      queues.delete(next);
      const start = queue.shift();
      if (queue.length > 0) queues.set(next, queue);
      waitingAll -= 1;
      begin(next);
      start?.();
      return;
    }
  }

  function wait(key: string): Promise<void> {
    const queue = queues.get(key) ?? [];
    if (waitingAll >= options.waitingMax || queue.length >= options.waitingPerKeyMax) {
      throw new Fault("OVERLOADED", "Too much work of this kind is waiting; try again in a moment.");
    }
    waitingAll += 1;
    return new Promise<void>((resolve) => {
      queue.push(resolve);
      queues.set(key, queue);
    });
  }

  return {
    async run(given, task) {
      const key = widestNetworkOf(given);
      if (hasFreeSlot(key)) begin(key);
      else await wait(key);
      try {
        return await task();
      } finally {
        end(key);
      }
    },
  };
}

export type ConcurrencyLimit = {
  run<T>(task: () => Promise<T>): Promise<T>;
  readonly running: number;
  readonly waiting: number;
};

export function createConcurrencyLimit(options: {
  runningMax: number;
  waitingMax: number;
}): ConcurrencyLimit {
  let running = 0;
  // First come, first served: a task that gets its slot from a finished one never races with a new one.
  const queue: (() => void)[] = [];

  return {
    get running() {
      return running;
    },
    get waiting() {
      return queue.length;
    },
    async run(task) {
      if (running >= options.runningMax) {
        if (queue.length >= options.waitingMax) {
          throw tooMuchWaits();
        }
        await new Promise<void>((resolve) => queue.push(resolve));
      } else {
        running += 1;
      }
      try {
        return await task();
      } finally {
        const next = queue.shift();
        if (next) next();
        else running -= 1;
      }
    },
  };
}

type WaitingTask = { readonly cost: number; readonly start: () => void };

/**
 * Tasks of different cost, first come, first served: a large one waits for room, and those behind it for the large one.
 * A task that costs more than all that may run does so alone. Costs are whole numbers.
 */
export class CostLimit {
  readonly #runningMax: number;
  readonly #waitingMax: number;
  #running = 0;
  #waiting = 0;
  #queue: WaitingTask[] = [];

  constructor({ runningMax, waitingMax }: { readonly runningMax: number; readonly waitingMax: number }) {
    this.#runningMax = runningMax;
    this.#waitingMax = waitingMax;
  }

  /** A task whose signal aborts leaves the queue. */
  async run<T>(cost: number, signal: AbortSignal, task: () => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    if (this.#queue.length === 0 && this.#hasRoom(cost)) this.#running += cost;
    else await this.#wait(cost, signal);
    try {
      return await task();
    } finally {
      this.#running -= cost;
      this.#startNext();
    }
  }

  #hasRoom(cost: number): boolean {
    return this.#running === 0 || this.#running + cost <= this.#runningMax;
  }

  #wait(cost: number, signal: AbortSignal): Promise<void> {
    if (this.#waiting > 0 && this.#waiting + cost > this.#waitingMax) throw tooMuchWaits();
    this.#waiting += cost;
    return new Promise<void>((resolve, reject) => {
      const leave = () => {
        this.#queue = this.#queue.filter((each) => each !== waiting);
        this.#waiting -= cost;
        reject(signal.reason);
        // The tasks behind one that leaves may have waited for its turn only.
        this.#startNext();
      };
      const start = () => {
        signal.removeEventListener("abort", leave);
        resolve();
      };
      const waiting = { cost, start };
      signal.addEventListener("abort", leave, { once: true });
      this.#queue.push(waiting);
    });
  }

  #startNext(): void {
    for (;;) {
      const [next] = this.#queue;
      if (next === undefined || !this.#hasRoom(next.cost)) return;
      this.#queue.shift();
      this.#waiting -= next.cost;
      this.#running += next.cost;
      next.start();
    }
  }
}

export function tooMuchWaits(): Fault {
  return new Fault("OVERLOADED", "Too much work is waiting; try again in a moment.", {
    retryAfterSeconds: 2,
  });
}

const MINUTE_MS = 60_000;
// The share that a client must leave to others. One client alone still gets all that a client may have.
const LEFT_TO_OTHERS = 0.9;
// About a megabyte. A network evicted by so many others counts as new.
const NETWORKS_MAX = 10_000;

type FairSharesOptions = {
  /** The limit of all clients together. */
  readonly perMinute: number;
  readonly perClientPerMinute: number;
  readonly clock: Pick<Clock, "nowMs">;
};

/**
 * The more a network has taken, the more it must leave, so that the busiest stop first and a newcomer finds something
 * while a hundred others take all they can. An IPv6 /48 is one network.
 */
export class FairShares {
  readonly #options: FairSharesOptions;
  #left: number;
  #leftAtMs: number;
  /** The use of each network, fading over about a minute. */
  readonly #taken = new LruMap<string, { readonly count: number; readonly atMs: number }>(NETWORKS_MAX);

  constructor(options: FairSharesOptions) {
    this.#options = options;
    this.#left = options.perMinute;
    this.#leftAtMs = options.clock.nowMs();
  }

  /** Returns how many milliseconds too early the client is, 0 if it may go on. */
  take(client: string): number {
    const { perMinute, perClientPerMinute } = this.#options;
    const { network, now, taken } = this.#read(client);
    const needed = Math.max(1, LEFT_TO_OTHERS * perMinute * Math.sqrt(taken / perClientPerMinute));
    if (this.#left < needed) return ((needed - this.#left) * MINUTE_MS) / perMinute;
    this.#left -= 1;
    this.#taken.set(network, { count: taken + 1, atMs: now });
    return 0;
  }

  /** Gives one back that was taken and not used. */
  release(client: string): void {
    const { network, now, taken } = this.#read(client);
    this.#left = Math.min(this.#options.perMinute, this.#left + 1);
    this.#taken.set(network, { count: Math.max(0, taken - 1), atMs: now });
  }

  #read(client: string): { readonly network: string; readonly now: number; readonly taken: number } {
    const { perMinute, clock } = this.#options;
    const now = clock.nowMs();
    const network = widestNetworkOf(client);
    const before = this.#taken.get(network);
    // A wall clock that is set back lets no time pass.
    const fade = before === undefined ? 0 : Math.exp(-Math.max(0, now - before.atMs) / MINUTE_MS);
    const refilled = (Math.max(0, now - this.#leftAtMs) * perMinute) / MINUTE_MS;
    this.#left = Math.min(perMinute, this.#left + refilled);
    this.#leftAtMs = now;
    return { network, now, taken: (before?.count ?? 0) * fade };
  }
}

type ClientNetwork = {
  readonly id: string;
  /** How many times the limit of one client all clients of this network have together. */
  readonly share: number;
};

// A client is an IPv4 address or an IPv6 /64, as toClientId writes it.
const IPV6_CLIENT = /^([0-9a-f]{1,4}:[0-9a-f]{1,4}:[0-9a-f]{1,4}):([0-9a-f]{1,4})$/;

// Providers give one customer a /56 or a /48, which has 256 or 65,536 clients. Phones of a carrier have a /64 each in a
// common /48, so that a network has more than one client has; three times leaves a quarter of the connections to others.
const SHARE_56 = 2;
const SHARE_48 = 3;

/** The narrowest first. A text that is not an IPv6 client is a network of its own. */
export function listClientNetworks(client: string): readonly ClientNetwork[] {
  const [, site = null, subnet = "0"] = parseIpv6Client(client) ?? [];
  if (site === null) return [{ id: client, share: 1 }];
  const customer = (Number.parseInt(subnet, 16) & 0xff00).toString(16);
  return [
    { id: client, share: 1 },
    { id: `${site}:${customer}/56`, share: SHARE_56 },
    { id: `${site}/48`, share: SHARE_48 },
  ];
}

/** The unit of turns in a queue: however many clients a /48 has, they take the turns of one. */
export function widestNetworkOf(client: string): string {
  const [, site] = parseIpv6Client(client) ?? [];
  return site === undefined ? client : `${site}/48`;
}

// Most clients are IPv4 addresses: they cost no regular expression.
function parseIpv6Client(client: string): RegExpExecArray | null {
  return client.includes(":") ? IPV6_CLIENT.exec(client) : null;
}

/** Counts what clients have open at once. */
export class ClientCounts {
  readonly #counts = new Map<string, number>();

  /** The network of the client that has its share already; null if there is room for one more. */
  findFull(client: string, perClientMax: number): ClientNetwork | null {
    const isFull = ({ id, share }: ClientNetwork) => (this.#counts.get(id) ?? 0) >= perClientMax * share;
    return listClientNetworks(client).find(isFull) ?? null;
  }

  add(client: string): void {
    for (const { id } of listClientNetworks(client)) this.#counts.set(id, (this.#counts.get(id) ?? 0) + 1);
  }

  remove(client: string): void {
    for (const { id } of listClientNetworks(client)) {
      const left = (this.#counts.get(id) ?? 0) - 1;
      if (left > 0) this.#counts.set(id, left);
      else this.#counts.delete(id);
    }
  }
}
