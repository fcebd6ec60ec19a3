// Pair arithmetic, exact to the unit: what a share of a pair pays out, and what the pair mints to its protocol before.

/** The largest whole number whose square is not above the value. */
export function integerSqrt(value: bigint): bigint {
  if (value < 0n) throw new RangeError("A negative number has no root");
  if (value < 2n) return value;
  // Newton's method from above: it falls until it is there.
  let root = 1n << BigInt(Math.ceil(value.toString(2).length / 2));
  for (;;) {
    const next = (root + value / root) >> 1n;
    if (next >= root) return root;
    root = next;
  }
}

type FeeGrowth = {
  readonly reserve0: bigint;
  readonly reserve1: bigint;
  /** The product of the reserves when liquidity was last added or removed; zero while no fee is due. */
  readonly kLast: bigint;
  readonly weights: { readonly growth: bigint; readonly now: bigint; readonly last: bigint };
};

/** The supply after the pair has minted the protocol's part of the fees since `kLast`, as it does before a payout. */
export function computeSupplyAfterFee(
  supply: bigint,
  { reserve0, reserve1, kLast, weights }: FeeGrowth,
): bigint {
  if (kLast === 0n) return supply;
  const root = integerSqrt(reserve0 * reserve1);
  const rootLast = integerSqrt(kLast);
  if (root <= rootLast) return supply;
  const minted =
    (supply * weights.growth * (root - rootLast)) / (root * weights.now + rootLast * weights.last);
  return supply + minted;
}
