// What the list of spenders says about a contract that wallets give permissions to.
import type { Hex } from "../../../lib/hex.ts";

type SpenderKind =
  | "aggregator"
  | "allowance-module"
  | "bridge"
  | "delegate"
  | "derivatives"
  | "fallback-handler"
  | "lending-pool"
  | "marketplace"
  | "permission-manager"
  | "permit2"
  | "pool"
  | "position-adapter"
  | "position-manager"
  | "router"
  | "signed-module"
  | "staking"
  | "trading-bot"
  | "vault";

export type Spender = {
  readonly name: string;
  readonly protocol: string;
  readonly kind: SpenderKind;
  /** It takes tokens through allowances in Permit2. */
  readonly takesPermit2?: true;
  /** Wallets let it act on their positions in protocols: borrow for them, or move what they supplied. */
  readonly takesPositions?: true;
  /** A delegate that lets keys alongside the owner's act: `keyCount()` counts them, or no view lists them. */
  readonly furtherKeys?: "counted" | "unlisted";
  /**
   * A delegate that runs the code which the account's ERC-1967 slot names: the published code, lower-case, which stores
   * owners that no view lists.
   */
  readonly implementations?: readonly Hex[];
  /** Where every one of the addresses was looked up: repositories on GitHub, each with a file or folder. */
  readonly source: string;
  /** Chain id and address, with checksum. A contract may have several addresses on a chain. */
  readonly deployments: readonly (readonly [chainId: number, address: Hex])[];
};

/** Ethereum, Optimism, Polygon, Base and Arbitrum. */
const CHAIN_IDS = [1, 10, 137, 8453, 42161];

/** The same address on every chain that the portfolio reads. */
export function everywhere(address: Hex): Spender["deployments"] {
  return CHAIN_IDS.map((chainId) => [chainId, address]);
}
