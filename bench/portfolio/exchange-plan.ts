// The HTTP exchanges of a piece of work, and the same ones again with nothing between them but waiting and parsing.
import { sendHttpRequest } from "../../src/lib/http-client.ts";
import { createRemoteEndpoint } from "../../src/lib/remote-endpoint.ts";
import { Secret } from "../../src/lib/secret.ts";
import type { CachedExchange } from "./caching-node.ts";

export type RecordedExchange = CachedExchange & { readonly url: string };

// Far more than any of our responses.
const RESPONSE_BYTES_MAX = 64 * 1024 * 1024;

/** An exchange and the earlier ones of the same node, by position, that were over when it began. */
type PlannedExchange = Pick<RecordedExchange, "url" | "body" | "responseBytes"> & {
  readonly after: readonly number[];
};

/** Ordered by the time at which each began. */
export type ExchangePlan = readonly PlannedExchange[];

/** Runs the work and reads from the nodes which requests they got meanwhile. */
export async function recordExchanges(
  urls: readonly string[],
  work: () => Promise<unknown>,
): Promise<readonly RecordedExchange[]> {
  const readExchanges = () => Promise.all(urls.map(exchangesOf));
  await readExchanges();
  await work();
  return (await readExchanges()).flat();
}

async function exchangesOf(url: string): Promise<RecordedExchange[]> {
  const seen = (await (await fetch(url)).json()) as CachedExchange[];
  return seen.map((exchange) => ({ url, ...exchange }));
}

export function planExchanges(exchanges: readonly RecordedExchange[]): ExchangePlan {
  const inOrder = [...exchanges].sort((a, b) => a.startedMs - b.startedMs);
  return inOrder.map(({ url, body, startedMs, responseBytes }) => ({
    url,
    body,
    responseBytes,
    // Chains know nothing of each other: what was over on another one was so by chance.
    after: inOrder.flatMap((other, i) => (other.url === url && other.endedMs <= startedMs ? [i] : [])),
  }));
}

/** The round trip that each exchange belongs to, counted from 1. */
export function numberRoundTrips(plan: ExchangePlan): readonly number[] {
  const depths: number[] = [];
  for (const { after } of plan) depths.push(1 + Math.max(0, ...after.map((i) => depths[i] ?? 0)));
  return depths;
}

/** How many exchanges follow one another at most. */
export function countRoundTrips(plan: ExchangePlan): number {
  return Math.max(0, ...numberRoundTrips(plan));
}

/** Each as early as possible. */
export async function replayExchanges(plan: ExchangePlan): Promise<void> {
  const sent: Promise<void>[] = [];
  for (const { url, body, after } of plan) {
    const before = Promise.all(after.map((i) => sent[i]));
    sent.push(before.then(() => exchange(url, body)));
  }
  await Promise.all(sent);
}

// Longer than any exchange takes.
const TIMEOUT_MS = 60_000;

async function exchange(url: string, body: string): Promise<void> {
  const endpoint = createRemoteEndpoint(new Secret(url));
  const limits = { timeoutMs: TIMEOUT_MS, responseBytesMax: RESPONSE_BYTES_MAX };
  const { text } = await sendHttpRequest({ endpoint, body, ...limits });
  JSON.parse(text);
}
