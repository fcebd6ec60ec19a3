// One Aave v3 market: its pool, its oracle, and the tokens that stand for supply and debt of each reserve.
import type { Hex } from "../../../lib/hex.ts";

export type AaveReserve = {
  readonly underlying: Hex;
  readonly aToken: Hex;
  readonly debtToken: Hex;
};

/** Addresses are lower-case. */
export type AaveMarket = {
  readonly name: string;
  readonly pool: Hex;
  readonly oracle: Hex;
  /** Those known beforehand; the pool is asked whether there are more. */
  readonly reserves: readonly AaveReserve[];
};
