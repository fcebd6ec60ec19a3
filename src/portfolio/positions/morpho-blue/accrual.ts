// Morpho Blue's interest and share arithmetic, with the rounding of its contracts.

/** The fields of `market(id)`, in the order in which the contract returns them. */
export type MarketState = {
  readonly supplyAssets: bigint;
  readonly supplyShares: bigint;
  readonly borrowAssets: bigint;
  readonly borrowShares: bigint;
  /** Seconds since 1970. */
  readonly lastUpdate: bigint;
  /** The part of the interest that goes to the fee recipient, in units of 10^-18. */
  readonly fee: bigint;
};

const WAD = 10n ** 18n;
/**
 * The amounts that the contract adds to shares and assets, so that the first depositor cannot set the price of a share.
 */
const VIRTUAL_SHARES = 1_000_000n;
const VIRTUAL_ASSETS = 1n;

/** The state after interest at `ratePerSecond` (in units of 10^-18) up to `timestamp`. */
export function accrueInterest(market: MarketState, ratePerSecond: bigint, timestamp: bigint): MarketState {
  const elapsed = timestamp - market.lastUpdate;
  if (elapsed <= 0n || market.borrowAssets === 0n) return market;
  const interest = (market.borrowAssets * compound(ratePerSecond, elapsed)) / WAD;
  const supplyAssets = market.supplyAssets + interest;
  const feeAssets = (interest * market.fee) / WAD;
  const feeShares = toSharesDown(feeAssets, supplyAssets - feeAssets, market.supplyShares);
  return {
    ...market,
    supplyAssets,
    supplyShares: market.supplyShares + feeShares,
    borrowAssets: market.borrowAssets + interest,
    lastUpdate: timestamp,
  };
}

/** The first three terms of e^(rate × seconds) - 1. */
function compound(ratePerSecond: bigint, seconds: bigint): bigint {
  const first = ratePerSecond * seconds;
  const second = (first * first) / (2n * WAD);
  const third = (second * first) / (3n * WAD);
  return first + second + third;
}

function toSharesDown(assets: bigint, totalAssets: bigint, totalShares: bigint): bigint {
  return (assets * (totalShares + VIRTUAL_SHARES)) / (totalAssets + VIRTUAL_ASSETS);
}

/** The value of supplied shares, rounded down. */
export function toSuppliedAssets(shares: bigint, { supplyAssets, supplyShares }: MarketState): bigint {
  return (shares * (supplyAssets + VIRTUAL_ASSETS)) / (supplyShares + VIRTUAL_SHARES);
}

/** The amount that must be repaid, rounded up. */
export function toBorrowedAssets(shares: bigint, { borrowAssets, borrowShares }: MarketState): bigint {
  const divisor = borrowShares + VIRTUAL_SHARES;
  return (shares * (borrowAssets + VIRTUAL_ASSETS) + divisor - 1n) / divisor;
}
