// Computes what can be taken: the smaller of allowance and balance, times the price; never more of an asset than is there.
import { compareDecimals } from "../../lib/decimal.ts";
import type { Hex } from "../../lib/hex.ts";
import type { AssetPrice, Holding } from "../types.ts";
import { type UsdValue, valueAsset } from "../valuation/usd.ts";
import {
  type ExposedPositions,
  findAccounts,
  indexReceipts,
  limitRisk,
  NO_RISK,
  type PositionAccount,
  type Risk,
  sumRisks,
  UNKNOWN_RISK,
  valueDelegations,
  valuePower,
} from "./positions-at-risk.ts";
import type { PermissionRead } from "./scan-permissions.ts";
import type { LivePermission } from "./types.ts";

/** As modules of a Safe name the native coin among their tokens. */
export const NATIVE_COIN: Hex = `0x${"0".repeat(40)}`;

/** A token of the wallet, as it is valued. */
export type ExposedToken = {
  readonly holding: Holding;
  /** False when the balance could not be read: nothing is then known about the risk. */
  readonly isBalanceKnown: boolean;
  /** A list has it, or a feed, deep pools or a protocol show that it is genuine. */
  readonly isVouched: boolean;
  readonly price: AssetPrice | null;
  /** Never counted in a total, as in a snapshot. */
  readonly isSpam: boolean;
};

/** All that permissions of one chain are valued by. */
type ChainRisk = {
  readonly wallet: Hex;
  readonly permissions: readonly LivePermission[];
  /** Reads that failed, and may be a permission. */
  readonly failed: readonly PermissionRead[];
  /** Nothing else can be taken, as far as the searched blocks tell. */
  readonly isComplete: boolean;
  readonly tokens: readonly ExposedToken[];
  readonly positions: ExposedPositions;
};

/** Values the permissions of one chain, each by itself and all together. */
export class RiskValuation {
  readonly #chain: ChainRisk;
  readonly #tokens: ReadonlyMap<Hex, ExposedToken>;
  readonly #receipts: ReturnType<typeof indexReceipts>;
  /** Allowances by token and spender; null for one that could not be read, absent if nothing is allowed. */
  readonly #direct: ReadonlyMap<string, bigint | null>;
  readonly #everything: Risk;

  constructor(chain: ChainRisk) {
    this.#chain = chain;
    this.#tokens = new Map(chain.tokens.map((token) => [token.holding.contract ?? NATIVE_COIN, token]));
    this.#receipts = indexReceipts(chain.positions);
    this.#direct = indexDirectAllowances(chain.permissions, chain.failed);
    this.#everything = this.#valueEverything();
  }

  tokenOf(contract: Hex): ExposedToken | undefined {
    return this.#tokens.get(contract);
  }

  /** Anyone can make a token or a collection, and approve it in a wallet's name: what is unknown of it says nothing. */
  isStrange({ kind, contract, power }: LivePermission): boolean {
    if (isOfToken(kind)) return !this.#tokens.get(contract)?.isVouched;
    return (kind === "nft-operator" || kind === "nft-approval") && power === undefined;
  }

  valuePermission(permission: LivePermission): Risk {
    const { kind, contract, via, rawAllowance, controlsAll, power } = permission;
    if (controlsAll === null) return UNKNOWN_RISK;
    if (controlsAll) return this.#everything;
    if (isSpendable(kind)) return this.#valueAmount(contract, rawAllowance ?? 0n);
    if (kind === "permit2-allowance") {
      // Permit2 can pass on no more than it may take itself.
      const outer = this.#direct.get(`${contract} ${via}`);
      if (outer === null) return UNKNOWN_RISK;
      const [inner, most] = [rawAllowance ?? 0n, outer ?? 0n];
      return this.#valueAmount(contract, inner < most ? inner : most);
    }
    if (power !== undefined) return valuePower(permission, this.#chain.positions, this.#chain.wallet);
    // Other NFTs have no price, and what a session key may take depends on the rules of its account.
    if (kind === "nft-operator" || kind === "nft-approval" || kind === "session-key") return UNKNOWN_RISK;
    // An owner below the threshold, a guardian or a guard moves nothing by itself.
    return NO_RISK;
  }

  /**
   * The most that all holders together can take: of each token the smaller of its balance and the sum of its ERC-20
   * allowances, of each account in a protocol what it is worth, once; everything if someone but an owner controls the
   * wallet. Allowances in Permit2 are part of the allowance that Permit2 has, and add nothing.
   */
  valueTotal(): Risk {
    const { permissions, isComplete, wallet } = this.#chain;
    // Owners are the wallet, but an account that runs code by EIP-7702 has a key of its own.
    const isDelegated = permissions.some(({ kind }) => kind === "delegate");
    const isOther = ({ kind, spender }: LivePermission) =>
      kind !== "owner" || (isDelegated && spender !== wallet);
    if (permissions.some((one) => one.controlsAll && isOther(one))) return this.#everything;
    const accounts = new Map<PositionAccount, Risk[]>();
    const add = (account: PositionAccount, risk: Risk) =>
      accounts.set(account, [...(accounts.get(account) ?? []), risk]);
    const tokens = this.#sumAllowances().flatMap(([contract, sum]): readonly Risk[] => {
      const risk = this.#valueAmount(contract, sum);
      const receipt = this.#receipts.get(contract);
      if (receipt === undefined) return [risk];
      add(receipt.account, risk);
      return [];
    });
    const unread = this.#addPowers(add);
    // The value that these can take is not known.
    const hidden = permissions.filter((one) => one.kind === "session-key" || one.controlsAll === null);
    return sumRisks([
      ...tokens,
      ...[...accounts].map(([account, risks]) => limitToAccount(sumRisks(risks), account)),
      ...[...unread, ...hidden].map(() => UNKNOWN_RISK),
      isComplete ? NO_RISK : UNKNOWN_RISK,
    ]);
  }

  /**
   * The sum over each token that is not spam; an unlisted token that returns no balance is worth nothing to its
   * spender.
   */
  #sumAllowances(): readonly (readonly [Hex, bigint])[] {
    const sums = new Map<Hex, bigint>();
    for (const { kind, contract, rawAllowance } of this.#chain.permissions) {
      const token = this.#tokens.get(contract);
      const isClaim = token !== undefined && !token.isVouched && !token.isBalanceKnown;
      if (!isSpendable(kind) || token?.isSpam || isClaim) continue;
      sums.set(contract, (sums.get(contract) ?? 0n) + (rawAllowance ?? 0n));
    }
    return [...sums];
  }

  /** Adds what permissions over positions can take; returns those of which nothing is known. */
  #addPowers(add: (account: PositionAccount, risk: Risk) => void): readonly LivePermission[] {
    const { permissions, positions, wallet } = this.#chain;
    const powers = permissions.filter(({ power }) => power !== undefined);
    const delegates = new Map<PositionAccount, LivePermission[]>();
    const unread: LivePermission[] = [];
    for (const permission of powers) {
      const isOfDebt = permission.power?.delegation.form === "aave";
      for (const account of findAccounts(permission, positions, wallet)) {
        if (isOfDebt) delegates.set(account, [...(delegates.get(account) ?? []), permission]);
        else add(account, account.net);
      }
      const { isPartial } = valuePower(permission, positions, wallet);
      if (isPartial) unread.push(permission);
    }
    for (const [account, own] of delegates) add(account, valueDelegations(own, positions));
    return unread;
  }

  /** The value of one token alone; 0 if nothing is held, unknown if the price is. */
  #valueAmount(contract: Hex, amount: bigint): Risk {
    const token = this.#tokens.get(contract);
    if (token === undefined || !token.isBalanceKnown) return UNKNOWN_RISK;
    const { holding, price } = token;
    const taken = amount < holding.rawBalance ? amount : holding.rawBalance;
    if (taken === 0n) return NO_RISK;
    const receipt = this.#receipts.get(contract);
    if (receipt !== undefined) {
      const { account, risk } = receipt;
      if (risk.value === null) return UNKNOWN_RISK;
      // A part of a value is rounded down.
      const units = (risk.value.units * taken) / holding.rawBalance;
      return limitRisk({ ...risk, value: { ...risk.value, units } }, account.net);
    }
    return valueHolding({ ...holding, rawBalance: taken }, price);
  }

  /** All tokens, and the native coin, that are not spam, and all positions. */
  #valueEverything(): Risk {
    const { tokens, positions } = this.#chain;
    const held = tokens.filter(
      ({ isSpam, holding: { rawBalance, contract } }) =>
        !isSpam && rawBalance > 0n && !(contract && this.#receipts.has(contract)),
    );
    return sumRisks([
      ...held.map(({ holding, price }) => valueHolding(holding, price)),
      ...positions.accounts.map(({ net }) => net),
      positions.isComplete ? NO_RISK : UNKNOWN_RISK,
    ]);
  }
}

function valueHolding(holding: Holding, price: AssetPrice | null): Risk {
  const { value } = valueAsset(holding, price);
  return { value, isPartial: value === null };
}

/** The amount that a pool would lend is known although the account is not. */
function limitToAccount(risk: Risk, { net }: PositionAccount): Risk {
  return net.value === null ? { ...risk, isPartial: true } : limitRisk(risk, net);
}

/** Whether an amount of a token is what its holder can take. */
export function isOfToken(kind: LivePermission["kind"]): boolean {
  return isSpendable(kind) || kind === "permit2-allowance";
}

/** Its holder takes tokens from the wallet by itself. */
function isSpendable(kind: LivePermission["kind"]): boolean {
  return kind === "erc20-allowance" || kind === "module-allowance" || kind === "token-operator";
}

function indexDirectAllowances(
  permissions: readonly LivePermission[],
  failed: readonly PermissionRead[],
): ReadonlyMap<string, bigint | null> {
  const keyOf = ({ contract, spender }: Pick<PermissionRead, "contract" | "spender">) =>
    `${contract} ${spender}`;
  const isDirect = ({ kind }: { readonly kind: string }) => kind === "erc20-allowance";
  return new Map([
    ...failed.filter(isDirect).map((read) => [keyOf(read), null] as const),
    ...permissions.filter(isDirect).map((found) => [keyOf(found), found.rawAllowance ?? 0n] as const),
  ]);
}

/** Unknown first, because it may be worth everything; then the largest. */
export function compareRisk(a: UsdValue, b: UsdValue): number {
  if (a !== null && b !== null) return compareDecimals(b, a);
  return Number(a !== null) - Number(b !== null);
}
