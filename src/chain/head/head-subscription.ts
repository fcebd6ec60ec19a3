// New heads pushed by a node over a WebSocket; says when they stop, and comes back by itself.
import { WebSocket } from "ws";
import type { Clock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import { createRemoteEndpoint } from "../../lib/remote-endpoint.ts";
import type { Secret } from "../../lib/secret.ts";
import { readObject, readQuantity } from "../rpc/hex-values.ts";

export type HeadSubscriptionOptions = {
  /** In order of preference; after a failure the next one is tried. */
  readonly urls: readonly Secret<string>[];
  readonly silenceMsMax: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Told the block number of each pushed head. */
  readonly onHead: (number: number) => void;
};

// A header is a few kilobytes; a node that sends more is not sending headers.
const MESSAGE_BYTES_MAX = 1024 * 1024;
const HANDSHAKE_MS_MAX = 10_000;
const RECONNECT_MS_FIRST = 500;
const RECONNECT_MS_MAX = 60_000;

/** Runs until the signal aborts. Polling covers the time in between, so nothing here is fatal. */
export async function subscribeToHeads(options: HeadSubscriptionOptions): Promise<void> {
  const { clock, log, signal } = options;
  const endpoints = options.urls.map((url) => createRemoteEndpoint(url, ["ws:", "wss:"]));
  let pauseMs = RECONNECT_MS_FIRST;
  for (let turn = 0; !signal.aborted; turn += 1) {
    const endpoint = endpoints[turn % endpoints.length];
    if (!endpoint) return;
    let heads = 0;
    const ended = await new Promise<string>((resolve) => {
      const headers = endpoint.authorization ? { authorization: endpoint.authorization.reveal() } : {};
      const socket = new WebSocket(endpoint.url.reveal(), {
        headers,
        handshakeTimeout: HANDSHAKE_MS_MAX,
        maxPayload: MESSAGE_BYTES_MAX,
        perMessageDeflate: false,
      });
      const end = (why: string) => {
        clearTimeout(silence);
        signal.removeEventListener("abort", stop);
        socket.terminate();
        resolve(why);
      };
      const stop = () => end("stopped");
      const silence = setTimeout(() => end("silent for too long"), options.silenceMsMax);
      signal.addEventListener("abort", stop, { once: true });
      socket.on("open", () => {
        socket.send(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_subscribe", params: ["newHeads"] }));
      });
      socket.on("message", (message) => {
        try {
          const number = readNotice(String(message));
          if (number === null) return;
          heads += 1;
          silence.refresh();
          options.onHead(number);
        } catch (error) {
          end(error instanceof Error ? error.message : "unreadable message");
        }
      });
      // Terminating a socket that still connects makes it report an error: by then nobody asks any more.
      socket.on("error", (error) => end(endpoint.redact(error.message)));
      socket.on("close", (code) => end(`closed with code ${code}`));
    });
    if (signal.aborted) return;
    log.debug({ provider: endpoint.host, heads }, `The head subscription ended: ${ended}.`);
    pauseMs = heads > 0 ? RECONNECT_MS_FIRST : Math.min(RECONNECT_MS_MAX, pauseMs * 2);
    try {
      await clock.sleep(pauseMs, signal);
    } catch {
      // The only way to be woken early is the signal, and that ends the loop.
      return;
    }
  }
}

/** The block number of a newHeads notice; null for the answer to the subscription; throws for anything else. */
function readNotice(text: string): number | null {
  const message = readObject(JSON.parse(text), "the message");
  if (message.error !== undefined && message.error !== null)
    throw new Error("the node refuses subscriptions");
  if (message.method !== "eth_subscription") return null;
  const head = readObject(readObject(message.params, "the notice").result, "the pushed head");
  return readQuantity(head.number, "the number of the pushed head");
}
