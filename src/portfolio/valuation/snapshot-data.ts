// The data of a snapshot, per chain, before valuation.
import type { Hex } from "../../lib/hex.ts";
import type { ChainCrossCheck } from "../../schema/portfolio/snapshot.ts";
import type { GasCosts } from "../account/gas.ts";
import type { AccountFacts } from "../account/kind.ts";
import type { LoanHealth } from "../health/read-health.ts";
import type {
  AssetKey,
  AssetPrice,
  ChainConfig,
  Holding,
  PinnedBlock,
  ProtocolPosition,
  WalletActivity,
} from "../types.ts";

export type ChainData = {
  readonly chain: ChainConfig;
  readonly block: PinnedBlock;
  readonly account: AccountFacts;
  /** Null when unknown. */
  readonly gas: GasCosts | null;
  /** The verified name of the wallet; null when it has none. */
  readonly name: string | null;
  /** One entry per asset. */
  readonly holdings: readonly Holding[];
  readonly positions: readonly ProtocolPosition[];
  /** The health of the lending accounts among the positions. */
  readonly health: readonly LoanHealth[];
  /** Lending protocols in which a debt of the wallet may be missing among the positions. */
  readonly unreadDebts: ReadonlySet<string>;
  readonly prices: ReadonlyMap<AssetKey, AssetPrice>;
  /** Assets that a source failed to look up or left out: a missing price says nothing about them. */
  readonly incompletePrices: ReadonlySet<AssetKey>;
  /** Tokens that a protocol's factory proves to be its own. */
  readonly provenTokens: ReadonlySet<Hex>;
  /** Newest first. */
  readonly activity: readonly WalletActivity[];
  readonly warnings: readonly string[];
  /** Present only if a second source is compared. */
  readonly crossCheck?: ChainCrossCheck;
};

export type SnapshotData = {
  readonly wallet: Hex;
  readonly takenAtMs: number;
  readonly provider: string;
  /** In the order of the request. */
  readonly chains: readonly ChainData[];
};
