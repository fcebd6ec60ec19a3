// One market of Aave or of a fork: its pool, its oracle, and the supply and debt tokens of each reserve.
import type { Hex } from "../../../lib/hex.ts";

type AaveReserve = {
  readonly underlying: Hex;
  readonly aToken: Hex;
  /** Of debt at a variable rate. */
  readonly debtToken: Hex;
};

/** Addresses are lower-case. */
export type AaveMarket = {
  readonly name: string;
  readonly pool: Hex;
  readonly oracle: Hex;
  /** The asset in which the oracle counts, with 18 decimals; dollars where it is absent. */
  readonly quote?: Hex;
  /** As of the data file; the reader checks the pool for newer ones. */
  readonly reserves: readonly AaveReserve[];
};

/** Words of a pool's data about one reserve, and the positions of its tokens in them. */
type ReserveLayout = {
  readonly words: number;
  readonly aToken: number;
  readonly debtToken: number;
  /** Null if debt at a stable rate no longer exists. */
  readonly stableDebtToken: number | null;
};

/** What differs between the versions of Aave and its forks. */
export type AaveProtocol = {
  /** As positions name it. */
  readonly protocol: string;
  /** As warnings name it. */
  readonly title: string;
  readonly layout: ReserveLayout;
};
