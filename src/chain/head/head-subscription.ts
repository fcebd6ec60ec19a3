// New heads pushed by a node over a WebSocket, reconnecting by itself.
import { WebSocket } from "ws";
import type { Clock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import { createRemoteEndpoint, type RemoteEndpoint } from "../../lib/remote-endpoint.ts";
import type { Secret } from "../../lib/secret.ts";
import { readObject, readQuantity } from "../rpc/hex-values.ts";

/** Calls `listener` for each head that polling found and no socket announced; returns what ends that. */
export type WatchUnannouncedHeads = (listener: () => void) => () => void;

type SubscriptionOptions = {
  /** How long after a head that polling found a socket may have announced none. */
  readonly silenceMsMax: number;
  readonly watchUnannounced: WatchUnannouncedHeads;
  readonly signal: AbortSignal;
  /** Gets the block number of each pushed head. */
  readonly onHead: (number: number) => void;
};

type HeadSubscriptionOptions = SubscriptionOptions & {
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
export async function subscribeToHeads(options: HeadSubscriptionOptions): Promise<void> {
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
