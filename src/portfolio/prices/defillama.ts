// Prices from DefiLlama over HTTP: optional and rate-limited; a failure only means missing prices.
import { findChainById } from "../../chain/chains/chains.ts";
import { splitIntoChunks } from "../../lib/chunks.ts";
import { type Clock, systemClock } from "../../lib/clock.ts";
import { compareDecimals, type Decimal } from "../../lib/decimal.ts";
import { isJsonObject, type JsonObject, parseExactDecimal, parseExactInteger } from "../../lib/json.ts";
import { createRemoteEndpoint } from "../../lib/remote-endpoint.ts";
import { Secret } from "../../lib/secret.ts";
import {
  type Asset,
  type AssetKey,
  getAssetKey,
  isListed,
  type PinnedChain,
  type PriceSource,
  type QuotedPrice,
  quotePrice,
} from "../types.ts";
import { sendVendorRequest, VendorError } from "../vendor-request.ts";

const MINUTE_MS = 60_000;
// Without Retry-After: the usual window of a rate limit.
const PAUSE_MS = 60_000;
// Never pause longer than this, whatever Retry-After says.
const PAUSE_MS_MAX = 3_600_000;

/** Limits requests per minute, and sends none while the vendor rate-limits us. */
function createRequestBudget(perMinuteMax: number, clock: Clock) {
  let sentMs: number[] = [];
  let pausedUntilMs = Number.NEGATIVE_INFINITY;
  return {
    /** Counts a request and returns true when it may be sent now. */
    tryAcquire(): boolean {
      const nowMs = clock.nowMs();
      sentMs = sentMs.filter((ms) => nowMs - ms < MINUTE_MS);
      if (nowMs < pausedUntilMs || sentMs.length >= perMinuteMax) return false;
      sentMs.push(nowMs);
      return true;
    },
    /** Stops requests for the time in Retry-After, or for a minute. */
    pause(ms: number | null): void {
      pausedUntilMs = Math.max(pausedUntilMs, clock.nowMs() + Math.min(ms ?? PAUSE_MS, PAUSE_MS_MAX));
    },
  };
}

const NATIVE_ADDRESS = "0x0000000000000000000000000000000000000000";

// The coins are part of the URL, 52 characters each, and some proxies reject URLs over 4 KB.
const COINS_PER_REQUEST = 75;
// One snapshot sends at most this many, whatever the wallet holds.
const REQUESTS_PER_READ_MAX = 5;
const TIMEOUT_MS = 5_000;
// About ten times the size of a full response.
const RESPONSE_BYTES_MAX = 256 * 1024;
// Below this, the vendor itself considers the price unreliable.
const CONFIDENCE_MIN: Decimal = { units: 5n, scale: 1 };
// The vendor refreshes within minutes; the limit also allows for a pinned block behind the vendor's clock.
const AGE_SECONDS_MAX = 3_600;
const REQUESTS_PER_MINUTE = 60;

export type DefiLlamaOptions = {
  readonly baseUrl?: string;
  readonly requestsPerMinuteMax?: number;
  readonly timeoutMs?: number;
  readonly clock?: Clock;
};

export function createDefiLlamaSource(options: DefiLlamaOptions): PriceSource {
  const { timeoutMs = TIMEOUT_MS, baseUrl = "https://coins.llama.fi", clock = systemClock } = options;
  const endpoint = createRemoteEndpoint(new Secret(baseUrl));
  const budget = createRequestBudget(options.requestsPerMinuteMax ?? REQUESTS_PER_MINUTE, clock);

  async function readCoins(coins: readonly string[], signal: AbortSignal): Promise<JsonObject> {
    if (!budget.tryAcquire()) throw new VendorError("rate-limited", "The request limit is reached.");
    try {
      const path = `/prices/current/${coins.join(",")}`;
      const limits = { timeoutMs, responseBytesMax: RESPONSE_BYTES_MAX };
      const payload = await sendVendorRequest({ endpoint, path, ...limits }, signal);
      if (isJsonObject(payload) && isJsonObject(payload.coins)) return payload.coins;
      throw new VendorError("transient", "The response has no coins.");
    } catch (error) {
      if (error instanceof VendorError && error.kind === "rate-limited") budget.pause(error.retryAfterMs);
      throw error;
    }
  }

  return {
    name: "defillama",
    presentOnly: true,
    async read({ at, assets }, signal) {
      const chain = findChainById(at.chain.chainId)?.vendorNames?.defiLlama;
      if (chain === undefined || assets.length === 0) return { prices: new Map(), warnings: [] };
      const keys = new Map<string, Asset>(
        assets.map((asset) => [`${chain}:${(asset.contract ?? NATIVE_ADDRESS).toLowerCase()}`, asset]),
      );
      const chunks = splitIntoChunks([...keys.keys()], COINS_PER_REQUEST);
      const requested = chunks.slice(0, REQUESTS_PER_READ_MAX);
      const outcomes = await Promise.allSettled(requested.map((coins) => readCoins(coins, signal)));
      signal.throwIfAborted();

      const prices = new Map<AssetKey, QuotedPrice>();
      const failures: VendorError[] = [];
      const unasked = new Set(chunks.slice(requested.length).flat());
      for (const [index, outcome] of outcomes.entries()) {
        if (outcome.status === "rejected") {
          if (!(outcome.reason instanceof VendorError)) throw outcome.reason;
          failures.push(outcome.reason);
          for (const coin of requested[index] ?? []) unasked.add(coin);
          continue;
        }
        for (const [coin, quote] of validQuotes(outcome.value, at)) {
          const asset = keys.get(coin);
          const price = asset && believeQuote(at, asset, quote);
          if (price) prices.set(getAssetKey(asset), price);
          else unasked.add(coin);
        }
      }
      return {
        prices,
        unasked: new Set([...unasked].flatMap((coin) => keys.get(coin) ?? []).map(getAssetKey)),
        warnings: describeMissing(at, failures, chunks.length > requested.length),
      };
    },
  };
}

type Quote = {
  readonly usd: Decimal;
  readonly timestamp: number;
};

function validQuotes(coins: JsonObject, at: PinnedChain): readonly (readonly [string, Quote])[] {
  return Object.entries(coins).flatMap(([coin, entry]) => {
    if (!isJsonObject(entry)) return [];
    const usd = parseExactDecimal(entry.price);
    const timestamp = parseExactInteger(entry.timestamp);
    const confidence = entry.confidence === undefined ? null : parseExactDecimal(entry.confidence);
    if (usd === null || usd.units < 0n || timestamp === null) return [];
    if (entry.confidence !== undefined && confidence === null) return [];
    if (Math.abs(at.block.timestamp - timestamp) > AGE_SECONDS_MAX) return [];
    if (confidence !== null && compareDecimals(confidence, CONFIDENCE_MIN) < 0) return [];
    return [[coin.toLowerCase(), { usd, timestamp }] as const];
  });
}

/** Null for a price that is not believed, which says nothing about the token. */
function believeQuote({ chain }: PinnedChain, asset: Asset, { usd, timestamp }: Quote): QuotedPrice | null {
  // Anyone may have made this token, and the vendor does not name the pool behind its price, so no sale can confirm it.
  const contract = (asset.contract?.toLowerCase() ?? null) as Asset["contract"];
  return isListed(chain, { contract }) ? quotePrice(usd, { timestamp }) : null;
}

// One warning, however many requests failed: it only has to say that prices may be missing.
function describeMissing(
  at: PinnedChain,
  failures: readonly VendorError[],
  tooMany: boolean,
): readonly string[] {
  const [first] = failures;
  if (first === undefined && !tooMany) return [];
  const failure = first?.kind === "rate-limited" ? "its request limit is reached" : "it did not respond";
  const why = first === undefined ? "too many tokens for one request" : failure;
  return [`Prices from DefiLlama for ${at.chain.name} may be missing: ${why}.`];
}
