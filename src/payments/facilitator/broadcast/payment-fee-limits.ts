// The fee limits of one transfer: the cap per gas, and a share of what the transfer moves where the coin has a price.
import type { PublicClient } from "viem";
import type { Clock } from "../../../lib/clock.ts";
import type { Log } from "../../../lib/log.ts";
import { type FeeLimits, feeLimitsForTransfer } from "./fee-limits.ts";
import { createNativePriceReader, type NativePriceFeed } from "./native-price.ts";

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
