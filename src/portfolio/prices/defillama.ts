// Prices by DefiLlama over HTTP: optional, limited by ourselves, and never more than a missing price when it fails.

import { splitIntoChunks } from "../../lib/chunks.ts";
import { type Clock, systemClock } from "../../lib/clock.ts";
import { compareDecimals, type Decimal } from "../../lib/decimal.ts";
import { parseExactDecimal, parseExactInteger } from "../../lib/exact-json.ts";
import { isJsonObject, type JsonObject } from "../../lib/json.ts";
import { createRemoteEndpoint } from "../../lib/remote-endpoint.ts";
import { Secret } from "../../lib/secret.ts";
import { type AssetKey, getAssetKey, type PinnedChain, type PriceSource } from "../types.ts";
import { sendVendorRequest, VendorError } from "../vendor-request.ts";

// How often a vendor may be asked: so many requests a minute, and none at all while it asked for a rest.

const MINUTE_MS = 60_000;
// A vendor that names no time has had enough for its own window, which is mostly a minute.
const REST_MS = 60_000;
// Whoever asks for longer is asked again anyway, once an hour.
const REST_MS_MAX = 3_600_000;

type RequestBudget = {
  /** True when a request may be sent now; it is then counted. */
  tryAcquire(): boolean;
  /** No request for the time the vendor named, or for a minute. */
  pause(ms: number | null): void;
};

export function createRequestBudget(options: {
  readonly perMinuteMax: number;
  readonly clock: Clock;
}): RequestBudget {
  const { perMinuteMax, clock } = options;
  let sentMs: number[] = [];
  let restUntilMs = Number.NEGATIVE_INFINITY;
  return {
    tryAcquire() {
      const nowMs = clock.nowMs();
      sentMs = sentMs.filter((ms) => nowMs - ms < MINUTE_MS);
      if (nowMs < restUntilMs || sentMs.length >= perMinuteMax) return false;
      sentMs.push(nowMs);
      return true;
    },
    pause(ms) {
      restUntilMs = Math.max(restUntilMs, clock.nowMs() + Math.min(ms ?? REST_MS, REST_MS_MAX));
    },
  };
}

// As the vendor spells them.
const CHAIN_NAMES: ReadonlyMap<number, string> = new Map([
  [1, "ethereum"],
  [10, "optimism"],
  [137, "polygon"],
  [8453, "base"],
  [42161, "arbitrum"],
]);
const NATIVE_ADDRESS = "0x0000000000000000000000000000000000000000";

// The coins stand in the address, 52 characters each, and addresses beyond 4 KB are refused on some ways.
const COINS_PER_REQUEST = 75;
// Whatever the wallet holds, one answer costs the vendor at most this.
const REQUESTS_PER_READ_MAX = 5;
const TIMEOUT_MS = 5_000;
// About ten times what so many coins take.
const ANSWER_BYTES_MAX = 256 * 1024;
// Below this the vendor itself doubts the price.
const CONFIDENCE_MIN: Decimal = { units: 5n, scale: 1 };
// The vendor refreshes within minutes; the same span allows for a pinned block that is behind its clock.
const AGE_SECONDS_MAX = 3_600;
const REQUESTS_PER_MINUTE = 60;

export type DefiLlamaOptions = {
  readonly baseUrl?: string;
  readonly requestsPerMinuteMax?: number;
  readonly timeoutMs?: number;
  readonly clock?: Clock;
};

export function createDefiLlamaSource(options: DefiLlamaOptions): PriceSource {
  const { timeoutMs = TIMEOUT_MS, baseUrl = "https://coins.llama.fi" } = options;
  const endpoint = createRemoteEndpoint(new Secret(baseUrl));
  const budget = createRequestBudget({
    perMinuteMax: options.requestsPerMinuteMax ?? REQUESTS_PER_MINUTE,
    clock: options.clock ?? systemClock,
  });

  async function readCoins(coins: readonly string[], signal: AbortSignal): Promise<JsonObject> {
    if (!budget.tryAcquire()) throw new VendorError("limited", "The limit of requests is used up.");
    try {
      const path = `/prices/current/${coins.join(",")}`;
      const limits = { timeoutMs, responseBytesMax: ANSWER_BYTES_MAX };
      const answer = await sendVendorRequest({ endpoint, path, ...limits }, signal);
      if (isJsonObject(answer) && isJsonObject(answer.coins)) return answer.coins;
      throw new VendorError("unreliable", "The answer has no coins.");
    } catch (error) {
      if (error instanceof VendorError && error.kind === "limited") budget.pause(error.retryAfterMs);
      throw error;
    }
  }

  return {
    name: "defillama",
    async read({ at, assets }, signal) {
      const chain = CHAIN_NAMES.get(at.chain.chainId);
      if (chain === undefined || assets.length === 0) return { prices: new Map(), warnings: [] };
      const keys = new Map<string, AssetKey>(
        assets.map((asset) => [
          `${chain}:${(asset.contract ?? NATIVE_ADDRESS).toLowerCase()}`,
          getAssetKey(asset),
        ]),
      );
      const parts = splitIntoChunks([...keys.keys()], COINS_PER_REQUEST);
      const asked = parts.slice(0, REQUESTS_PER_READ_MAX);
      const outcomes = await Promise.allSettled(asked.map((coins) => readCoins(coins, signal)));
      signal.throwIfAborted();

      const prices = new Map<AssetKey, Decimal>();
      for (const outcome of outcomes) {
        if (outcome.status === "rejected") {
          if (!(outcome.reason instanceof VendorError)) throw outcome.reason;
          continue;
        }
        for (const [coin, price] of believedPrices(outcome.value, at)) {
          const key = keys.get(coin);
          if (key !== undefined) prices.set(key, price);
        }
      }
      const failures = outcomes.flatMap((outcome) =>
        outcome.status === "rejected" ? [outcome.reason as VendorError] : [],
      );
      return { prices, warnings: warningsOf(at, failures, parts.length > asked.length) };
    },
  };
}

function believedPrices(coins: JsonObject, at: PinnedChain): readonly (readonly [string, Decimal])[] {
  return Object.entries(coins).flatMap(([coin, entry]) => {
    if (!isJsonObject(entry)) return [];
    const price = parseExactDecimal(entry.price);
    const timestamp = parseExactInteger(entry.timestamp);
    const confidence = entry.confidence === undefined ? CONFIDENCE_MIN : parseExactDecimal(entry.confidence);
    if (price === null || price.units < 0n || timestamp === null || confidence === null) return [];
    if (Math.abs(at.block.timestamp - timestamp) > AGE_SECONDS_MAX) return [];
    if (compareDecimals(confidence, CONFIDENCE_MIN) < 0) return [];
    return [[coin.toLowerCase(), price] as const];
  });
}

// One sentence, however many requests failed: the reader has to know that prices may be missing, and no more.
function warningsOf(at: PinnedChain, failures: readonly VendorError[], tooMany: boolean): readonly string[] {
  const [first] = failures;
  if (first !== undefined) {
    const why = first.kind === "limited" ? "its limit of requests is reached" : "it does not answer";
    return [`Prices of DefiLlama for ${at.chain.name} may be missing: ${why}.`];
  }
  return tooMany
    ? [`Prices of DefiLlama for ${at.chain.name} may be missing: too many tokens to ask for.`]
    : [];
}
