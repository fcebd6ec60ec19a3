// One bucket for all clients: a client that has taken much leaves the rest to those that have taken little.
import { widestNetworkOf } from "./client-networks.ts";
import type { Clock } from "./clock.ts";
import { LruMap } from "./lru-map.ts";

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
