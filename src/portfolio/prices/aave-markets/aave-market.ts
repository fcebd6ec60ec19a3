// What is known of one Aave market: the oracle, and the assets it is asked about.
import type { Hex } from "../../../kit/hex.ts";

export type AaveMarket = {
  readonly oracle: Hex;
  /** Lower-case addresses under the names the market gives them. */
  readonly assets: Readonly<Record<string, Hex>>;
};
