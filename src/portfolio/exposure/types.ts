// Permissions over a wallet as they are read on one chain.
import type { Hex } from "../../lib/hex.ts";
import type { PermissionKind, Revocation } from "../../schema/portfolio/exposure.ts";
import type { Delegation } from "../types.ts";

/** The account whose positions a permission inside a protocol covers. */
export type PositionPower = {
  readonly delegation: Delegation;
  /** The amount that a delegate of debt may borrow. */
  readonly underlying?: Hex;
  /** Euler: one bit for each account of the wallet. */
  readonly accounts?: bigint | undefined;
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
  /** The id of one NFT. */
  readonly tokenId: bigint | null;
  /** Seconds since 1970; null for a permission that does not expire. */
  readonly expiresAt: bigint | null;
  /** Whether its holder alone can take everything that the wallet has; null when only the code of a contract could tell. */
  readonly controlsAll: boolean | null;
  readonly revoke: Revocation | null;
  /** The subject of a permission over positions. */
  readonly power?: PositionPower | undefined;
};

/** A permission of which `known` says what differs from most. */
export function createPermission(
  kind: PermissionKind,
  contract: Hex,
  spender: Hex,
  revoke: Revocation | null,
  known: Partial<LivePermission> = {},
): LivePermission {
  const none = { via: null, rawAllowance: null, tokenId: null, expiresAt: null, controlsAll: false };
  return { kind, contract, spender, ...none, revoke, ...known };
}

/** The permissions of one kind or of one part of an account. */
export type PermissionFindings = {
  readonly permissions: readonly LivePermission[];
  readonly warnings: readonly string[];
  /** Nothing of the kind is left out, as far as the contracts can tell. */
  readonly isComplete: boolean;
};

export const NO_FINDINGS: PermissionFindings = { permissions: [], warnings: [], isComplete: true };
