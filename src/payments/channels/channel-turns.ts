// Requests of one channel in this process, one at a time: only the first asks the database whether it may act.
import type { Clock } from "../../lib/clock.ts";
import type { Hex } from "../../lib/hex.ts";

type ChannelTurnsOptions = {
  readonly clock: Clock;
  /** Requests that wait for one channel. */
  readonly waitingPerChannelMax: number;
  /** Requests that wait for any channel. */
  readonly waitingMax: number;
  /** How long to wait before a request asks again for a channel that another process has. */
  readonly pollMs: number;
};

type Outcome = "acted" | "late" | "full";

/** A request: the voucher with the larger amount comes first, which is the one that the other ones wait for. */
type Waiter = {
  readonly maxClaimable: bigint;
  readonly client: string;
  readonly attempt: () => Promise<boolean>;
  readonly end: (outcome: Outcome) => void;
  readonly fail: (error: unknown) => void;
  readonly deadlineMs: number;
};

type Line = { readonly waiting: Waiter[]; wake: (() => void) | null };

export class ChannelTurns {
  readonly #options: ChannelTurnsOptions;
  readonly #lines = new Map<Hex, Line>();
  /** How many requests of each client wait or act. */
  readonly #perClient = new Map<string, number>();
  #waiting = 0;

  constructor(options: ChannelTurnsOptions) {
    this.#options = options;
  }

  /**
   * Calls `attempt` in the request's turn, and again while it returns false because another process has the channel.
   * "late" if that takes until the deadline, "full" if too many with newer vouchers wait.
   */
  run(
    channelId: Hex,
    { maxClaimable, client, deadlineMs }: Pick<Waiter, "maxClaimable" | "client" | "deadlineMs">,
    attempt: () => Promise<boolean>,
  ): Promise<Outcome> {
    const { waitingMax, waitingPerChannelMax } = this.#options;
    const known = this.#lines.get(channelId);
    if (known !== undefined && known.waiting.length >= waitingPerChannelMax) {
      const last = known.waiting.at(-1);
      if (last === undefined || last.maxClaimable >= maxClaimable) return Promise.resolve("full");
      // Vouchers that anyone may have are the oldest: the payer's own are not kept out by them.
      known.waiting.pop();
      last.end("full");
    }
    if (this.#waiting >= waitingMax && !this.#makeRoomFor(client)) return Promise.resolve("full");
    const line = known ?? { waiting: [], wake: null };
    this.#count(client, 1);
    const done = new Promise<Outcome>((end, fail) => {
      insert(line.waiting, { maxClaimable, client, deadlineMs, attempt, end, fail });
    }).finally(() => this.#count(client, -1));
    if (known === undefined) {
      this.#lines.set(channelId, line);
      void this.#serve(channelId, line);
    } else line.wake?.();
    return done;
  }

  #count(client: string, change: 1 | -1): void {
    this.#waiting += change;
    const left = (this.#perClient.get(client) ?? 0) + change;
    if (left === 0) this.#perClient.delete(client);
    else this.#perClient.set(client, left);
  }

  /**
   * Ends the oldest voucher of the client that has the most: channels are free, so one client can wait for any number of
   * them. False if no other client has more.
   */
  #makeRoomFor(client: string): boolean {
    const own = this.#perClient.get(client) ?? 0;
    const [largest, most] = [...this.#perClient].reduce((a, b) => (b[1] > a[1] ? b : a), [client, own]);
    if (most <= own) return false;
    for (const { waiting } of this.#lines.values()) {
      const at = waiting.findLastIndex((waiter) => waiter.client === largest);
      if (at === -1) continue;
      for (const { end } of waiting.splice(at, 1)) end("full");
      return true;
    }
    // All of its requests act at the moment.
    return false;
  }

  async #serve(channelId: Hex, line: Line): Promise<void> {
    const { clock } = this.#options;
    for (;;) {
      const first = line.waiting.shift();
      if (first === undefined) {
        this.#lines.delete(channelId);
        return;
      }
      if (clock.nowMs() >= first.deadlineMs) {
        first.end("late");
        continue;
      }
      try {
        if (await first.attempt()) {
          first.end("acted");
          continue;
        }
      } catch (error) {
        first.fail(error);
        continue;
      }
      // Behind those with the same amount: the turn may be kept for one of them.
      insert(line.waiting, first);
      await this.#pause(line);
    }
  }

  /** Until the time to ask again, or until another request comes, which may be the one that may act. */
  async #pause(line: Line): Promise<void> {
    const stop = new AbortController();
    line.wake = () => stop.abort();
    await this.#options.clock.sleep(this.#options.pollMs, stop.signal).catch(() => undefined);
    line.wake = null;
  }
}

/** Behind those with the same or a larger amount. */
function insert(waiting: Waiter[], waiter: Waiter): void {
  const at = waiting.findIndex((other) => other.maxClaimable < waiter.maxClaimable);
  waiting.splice(at === -1 ? waiting.length : at, 0, waiter);
}
