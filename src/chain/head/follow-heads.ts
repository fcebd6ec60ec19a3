// The newest head as soon as it is known: polled, and polled at once when a WebSocket pushes a head.
import { WebSocket } from "ws";
import { type Clock, systemClock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import { createRemoteEndpoint, type RemoteEndpoint } from "../../lib/remote-endpoint.ts";
import type { Secret } from "../../lib/secret.ts";
import type { BlockHeader } from "../../schema/chain-log.ts";
import { readHeader } from "../headers.ts";
import { RpcError } from "../rpc/errors.ts";
import { readObject, readQuantity } from "../rpc/hex-values.ts";
import type { Rpc } from "../rpc/types.ts";

export type FollowHeadsOptions = {
  readonly wsUrls?: readonly Secret<string>[];
  readonly pollMsMin: number;
  readonly pollMsMax: number;
  /** How late a socket may be, at least. */
  readonly silenceMsMin?: number;
  readonly signal: AbortSignal;
  readonly log: Log;
  readonly clock?: Clock;
};

// A socket may be this late with a head that polling has found already; after that it counts as dead.
const SILENCE_POLLS = 5;
const SILENCE_MS_MIN = 5_000;

/**
 * Yields each head that differs from the one before, only the newest when the consumer is slow. A lower number may
 * follow a higher one, after a reorg or when another provider lags: compare the hashes.
 * Ends when the signal aborts. A failing node never ends it: the poll is repeated, and the provider's health shows it.
 *
 * A head pushed by a socket only triggers a poll: the header comes from the providers that the logs will come from, so
 * a socket that is ahead of them, lies, or belongs to another chain does no harm.
 */
export async function* followHeads(
  rpc: Rpc,
  options: FollowHeadsOptions,
): AsyncGenerator<BlockHeader, void, void> {
  const { log, wsUrls = [] } = options;
  const clock = options.clock ?? systemClock;
  const silenceMsMax = Math.max(options.silenceMsMin ?? SILENCE_MS_MIN, options.pollMsMax * SILENCE_POLLS);
  const stopping = new AbortController();
  const { signal } = stopping;
  const stop = () => stopping.abort(options.signal.reason);
  if (options.signal.aborted) stop();
  options.signal.addEventListener("abort", stop, { once: true });

  const heads = new LatestValue<BlockHeader>(signal);
  const poller = new HeadPoller(rpc, heads, { ...options, clock, silenceMsMax, signal });
  const background = [poller.run().catch((error) => heads.fail(error))];
  if (wsUrls.length > 0) {
    const { onPush: onHead, watchUnannounced } = poller;
    const subscription = subscribeToHeads({
      urls: wsUrls,
      silenceMsMax,
      clock,
      log,
      signal,
      onHead,
      watchUnannounced,
    });
    background.push(subscription.catch((error) => heads.fail(error)));
  }

  try {
    let yieldedHash: string | null = null;
    for (let header = await heads.next(); header !== null; header = await heads.next()) {
      if (header.hash === yieldedHash) continue;
      yieldedHash = header.hash;
      yield header;
    }
  } finally {
    options.signal.removeEventListener("abort", stop);
    stopping.abort();
    await Promise.all(background);
  }
}

type HeadPollerOptions = Pick<FollowHeadsOptions, "pollMsMin" | "pollMsMax" | "log" | "signal"> & {
  readonly clock: Clock;
  readonly silenceMsMax: number;
};

/** Reads the latest header again and again, less often while a socket pushes heads. */
class HeadPoller {
  readonly #rpc: Rpc;
  readonly #heads: LatestValue<BlockHeader>;
  readonly #options: HeadPollerOptions;
  #pushedNumber = 0;
  #lastPushAtMs = Number.NEGATIVE_INFINITY;
  #endWait: () => void = () => undefined;
  readonly #unannouncedListeners = new Set<() => void>();

  constructor(rpc: Rpc, heads: LatestValue<BlockHeader>, options: HeadPollerOptions) {
    this.#rpc = rpc;
    this.#heads = heads;
    this.#options = options;
  }

  readonly onPush = (number: number): void => {
    this.#lastPushAtMs = this.#options.clock.nowMs();
    this.#pushedNumber = number;
    this.#endWait();
  };

  readonly watchUnannounced: WatchUnannouncedHeads = (listener) => {
    this.#unannouncedListeners.add(listener);
    return () => this.#unannouncedListeners.delete(listener);
  };

  async run(): Promise<void> {
    const { signal, clock, log, pollMsMin, pollMsMax, silenceMsMax } = this.#options;
    let pollMs = pollMsMin;
    let latest: BlockHeader | null = null;
    while (!signal.aborted) {
      const pushed = this.#pushedNumber;
      try {
        const header = await readHeader(this.#rpc, "latest", { signal });
        pollMs = header.hash === latest?.hash ? Math.min(pollMsMax, Math.ceil(pollMs * 1.5)) : pollMsMin;
        if (latest !== null && header.number > latest.number) this.#reportUnannounced(header);
        latest = header;
        this.#heads.put(header);
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof RpcError)) throw error;
        const { host: provider, kind, reason } = error;
        log.warn(
          { component: "chain", event: "head_poll_failed", provider, kind, reason },
          "Reading the head failed",
        );
        pollMs = pollMsMax;
      }
      // While the socket pushes heads there is no need to poll, unless our providers are behind them.
      const isPushed = clock.nowMs() - this.#lastPushAtMs < silenceMsMax && (latest?.number ?? 0) >= pushed;
      if (this.#pushedNumber === pushed) await this.#waitForNextPoll(isPushed ? silenceMsMax : pollMs);
    }
  }

  #reportUnannounced({ number }: BlockHeader): void {
    const { clock, silenceMsMax } = this.#options;
    // A number pushed long ago no longer announces anything: it may have been far above the chain.
    const isRecent = clock.nowMs() - this.#lastPushAtMs < silenceMsMax;
    if (isRecent && number <= this.#pushedNumber) return;
    for (const listener of this.#unannouncedListeners) listener();
  }

  async #waitForNextPoll(ms: number): Promise<void> {
    const { clock, signal } = this.#options;
    const pushed = new AbortController();
    this.#endWait = () => pushed.abort();
    try {
      await clock.sleep(ms, AbortSignal.any([pushed.signal, signal]));
    } catch (error) {
      // Ended early by a pushed head or by the signal; the loop checks both.
      if (!pushed.signal.aborted && !signal.aborted) throw error;
    }
  }
}

/** A queue of one: a value that is not read in time is replaced by the next. */
class LatestValue<T> {
  readonly #signal: AbortSignal;
  #value: T | null = null;
  #failure: unknown = null;
  #notify: () => void = () => undefined;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener("abort", () => this.#notify(), { once: true });
  }

  put(value: T): void {
    this.#value = value;
    this.#notify();
  }

  fail(error: unknown): void {
    this.#failure = error;
    this.#notify();
  }

  /** Waits for a value; null when the signal has aborted. Throws the failure. */
  async next(): Promise<T | null> {
    for (;;) {
      if (this.#failure !== null) throw this.#failure;
      if (this.#signal.aborted) return null;
      const value = this.#value;
      this.#value = null;
      if (value !== null) return value;
      await new Promise<void>((resolve) => {
        this.#notify = resolve;
      });
    }
  }
}

/** Calls `listener` for each head that polling found and no socket announced; returns what ends that. */
type WatchUnannouncedHeads = (listener: () => void) => () => void;

type SubscriptionOptions = {
  /** How long after a head that polling found a socket may have announced none. */
  readonly silenceMsMax: number;
  readonly watchUnannounced: WatchUnannouncedHeads;
  readonly signal: AbortSignal;
  /** Gets the block number of each pushed head. */
  readonly onHead: (number: number) => void;
  /** In order of preference; after a failure the next one is tried. */
  readonly urls: readonly Secret<string>[];
  readonly clock: Clock;
  readonly log: Log;
};

// A header is a few kilobytes; a node that sends more is not sending headers.
const MESSAGE_BYTES_MAX = 1024 * 1024;
const HANDSHAKE_MS_MAX = 10_000;
const RECONNECT_MS_FIRST = 500;
const RECONNECT_MS_MAX = 60_000;

/** Runs until the signal aborts. Polling covers the time in between, so no failure here is fatal. */
async function subscribeToHeads(options: SubscriptionOptions): Promise<void> {
  const { clock, log, signal } = options;
  const endpoints = options.urls.map((url) => createRemoteEndpoint(url, { protocols: ["ws:", "wss:"] }));
  let pauseMs = RECONNECT_MS_FIRST;
  for (let turn = 0; !signal.aborted; turn += 1) {
    const endpoint = endpoints[turn % endpoints.length];
    if (!endpoint) return;
    const { heads, reason } = await runSubscription(endpoint, options);
    if (signal.aborted) return;
    log.debug(
      { component: "chain", event: "head_subscription_ended", provider: endpoint.host, heads, reason },
      "Head subscription ended",
    );
    pauseMs = heads > 0 ? RECONNECT_MS_FIRST : Math.min(RECONNECT_MS_MAX, pauseMs * 2);
    try {
      await clock.sleep(pauseMs, signal);
    } catch {
      // Only the signal ends the sleep early, and it ends the loop.
      return;
    }
  }
}

/** One connection, until it ends: how many heads it pushed, and why it ended. */
function runSubscription(
  endpoint: RemoteEndpoint,
  { silenceMsMax, watchUnannounced, signal, onHead }: SubscriptionOptions,
): Promise<{ readonly heads: number; readonly reason: string }> {
  let heads = 0;
  return new Promise((resolve) => {
    const headers = endpoint.authorization ? { authorization: endpoint.authorization.reveal() } : {};
    const socket = new WebSocket(endpoint.url.reveal(), {
      headers,
      handshakeTimeout: HANDSHAKE_MS_MAX,
      maxPayload: MESSAGE_BYTES_MAX,
      perMessageDeflate: false,
    });
    const end = (reason: string) => {
      clearTimeout(silence);
      unwatch();
      signal.removeEventListener("abort", stop);
      socket.terminate();
      resolve({ heads, reason });
    };
    const stop = () => end("stopped");
    // A chain without new blocks is silent too: only a head that others have shows that the socket is dead.
    let silence: NodeJS.Timeout | undefined;
    const unwatch = watchUnannounced(() => {
      silence ??= setTimeout(() => end("silent for too long"), silenceMsMax);
    });
    signal.addEventListener("abort", stop, { once: true });
    socket.on("open", () => {
      socket.send(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_subscribe", params: ["newHeads"] }));
    });
    socket.on("message", (message) => {
      try {
        const number = parseNotification(String(message));
        if (number === null) return;
        heads += 1;
        clearTimeout(silence);
        silence = undefined;
        onHead(number);
      } catch (error) {
        end(error instanceof Error ? error.message : "unreadable message");
      }
    });
    // Terminating a socket that is still connecting emits an error; by then the promise is resolved.
    socket.on("error", (error) => end(endpoint.redact(error.message)));
    socket.on("close", (code) => end(`closed with code ${code}`));
  });
}

/** The block number of a newHeads notification; null for the subscription's own response; throws for anything else. */
function parseNotification(text: string): number | null {
  const message = readObject(JSON.parse(text), "the message");
  if (message.error !== undefined && message.error !== null)
    throw new Error("the node rejects subscriptions");
  if (message.method !== "eth_subscription") return null;
  const head = readObject(readObject(message.params, "the notification").result, "the pushed head");
  return readQuantity(head.number, "the number of the pushed head");
}
