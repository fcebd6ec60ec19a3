// The last block of a chain at or before a time: searched among final blocks, with few requests, and remembered.
import { headerCall } from "../chain/headers.ts";
import { type PinnedRpc, type Rpc, unwrapResults } from "../chain/rpc/types.ts";
import type { Clock } from "../lib/clock.ts";
import { Fault } from "../lib/fault.ts";
import { formatMoment } from "../lib/moment.ts";
import type { ChainConfig, TimedBlock } from "./types.ts";

type Bounds = { readonly low: TimedBlock; readonly high: TimedBlock };

/**
 * Each step leaves at most a third of the blocks: enough for the chain with the most blocks, 500 million, however
 * irregular its times. A regular chain needs five.
 */
const STEPS_MAX = 20;
// Four headers at most per step: two near the estimate, and the thirds.
const NEAR_PART = 64;
// Bounds the memory of a chain; later searches begin between the two that are nearest.
const KNOWN_MAX = 1_000;
// So long a node's wrong times can mislead other requests.
const KNOWN_MS = 10 * 60_000;

export class DatedBlocks {
  readonly #rpc: Rpc;
  readonly #chain: ChainConfig;
  readonly #clock: Clock;
  /** Final blocks, ascending. */
  #known: readonly TimedBlock[] = [];
  #knownUntilMs = 0;

  constructor(rpc: Rpc, chain: ChainConfig, clock: Clock) {
    this.#rpc = rpc;
    this.#chain = chain;
    this.#clock = clock;
  }

  /** Rejects with INPUT_INVALID for a time before the first block or after the newest final one. */
  async find(seconds: number, signal: AbortSignal): Promise<TimedBlock> {
    if (this.#clock.nowMs() >= this.#knownUntilMs) this.#known = [];
    // One node: the times of two may contradict each other at a reorg.
    return this.#rpc.pinned((node) => this.#search(node, seconds, signal), { signal });
  }

  /** A block that a node made up fails each search that begins from it: a failure forgets all, and begins again once. */
  async #search(node: PinnedRpc, seconds: number, signal: AbortSignal): Promise<TimedBlock> {
    const isFresh = this.#known.length === 0;
    try {
      return await this.#searchOnce(node, seconds, signal);
    } catch (error) {
      if (error instanceof Fault && error.code === "INPUT_INVALID") throw error;
      this.#known = [];
      if (isFresh || signal.aborted) throw error;
      return this.#searchOnce(node, seconds, signal);
    }
  }

  async #searchOnce(node: PinnedRpc, seconds: number, signal: AbortSignal): Promise<TimedBlock> {
    let bounds = this.#nearest(seconds) ?? (await this.#readBounds(node, seconds, signal));
    for (let step = 0; bounds.high.number - bounds.low.number > 1; step += 1) {
      if (step === STEPS_MAX) throw this.#fail("are too irregular to be searched");
      const calls = chooseProbes(bounds, seconds).map(headerCall);
      const headers = unwrapResults(await node.batch(calls, { signal }));
      const probed = headers.map(({ number, timestamp }) => ({ number, timestamp }));
      const path = [bounds.low, ...probed, bounds.high];
      this.#requireAscending(path);
      this.#remember(probed);
      bounds = narrow(path, seconds);
    }
    return bounds.low;
  }

  /** The blocks around the time that are known; null if they are not. */
  #nearest(seconds: number): Bounds | null {
    const index = this.#known.findLastIndex(({ timestamp }) => timestamp <= seconds);
    const [low, high] = [this.#known[index], this.#known[index + 1]];
    return low === undefined || high === undefined ? null : { low, high };
  }

  async #readBounds(node: PinnedRpc, seconds: number, signal: AbortSignal): Promise<Bounds> {
    const calls = [headerCall("earliest"), headerCall("finalized")];
    const headers = unwrapResults(await node.batch(calls, { signal }));
    const [first, final] = headers.map(({ number, timestamp }) => ({ number, timestamp }));
    if (first === undefined || final === undefined) throw this.#fail("are missing");
    const { name } = this.#chain;
    if (seconds < first.timestamp) {
      throw new Fault(
        "INPUT_INVALID",
        `${formatMoment(seconds)} is before the first block of ${name}, ${first.number} of ${formatMoment(first.timestamp)}. Give a later time.`,
      );
    }
    if (seconds > final.timestamp) {
      throw new Fault(
        "INPUT_INVALID",
        `${formatMoment(seconds)} is not final on ${name} yet: its newest final block is ${final.number} of ${formatMoment(final.timestamp)}. Give an earlier time, or blocks.`,
      );
    }
    this.#requireAscending([first, final]);
    // Its own time is the newest that can be found: the bound above it has a time that no request reaches.
    const above = { number: final.number + 1, timestamp: final.timestamp + 1 };
    this.#remember([first, final]);
    const known = this.#known.filter(({ number }) => number <= final.number);
    return narrow([...known, above], seconds);
  }

  #remember(blocks: readonly TimedBlock[]): void {
    if (this.#known.length === 0) this.#knownUntilMs = this.#clock.nowMs() + KNOWN_MS;
    const merged = new Map([...this.#known, ...blocks].map((block) => [block.number, block]));
    const sorted = [...merged.values()].sort((a, b) => a.number - b.number);
    this.#requireAscending(sorted);
    this.#known = sorted.length <= KNOWN_MAX ? sorted : sorted.filter((_, index) => index % 2 === 0);
  }

  #requireAscending(blocks: readonly TimedBlock[]): void {
    const isAscending = blocks.every(({ number, timestamp }, index) => {
      const before = blocks[index - 1];
      return before === undefined || (before.number < number && before.timestamp <= timestamp);
    });
    if (isAscending) return;
    throw this.#fail("do not ascend");
  }

  #fail(problem: string): Fault {
    return new Fault("NODE_UNAVAILABLE", `The times of blocks of ${this.#chain.name} ${problem}.`);
  }
}

/** Distinct numbers between the bounds, ascending. */
function chooseProbes({ low, high }: Bounds, seconds: number): readonly number[] {
  const [blocks, time] = [high.number - low.number, high.timestamp - low.timestamp];
  const share = time === 0 ? 0.5 : (seconds - low.timestamp) / time;
  const guess = low.number + Math.floor(blocks * share);
  const near = Math.max(1, Math.floor(blocks / NEAR_PART));
  const thirds = [low.number + Math.floor(blocks / 3), high.number - Math.floor(blocks / 3)];
  const inside = [guess, guess + near, ...thirds].map((number) =>
    Math.min(Math.max(number, low.number + 1), high.number - 1),
  );
  return [...new Set(inside)].sort((a, b) => a - b);
}

/** The last block at or before the time, and the one after it. */
function narrow(path: readonly TimedBlock[], seconds: number): Bounds {
  const index = path.findLastIndex(({ timestamp }) => timestamp <= seconds);
  const [low, high] = [path[index], path[index + 1]];
  if (low === undefined || high === undefined) throw new TypeError("The time lies between the bounds.");
  return { low, high };
}
