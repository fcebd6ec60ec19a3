// The newest head, as soon as it is known: pushed by a socket where there is one, polled for otherwise.
import { type Clock, systemClock } from "../kit/clock.ts";
import type { Log } from "../kit/log.ts";
import type { Secret } from "../kit/secret.ts";
import { type Header, readHeader } from "./blocks.ts";
import { listenForHeads } from "./head-socket.ts";
import type { Rpc } from "./rpc/call.ts";
import { RpcError } from "./rpc/failure.ts";

export type HeadOptions = {
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
 */
export async function* followHeads(rpc: Rpc, options: HeadOptions): AsyncGenerator<Header, void, void> {
  const { signal, log } = options;
  const clock = options.clock ?? systemClock;
  const leaving = new AbortController();
  const leave = () => leaving.abort(signal.reason);
  if (signal.aborted) leave();
  signal.addEventListener("abort", leave, { once: true });

  let newest: Header | null = null;
  let pushedAtMs = Number.NEGATIVE_INFINITY;
  let wake: () => void = () => undefined;
  const offer = (header: Header) => {
    newest = header;
    wake();
  };
  leaving.signal.addEventListener("abort", () => wake(), { once: true });

  const silenceMsMax = Math.max(SILENCE_MS_MIN, options.pollMsMax * SILENCE_POLLS);
  const wsUrls = options.wsUrls ?? [];
  const listening =
    wsUrls.length === 0
      ? Promise.resolve()
      : listenForHeads({
          urls: wsUrls,
          silenceMsMax,
          clock,
          log,
          signal: leaving.signal,
          onHead: (header) => {
            pushedAtMs = clock.nowMs();
            offer(header);
          },
        });

  /** Asks now and then; hardly ever while the socket speaks, quickly while blocks come, slower while they do not. */
  async function poll(): Promise<void> {
    let pauseMs = options.pollMsMin;
    let seen: string | null = null;
    while (!leaving.signal.aborted) {
      if (clock.nowMs() - pushedAtMs > silenceMsMax) {
        try {
          const header = await readHeader(rpc, "latest", { signal: leaving.signal });
          pauseMs = header.hash === seen ? Math.min(options.pollMsMax, Math.ceil(pauseMs * 1.5)) : options.pollMsMin;
          seen = header.hash;
          offer(header);
        } catch (error) {
          if (leaving.signal.aborted) return;
          if (!(error instanceof RpcError)) throw error;
          log.warn({ provider: error.host, kind: error.kind }, error.message);
          pauseMs = options.pollMsMax;
        }
      }
      try {
        await clock.sleep(pauseMs, leaving.signal);
      } catch {
        // Woken early only by leaving.
        return;
      }
    }
  }

  let broken: unknown = null;
  const polling = poll().catch((error: unknown) => {
    broken = error;
    wake();
  });
  try {
    for (let given: string | null = null; ; ) {
      if (broken !== null) throw broken;
      if (leaving.signal.aborted) return;
      const header = takeNewest();
      if (header && header.hash !== given) {
        given = header.hash;
        yield header;
        continue;
      }
      await new Promise<void>((resolve) => {
        wake = resolve;
        if (newest !== null || broken !== null || leaving.signal.aborted) resolve();
      });
    }
  } finally {
    signal.removeEventListener("abort", leave);
    leaving.abort();
    await Promise.all([polling, listening]);
  }

  function takeNewest(): Header | null {
    const taken = newest;
    newest = null;
    return taken;
  }
}
