// The newest head, as soon as it is known: a socket says when to look, or looking now and then finds out.

import { type Clock, systemClock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import type { Secret } from "../../lib/secret.ts";
import type { BlockHeader } from "../../schema/chain-log.ts";
import { readHeader } from "../headers.ts";
import { RpcError } from "../rpc/errors.ts";
import type { Rpc } from "../rpc/types.ts";
import { subscribeToHeads } from "./head-subscription.ts";

export type FollowHeadsOptions = {
  readonly wsUrls?: readonly Secret<string>[];
  readonly pollMsMin: number;
  readonly pollMsMax: number;
  readonly signal: AbortSignal;
  readonly log: Log;
  readonly clock?: Clock;
};

// A chain may be quiet for a few of its blocks; after that a silent socket is taken for a dead one.
const SILENCE_POLLS = 5;
const SILENCE_MS_MIN = 5_000;

/**
 * Yields each head that differs from the one before, only the newest when the consumer is slow. A lower number may
 * follow a higher one: after a reorg, or when another provider lags; which of the two it is, hashes tell.
 * Ends when the signal aborts. A failing node never ends it: it is asked again, and its health tells.
 *
 * A head pushed by a socket is only a hint to look: the header comes from the providers that the logs will come
 * from, so a socket that is ahead of them, lies, or belongs to another chain does no harm.
 */
export async function* followHeads(
  rpc: Rpc,
  options: FollowHeadsOptions,
): AsyncGenerator<BlockHeader, void, void> {
  const { log } = options;
  const clock = options.clock ?? systemClock;
  const silenceMsMax = Math.max(SILENCE_MS_MIN, options.pollMsMax * SILENCE_POLLS);
  const leaving = new AbortController();
  const { signal } = leaving;
  const leave = () => leaving.abort(options.signal.reason);
  if (options.signal.aborted) leave();
  options.signal.addEventListener("abort", leave, { once: true });

  const state = {
    newest: null as BlockHeader | null,
    broken: null as unknown,
    pushed: 0,
    heardAtMs: -Infinity,
  };
  let wakeConsumer: () => void = () => undefined;
  let wakePoll: () => void = () => undefined;
  const fail = (error: unknown) => {
    state.broken = error;
    wakeConsumer();
  };
  signal.addEventListener("abort", () => wakeConsumer(), { once: true });

  const background: Promise<void>[] = [poll().catch(fail)];
  if (options.wsUrls && options.wsUrls.length > 0) {
    const onHead = (number: number) => {
      state.heardAtMs = clock.nowMs();
      state.pushed = number;
      wakePoll();
    };
    background.push(
      subscribeToHeads({ urls: options.wsUrls, silenceMsMax, clock, log, signal, onHead }).catch(fail),
    );
  }

  async function poll(): Promise<void> {
    let quietMs = options.pollMsMin;
    let seen: BlockHeader | null = null;
    while (!signal.aborted) {
      const pushed = state.pushed;
      try {
        const header = await readHeader(rpc, "latest", { signal });
        quietMs =
          header.hash === seen?.hash
            ? Math.min(options.pollMsMax, Math.ceil(quietMs * 1.5))
            : options.pollMsMin;
        seen = header;
        state.newest = header;
        wakeConsumer();
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof RpcError)) throw error;
        log.warn({ provider: error.host, kind: error.kind }, error.message);
        quietMs = options.pollMsMax;
      }
      // While the socket speaks there is no need to ask, unless our providers are behind what it said.
      const listening = clock.nowMs() - state.heardAtMs < silenceMsMax && (seen?.number ?? 0) >= pushed;
      if (state.pushed === pushed) await rest(listening ? silenceMsMax : quietMs);
    }
  }

  async function rest(ms: number): Promise<void> {
    const waking = new AbortController();
    wakePoll = () => waking.abort();
    try {
      await clock.sleep(ms, AbortSignal.any([waking.signal, signal]));
    } catch (error) {
      // Woken early, by a pushed head or by leaving; both are looked at by the loop.
      if (!waking.signal.aborted && !signal.aborted) throw error;
    }
  }

  try {
    for (let given: string | null = null; ; ) {
      if (state.broken !== null) throw state.broken;
      if (signal.aborted) return;
      const header = state.newest;
      state.newest = null;
      if (header && header.hash !== given) {
        given = header.hash;
        yield header;
        continue;
      }
      await new Promise<void>((resolve) => {
        wakeConsumer = resolve;
        if (state.newest !== null || state.broken !== null || signal.aborted) resolve();
      });
    }
  } finally {
    options.signal.removeEventListener("abort", leave);
    leaving.abort();
    await Promise.all(background);
  }
}
