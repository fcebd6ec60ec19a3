// Accounts with debt: collateral and debt of one market are valued together, or the totals say that they are unknown.
import type { UsdValue } from "./usd.ts";

/** The fields of a valued position that the rule needs. */
export type AccountPart = {
  readonly protocol: string;
  /** Null for a position that secures nothing: it is an account of its own. */
  readonly market: string | null;
  readonly isDebt: boolean;
  /** All of its account was read. */
  readonly isRead: boolean;
  /** All of it was read, and each asset has a value that no limit cuts. */
  readonly isExact: boolean;
};

/**
 * The protocols of accounts that owe something, or may because a part could not be read, and whose value is not known in
 * full. Leaving out what has no price would count the debt without its collateral, or the collateral without its debt.
 */
export function findUnknownAccounts(parts: readonly AccountPart[]): ReadonlySet<string> {
  const accounts = new Map<unknown, AccountPart[]>();
  for (const part of parts) {
    const key = part.market === null ? part : `${part.protocol}\n${part.market}`;
    accounts.set(key, [...(accounts.get(key) ?? []), part]);
  }
  const unknown = [...accounts.values()].filter(
    (account) =>
      account.some(({ isDebt, isRead }) => isDebt || !isRead) && !account.every(({ isExact }) => isExact),
  );
  return new Set(unknown.flatMap((account) => account.map(({ protocol }) => protocol)));
}

/** Whether a value is that of some assets but not of all. */
export function isPartial(values: readonly UsdValue[]): boolean {
  return values.includes(null) && values.some((value) => value !== null);
}
