// What can be taken: the smaller of allowance and balance, times the price; of an asset never more than is there.
import { compareDecimals } from "../../lib/decimal.ts";
import type { Hex } from "../../lib/hex.ts";
import type { AssetPrice, Holding } from "../types.ts";
import { sumKnownValues, type UsdValue, valueAsset } from "../valuation/usd.ts";
import type { PermissionRead } from "./scan-permissions.ts";
import type { LivePermission } from "./types.ts";

/** A token of the wallet, as it is valued. */
export type ExposedToken = {
  readonly holding: Holding;
  /** False when the balance could not be read: nothing is then known about the risk. */
  readonly isBalanceKnown: boolean;
  readonly price: AssetPrice | null;
  /** Never counted in a total, as in a snapshot. */
  readonly isSpam: boolean;
};

type ExposedTokens = ReadonlyMap<Hex, ExposedToken>;

/** Of one token alone; 0 where nothing is held, null where the price is unknown. */
function valueTokenAmount(token: ExposedToken | undefined, amount: bigint): UsdValue {
  if (token === undefined || !token.isBalanceKnown) return null;
  const { holding, price } = token;
  const taken = amount < holding.rawBalance ? amount : holding.rawBalance;
  if (taken === 0n) return { units: 0n, scale: 0 };
  const valueMax = price?.payableUsdMax ?? null;
  return valueAsset({ ...holding, rawBalance: taken }, price, { valueMax }).value;
}

/** Null where it is unknown. `everything` is what all tokens of the chain are worth. */
export function valuePermission(
  permission: LivePermission,
  tokens: ExposedTokens,
  directAllowances: ReadonlyMap<string, bigint | null>,
  everything: UsdValue,
): UsdValue {
  const { kind, contract, via, rawAllowance, controlsAll } = permission;
  if (controlsAll === null) return null;
  if (controlsAll) return everything;
  if (kind === "erc20-allowance") return valueTokenAmount(tokens.get(contract), rawAllowance ?? 0n);
  if (kind === "permit2-allowance") {
    // Permit2 can pass on no more than it may take itself.
    const outer = directAllowances.get(`${contract} ${via}`);
    if (outer === null) return null;
    const [inner, most] = [rawAllowance ?? 0n, outer ?? 0n];
    return valueTokenAmount(tokens.get(contract), inner < most ? inner : most);
  }
  // NFTs have no price, and what a session key may take depends on the rules of its account.
  if (kind === "nft-operator" || kind === "nft-approval" || kind === "session-key") return null;
  // An owner below the threshold, a guardian or a guard moves nothing by itself.
  return { units: 0n, scale: 0 };
}

/** By token and spender; null for one that could not be read, absent where nothing is allowed. */
export function indexDirectAllowances(
  permissions: readonly LivePermission[],
  failed: readonly PermissionRead[],
): ReadonlyMap<string, bigint | null> {
  const keyOf = ({ contract, spender }: Pick<PermissionRead, "contract" | "spender">) =>
    `${contract} ${spender}`;
  const isDirect = ({ kind }: Pick<LivePermission, "kind">) => kind === "erc20-allowance";
  return new Map([
    ...failed.filter(isDirect).map((read) => [keyOf(read), null] as const),
    ...permissions.filter(isDirect).map((found) => [keyOf(found), found.rawAllowance ?? 0n] as const),
  ]);
}

/**
 * The most that all holders together can take: of each token the smaller of its balance and the sum of its ERC-20
 * allowances, once; everything where someone but an owner controls the wallet. Allowances in Permit2 are part of the
 * allowance that Permit2 has, and add nothing.
 */
export function valueTotalAtRisk(
  permissions: readonly LivePermission[],
  tokens: ExposedTokens,
  everything: UsdValue,
): UsdValue {
  if (permissions.some(({ controlsAll, kind }) => controlsAll && kind !== "owner")) return everything;
  const sums = new Map<Hex, bigint>();
  for (const { kind, contract, rawAllowance } of permissions) {
    if (kind !== "erc20-allowance" || tokens.get(contract)?.isSpam) continue;
    sums.set(contract, (sums.get(contract) ?? 0n) + (rawAllowance ?? 0n));
  }
  return sumKnownValues([...sums].map(([contract, sum]) => valueTokenAmount(tokens.get(contract), sum)));
}

/** Of all tokens, and the native coin, that are not spam. */
export function valueEverything(tokens: readonly ExposedToken[]): UsdValue {
  const held = tokens.filter(({ isSpam, holding }) => !isSpam && holding.rawBalance > 0n);
  return sumKnownValues(held.map((token) => valueTokenAmount(token, token.holding.rawBalance)));
}

/** Largest first; what is unknown comes before what is nothing, because it may be worth something. */
export function compareRisk(a: UsdValue, b: UsdValue): number {
  if (a !== null && b !== null) return compareDecimals(b, a);
  if (a === null && b === null) return 0;
  const known = a ?? b;
  const isNothing = known?.units === 0n;
  return (a === null) === isNothing ? -1 : 1;
}
