// Permissions over a wallet: as they are read on one chain, and as the response shows them.
import type { Hex } from "../../lib/hex.ts";
import type { Delegation } from "../types.ts";

export type PermissionKind =
  | "erc20-allowance"
  | "permit2-allowance"
  | "token-operator"
  | "nft-operator"
  | "nft-approval"
  | "borrow-delegation"
  | "position-operator"
  | "delegate"
  | "owner"
  | "module"
  | "module-allowance"
  | "guard"
  | "fallback-handler"
  | "session-key"
  | "guardian"
  | "entry-point"
  | "account-code";

export type PermissionReason =
  | "unlimited"
  | "unknown spender"
  | "unverified delegate"
  | "unverified code"
  | "full control"
  | "spam token";

/** What ends a permission: a call that the wallet must make, or an authorization (EIP-7702) that it must sign. */
export type Revocation =
  | {
      readonly type: "call";
      readonly from: Hex;
      readonly to: Hex;
      readonly data: Hex;
      readonly value: "0";
      readonly description: string;
    }
  | {
      readonly type: "authorization";
      readonly authorization: { readonly chainId: number; readonly address: Hex };
      readonly description: string;
    };

/** Whose positions a permission inside a protocol is about. */
export type PositionPower = {
  readonly delegation: Delegation;
  /** What a delegate of debt may borrow. */
  readonly underlying?: Hex;
  /** Euler: one bit for each account of the wallet. */
  readonly accounts?: bigint;
};

/** A permission that is live at the pinned block. */
export type LivePermission = {
  readonly kind: PermissionKind;
  /** The token, the collection, or the wallet itself. Lower-case, as all addresses. */
  readonly contract: Hex;
  readonly spender: Hex;
  /** Permit2, or the module of a Safe, for allowances in it. */
  readonly via: Hex | null;
  /** Null if the permission is not an amount. */
  readonly rawAllowance: bigint | null;
  /** Of one NFT. */
  readonly tokenId: bigint | null;
  /** Seconds since 1970; null for a permission that does not expire. */
  readonly expiresAt: bigint | null;
  /** Whether its holder alone can take everything that the wallet has; null when only the code of a contract could tell. */
  readonly controlsAll: boolean | null;
  readonly revoke: Revocation | null;
  /** Of a permission over positions. */
  readonly power?: PositionPower;
};

export type ExposurePermission = {
  readonly chain: string;
  readonly chainId: string;
  readonly kind: PermissionKind;
  readonly contract: string;
  readonly protocol: string | null;
  readonly symbol: string | null;
  readonly name: string | null;
  readonly decimals: number | null;
  readonly spender: string;
  readonly spenderName: string | null;
  readonly spenderProtocol: string | null;
  readonly via: string | null;
  readonly rawAllowance: string | null;
  readonly allowance: string | null;
  readonly unlimited: boolean;
  readonly tokenId: string | null;
  readonly expiresAt: string | null;
  readonly rawBalance: string | null;
  readonly balance: string | null;
  readonly priceUsd: string | null;
  readonly valueAtRiskUsd: string | null;
  readonly partial: boolean;
  readonly reasons: readonly PermissionReason[];
  readonly revoke: Revocation | null;
};

type ExposureCounts = {
  readonly permissionCount: number;
  readonly unlimitedCount: number;
  readonly unknownSpenderCount: number;
  readonly valueAtRiskUsd: string | null;
  /** Something of it has no known value, so that it is at least this. */
  readonly partial: boolean;
};

type ChainExposureSummary = ExposureCounts & {
  readonly chain: string;
  /** Null for a chain that could not be read. */
  readonly blockNumber: number | null;
  /** The oldest block that was searched for approvals; null when they could not be searched. */
  readonly searchedFromBlock: number | null;
};

export type Exposure = {
  readonly address: string;
  readonly timestamp: string;
  readonly chains: readonly string[];
  readonly summary: ExposureCounts & {
    readonly spenderListVersion: string;
    readonly chains: readonly ChainExposureSummary[];
    readonly warnings: readonly string[];
  };
  readonly permissions: readonly ExposurePermission[];
  readonly provider: string;
  /** Only where the request allows it and chains could not be read: their slugs. */
  readonly failedChains?: readonly string[];
};
