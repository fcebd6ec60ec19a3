// Fees of a transaction: quotes of each node, and limits per gas and by the amount of the transfer.
import type { PublicClient } from "viem";
import { createSignatureCodec } from "../../../lib/abi/codec.ts";
import type { Clock } from "../../../lib/clock.ts";
import { formatAmount } from "../../../lib/decimal.ts";
import type { Hex } from "../../../lib/hex.ts";
import type { Log } from "../../../lib/log.ts";
import { readFunction } from "./viem-client.ts";

export type GasPercentOfPayment = {
  /** Most that the gas of a transfer may cost, in percent of what the transfer moves. */
  readonly percentMax: bigint;
  /** In units of the token, which is worth a dollar. */
  readonly decimals: number;
  /** Dollars per native coin. */
  readonly feed: NativePriceFeed;
};

export function createFeeLimitReader(options: {
  readonly limits: FeeLimits;
  readonly share: GasPercentOfPayment | null;
  readonly client: PublicClient;
  readonly clock: Clock;
  readonly log: Log;
}): (amount: bigint, gas: bigint) => Promise<FeeLimits> {
  const { limits, share, ...rest } = options;
  if (share === null) return async () => limits;
  const { percentMax, decimals, feed } = share;
  const nativePrice = createNativePriceReader({ ...rest, feed });
  return async (amount, gas) => {
    const price = await nativePrice();
    return price === null
      ? limits
      : feeLimitsForTransfer(limits, { amount, decimals, gas, percentMax }, price);
  };
}

export type FeeQuote = {
  /** One per node, at least one. */
  readonly baseFeesPerGas: readonly bigint[];
  /** The lowest suggestion, because a tip is paid in full. */
  readonly priorityFeePerGas: bigint;
};

export type FeeLimits = {
  /** Base fee and tip together, in wei per gas. */
  readonly feePerGasMax: bigint;
  /** Largest tip, in wei per gas. */
  readonly priorityFeePerGasMax: bigint;
};

type TransactionFees = { readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint };

// The base fee grows by an eighth per block at most, so that a transaction stays valid for six full blocks. Only the base
// fee of its block is paid.
const BASE_FEE_HEADROOM = 2n;
export const GWEI_DECIMALS = 9;
const WEI_PER_COIN = 10n ** 18n;

/** Fees are above what this facilitator pays: nothing was sent, and a later attempt may succeed. */
export class FeesTooHighError extends Error {
  constructor(baseFeePerGas: bigint, feePerGasMax: bigint) {
    const gwei = (wei: bigint) => `${formatAmount(wei, GWEI_DECIMALS)} gwei`;
    super(`The base fee is ${gwei(baseFeePerGas)}; the limit for this transfer is ${gwei(feePerGasMax)}`);
    this.name = "FeesTooHigh";
  }
}

/** `raisePercent` is above 100 if a transaction replaces another one; the cap still applies. */
export function computeFees(quote: FeeQuote, limits: FeeLimits, raisePercent: bigint): TransactionFees {
  const { feePerGasMax, priorityFeePerGasMax } = limits;
  const baseFeePerGas = plausibleBaseFee(quote.baseFeesPerGas, feePerGasMax);
  const raised = (fee: bigint) => lower((fee * raisePercent) / 100n, feePerGasMax);
  const tip = lower(quote.priorityFeePerGas, priorityFeePerGasMax);
  const maxFeePerGas = raised(baseFeePerGas * BASE_FEE_HEADROOM + tip);
  return { maxFeePerGas, maxPriorityFeePerGas: lower(raised(tip), maxFeePerGas) };
}

/**
 * The highest within the limit: the chain charges its own base fee, so a node that reports too much costs nothing, while
 * one that reports too little would leave the transaction pending.
 */
function plausibleBaseFee(baseFees: readonly bigint[], feePerGasMax: bigint): bigint {
  const ascending = [...baseFees].sort((a, b) => (a < b ? -1 : 1));
  const [lowest] = ascending;
  if (lowest === undefined) throw new Error("no node reported a base fee");
  const within = ascending.filter((fee) => fee <= feePerGasMax).at(-1);
  if (within === undefined) throw new FeesTooHighError(lowest, feePerGasMax);
  return within;
}

/** The limits for one transfer: its gas may cost at most `percentMax` of what it moves. */
function feeLimitsForTransfer(
  limits: FeeLimits,
  transfer: {
    readonly amount: bigint;
    readonly decimals: number;
    readonly gas: bigint;
    readonly percentMax: bigint;
  },
  price: NativePrice,
): FeeLimits {
  const { amount, decimals, gas, percentMax } = transfer;
  const wei =
    (amount * WEI_PER_COIN * 10n ** BigInt(price.scale)) / (10n ** BigInt(decimals) * price.usdPerCoin);
  return { ...limits, feePerGasMax: lower(limits.feePerGasMax, (wei * percentMax) / (100n * gas)) };
}

function lower(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

/** A feed on the payment chain: the dollar price of the coin that gas is paid in. */
type NativePriceFeed = {
  readonly feed: Hex;
  /** The feed publishes at least this often. */
  readonly heartbeatSeconds: number;
};

/** Dollars per coin as a whole number with `scale` decimal places. */
type NativePrice = { readonly usdPerCoin: bigint; readonly scale: number };

const latestRoundData = createSignatureCodec(
  "function latestRoundData() view returns (uint80, int256, uint256, uint256, uint80)",
);
const feedDecimals = createSignatureCodec("function decimals() view returns (uint8)");

// The bound on gas needs no fresher price, and every payment would read it otherwise.
const PRICE_MS = 60_000;
// Each heartbeat is a transaction of its own, which may wait for a block.
const LATE_SECONDS_MAX = 300;

/** Returns null if no price can be read or the feed is late. */
function createNativePriceReader(options: {
  readonly client: PublicClient;
  readonly feed: NativePriceFeed;
  readonly clock: Clock;
  readonly log: Log;
}): () => Promise<NativePrice | null> {
  const { client, feed, clock, log } = options;
  let read: { readonly price: Promise<NativePrice | null>; readonly atMs: number } | null = null;

  async function readPrice(): Promise<NativePrice | null> {
    try {
      const [[, usdPerCoin, , updatedAt], scale] = await Promise.all([
        readFunction(client, latestRoundData, { to: feed.feed, args: [] }),
        readFunction(client, feedDecimals, { to: feed.feed, args: [] }),
      ]);
      const ageSeconds = clock.nowMs() / 1_000 - Number(updatedAt);
      if (usdPerCoin > 0n && ageSeconds <= feed.heartbeatSeconds + LATE_SECONDS_MAX)
        return { usdPerCoin, scale };
      log.warn(
        { component: "payments", event: "native_price_late", feed: feed.feed, ageSeconds },
        "Native price feed is late",
      );
    } catch (err) {
      log.warn(
        { component: "payments", event: "native_price_failed", err, feed: feed.feed },
        "Reading the native price failed",
      );
    }
    return null;
  }

  return () => {
    const nowMs = clock.nowMs();
    if (read === null || nowMs - read.atMs > PRICE_MS) read = { price: readPrice(), atMs: nowMs };
    return read.price;
  };
}

// Below the block time of every chain we serve: a burst of payments shares one read.
const QUOTE_MS = 1_000;

// Nodes respond within a few hundred milliseconds; payments are sent one after another and wait for this.
const OTHERS_MS = 500;

/** Reads from each client; leaves out one that is much slower than the first. Throws if none responds. */
export function createFeeQuoteReader(
  clients: readonly PublicClient[],
  clock: Clock,
): () => Promise<FeeQuote> {
  let latest: { readonly quote: FeeQuote; readonly atMs: number } | null = null;
  let inFlight: Promise<FeeQuote> | null = null;

  async function readQuote(): Promise<FeeQuote> {
    const quotes: NodeQuote[] = [];
    const reads = clients.map(async (client) => {
      quotes.push(await readNodeQuote(client));
    });
    const all = Promise.allSettled(reads);
    await Promise.any(reads).catch(({ errors }: AggregateError) => {
      throw errors[0] ?? new Error("no node is configured");
    });
    const waiting = new AbortController();
    await Promise.race([all, clock.sleep(OTHERS_MS, waiting.signal).catch(() => undefined)]);
    waiting.abort();
    const tips = quotes.map(({ priorityFeePerGas }) => priorityFeePerGas);
    return {
      baseFeesPerGas: quotes.map(({ baseFeePerGas }) => baseFeePerGas),
      priorityFeePerGas: tips.reduce((lowest, tip) => (tip < lowest ? tip : lowest)),
    };
  }

  async function refresh(): Promise<FeeQuote> {
    try {
      const quote = await readQuote();
      latest = { quote, atMs: clock.nowMs() };
      return quote;
    } finally {
      // A failed read is not shared with later payments.
      inFlight = null;
    }
  }

  return async () => {
    if (latest !== null && clock.nowMs() - latest.atMs <= QUOTE_MS) return latest.quote;
    inFlight ??= refresh();
    return inFlight;
  };
}

type NodeQuote = { readonly baseFeePerGas: bigint; readonly priorityFeePerGas: bigint };

async function readNodeQuote(client: PublicClient): Promise<NodeQuote> {
  const [{ baseFeePerGas }, priorityFeePerGas] = await Promise.all([
    client.getBlock(),
    client.estimateMaxPriorityFeePerGas(),
  ]);
  if (typeof baseFeePerGas !== "bigint") throw new Error("the node reports no base fee");
  return { baseFeePerGas, priorityFeePerGas };
}
