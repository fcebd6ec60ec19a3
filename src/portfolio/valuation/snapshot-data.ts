// The data of a snapshot, per chain, before valuation.
import type { Decimal } from "../../lib/decimal.ts";
import type { Hex } from "../../lib/hex.ts";
import type {
  AssetKey,
  ChainConfig,
  Holding,
  PinnedBlock,
  ProtocolPosition,
  WalletActivity,
} from "../types.ts";

export type AssetPrice = {
  readonly price: Decimal;
  /** The name of the price source. */
  readonly source: string;
};

export type ChainData = {
  readonly chain: ChainConfig;
  readonly block: PinnedBlock;
  /** One entry per asset. */
  readonly holdings: readonly Holding[];
  readonly positions: readonly ProtocolPosition[];
  readonly prices: ReadonlyMap<AssetKey, AssetPrice>;
  /** False when a price source failed: a missing price then says nothing about the token. */
  readonly pricesComplete: boolean;
  /** Newest first. */
  readonly activity: readonly WalletActivity[];
  readonly warnings: readonly string[];
};

export type SnapshotData = {
  readonly wallet: Hex;
  readonly takenAtMs: number;
  readonly provider: string;
  /** In the order of the request. */
  readonly chains: readonly ChainData[];
};
