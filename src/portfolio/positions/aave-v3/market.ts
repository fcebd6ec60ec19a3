// One Aave v3 market: its pool, its oracle, and the supply and debt tokens of each reserve.
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
  /** As of the data file; the reader checks the pool for newer ones. */
  readonly reserves: readonly AaveReserve[];
};
