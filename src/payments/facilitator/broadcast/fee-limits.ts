// What a transaction may pay for gas: bounded per gas and by the amount of the transfer, whatever nodes suggest.
import type { PublicClient } from "viem";
import type { Clock } from "../../../lib/clock.ts";
import { formatAmount } from "../../../lib/decimal.ts";
import type { Log } from "../../../lib/log.ts";
import { createNativePriceReader, type NativePrice, type NativePriceFeed } from "./native-price.ts";

export type GasPercentOfPayment = {
  /** Most that the gas of a transfer may cost, in percent of what the transfer moves. */
  readonly percentMax: bigint;
  /** Of the token, which is worth a dollar. */
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
const GWEI_DECIMALS = 9;
const WEI_PER_COIN = 10n ** 18n;

/** Fees are above what this facilitator pays: nothing was sent, and a later attempt may succeed. */
export class FeesTooHighError extends Error {
  constructor(baseFeePerGas: bigint, feePerGasMax: bigint) {
    const gwei = (wei: bigint) => `${formatAmount(wei, GWEI_DECIMALS)} gwei`;
    super(`The base fee is ${gwei(baseFeePerGas)}; the limit for this transfer is ${gwei(feePerGasMax)}`);
    this.name = "FeesTooHigh";
  }
}

/** `raisePercent` is above 100 where a transaction replaces another one; the cap still applies. */
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
