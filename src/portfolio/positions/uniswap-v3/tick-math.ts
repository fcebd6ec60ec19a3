// Uniswap v3 arithmetic, exact to the unit: ticks to square root prices, liquidity to amounts, and fee growth.
import type { PairAmounts } from "../liquidity.ts";

export const TICK_MIN = -887_272;
export const TICK_MAX = 887_272;
export const SQRT_PRICE_MIN = 4_295_128_739n;
export const SQRT_PRICE_MAX = 1_461_446_703_485_210_103_287_273_052_203_988_822_378_723_970_342n;

const Q32 = 1n << 32n;
const Q96 = 1n << 96n;
const Q128 = 1n << 128n;
const UINT256_MAX = (1n << 256n) - 1n;

/**
 * 2^128 / sqrt(1.0001)^(2^i), the factor of bit i of a tick. These are the rounded constants of the deployed pools:
 * other roundings would differ from the chain in the last unit.
 */
export const TICK_BIT_FACTORS: readonly bigint[] = [
  0xfffcb933bd6fad37aa2d162d1a594001n,
  0xfff97272373d413259a46990580e213an,
  0xfff2e50f5f656932ef12357cf3c7fdccn,
  0xffe5caca7e10e4e61c3624eaa0941cd0n,
  0xffcb9843d60f6159c9db58835c926644n,
  0xff973b41fa98c081472e6896dfb254c0n,
  0xff2ea16466c96a3843ec78b326b52861n,
  0xfe5dee046a99a2a811c461f1969c3053n,
  0xfcbe86c7900a88aedcffc83b479aa3a4n,
  0xf987a7253ac413176f2b074cf7815e54n,
  0xf3392b0822b70005940c7a398e4b70f3n,
  0xe7159475a2c29b7443b29c7fa6e889d9n,
  0xd097f3bdfd2022b8845ad8f792aa5825n,
  0xa9f746462d870fdf8a65dc1f90e061e5n,
  0x70d869a156d2a1b890bb3df62baf32f7n,
  0x31be135f97d08fd981231505542fcfa6n,
  0x9aa508b5b7a84e1c677de54f3e99bc9n,
  0x5d6af8dedb81196699c329225ee604n,
  0x2216e584f5fa1ea926041bedfe98n,
  0x48a170391f7dc42444e8fa2n,
];

/** sqrt(1.0001^tick) × 2^96, rounded up as the pools do. */
export function getSqrtPriceAtTick(tick: number): bigint {
  if (!Number.isInteger(tick) || tick < TICK_MIN || tick > TICK_MAX) {
    throw new RangeError(`A tick is a whole number from ${TICK_MIN} to ${TICK_MAX}, not ${tick}`);
  }
  const distance = Math.abs(tick);
  const below = TICK_BIT_FACTORS.reduce(
    (ratio, factor, bit) => ((distance >> bit) & 1 ? (ratio * factor) >> 128n : ratio),
    Q128,
  );
  // The factors are for negative ticks; a positive tick takes the reciprocal.
  const ratio = tick > 0 ? UINT256_MAX / below : below;
  return (ratio + Q32 - 1n) / Q32;
}

type LiquidityRange = { readonly tickLower: number; readonly tickUpper: number };

/** The amounts that burning the liquidity would pay out at this price, rounded down as the pools do. */
export function getAmountsForLiquidity(
  liquidity: bigint,
  sqrtPrice: bigint,
  range: LiquidityRange,
): PairAmounts {
  const lower = getSqrtPriceAtTick(range.tickLower);
  const upper = getSqrtPriceAtTick(range.tickUpper);
  const price = sqrtPrice < lower ? lower : sqrtPrice > upper ? upper : sqrtPrice;
  return {
    amount0: (liquidity * Q96 * (upper - price)) / upper / price,
    amount1: (liquidity * (price - lower)) / Q96,
  };
}

export type TickFees = { readonly outside0: bigint; readonly outside1: bigint };
type PoolFees = {
  readonly tick: number;
  readonly global0: bigint;
  readonly global1: bigint;
  readonly lower: TickFees;
  readonly upper: TickFees;
};

/** Fees per unit of liquidity (× 2^128) earned inside the range so far; the counters wrap around by design. */
export function getFeeGrowthInside(range: LiquidityRange, fees: PoolFees): readonly [bigint, bigint] {
  const inside = (global: bigint, lower: bigint, upper: bigint): bigint => {
    const below = fees.tick >= range.tickLower ? lower : global - lower;
    const above = fees.tick < range.tickUpper ? upper : global - upper;
    return BigInt.asUintN(256, global - below - above);
  };
  return [
    inside(fees.global0, fees.lower.outside0, fees.upper.outside0),
    inside(fees.global1, fees.lower.outside1, fees.upper.outside1),
  ];
}

/** Fees earned since the position stored the fee growth `last`. */
export function computeFeesSince(last: bigint, now: bigint, liquidity: bigint): bigint {
  return (BigInt.asUintN(256, now - last) * liquidity) / Q128;
}
