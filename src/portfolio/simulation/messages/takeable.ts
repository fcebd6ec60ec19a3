// How much of each asset a signature lets others take at the balances and allowances of the block.
import type { Hex } from "../../../lib/hex.ts";
import type { MessageContent, SignedAsset, SignedOrder, SignedVoucher } from "./content.ts";
import { keyOfAllowance, keyOfBalance, type MessageClaim, type MessageState } from "./message-state.ts";

/** An amount that can be taken; null if it is unknown, and is then to be counted as all of it. */
export type Takeable = {
  readonly asset: SignedAsset;
  readonly owner: Hex;
  /** The largest number that the message itself names. */
  readonly amountMax: bigint;
  readonly amount: bigint | null;
};

/** One entry for each asset and owner. Nothing can be taken by a signature that cannot be used now or later. */
export function findTakeable(
  content: MessageContent,
  state: MessageState,
  { wallet, isUsable }: { readonly wallet: Hex; readonly isUsable: boolean },
): readonly Takeable[] {
  const budget = new Budget(state, isUsable);
  // A batch that names a pair twice leaves the last allowance.
  const permissions = new Map(
    content.permissions.map((each) => [`${each.asset.contract} ${each.asset.tokenId} ${each.spender}`, each]),
  );
  for (const { asset, owner, via, amount, expiresAt } of permissions.values()) {
    // Permit2 lets an allowance that expires at once be used within the block.
    const isOver = expiresAt !== null && expiresAt !== 0n && expiresAt < state.timestamp;
    budget.take({ asset, owner: owner ?? wallet, via }, isOver ? 0n : amount, false);
  }
  for (const { asset, from, via, amount, isExact } of content.transfers) {
    budget.take({ asset, owner: from ?? wallet, via }, amount, isExact);
  }
  for (const order of content.orders) takeOrder(budget, order);
  return budget.list();
}

/** A voucher with the part of it that is deposited, and not claimed yet: the receiver of the channel could claim it. */
export type ClaimableVoucher = SignedVoucher & {
  readonly balance: bigint | null;
  readonly claimed: bigint | null;
  readonly amount: bigint | null;
};

export function findClaimable(
  { vouchers }: MessageContent,
  { channels }: MessageState,
  isUsable: boolean,
): readonly ClaimableVoucher[] {
  return vouchers.map(({ channelId, total }, index) => {
    const [balance = null, claimed = null] = channels[index] ?? [];
    const known = { channelId, total, balance, claimed };
    if (!isUsable) return { ...known, amount: 0n };
    if (balance === null || claimed === null) return { ...known, amount: null };
    const most = balance < total ? balance : total;
    return { ...known, amount: most > claimed ? most - claimed : 0n };
  });
}

function takeOrder(budget: Budget, order: SignedOrder): void {
  const { gives, maker, via, isPartiallyFillable } = order;
  const claims = gives.map(({ asset, amount }) => ({ claim: { asset, owner: maker, via }, amount }));
  const isFillable =
    isPartiallyFillable || claims.every(({ claim, amount }) => budget.canTake(claim, amount));
  for (const { claim, amount } of claims) budget.take(claim, isFillable ? amount : 0n, false, amount);
}

type Entry = { readonly asset: SignedAsset; readonly owner: Hex; amountMax: bigint; amount: bigint | null };

/** Balances and allowances that are left while one part of the message after the other takes of them. */
class Budget {
  readonly #state: MessageState;
  readonly #isUsable: boolean;
  readonly #entries = new Map<string, Entry>();
  readonly #spent = new Map<string, bigint>();

  constructor(state: MessageState, isUsable: boolean) {
    this.#state = state;
    this.#isUsable = isUsable;
  }

  /** Whether the whole amount is there; an unknown one counts as there. */
  canTake(claim: MessageClaim, amount: bigint): boolean {
    return (this.#left(claim) ?? amount) >= amount;
  }

  take(claim: MessageClaim, amount: bigint, isExact: boolean, named: bigint = amount): void {
    const left = this.#left(claim);
    const taken = left === null ? null : left >= amount ? amount : isExact ? 0n : left;
    const usable = this.#isUsable ? (amount === 0n ? 0n : taken) : 0n;
    const key = keyOfBalance(claim);
    const entry = this.#entries.get(key) ?? {
      ...{ asset: claim.asset, owner: claim.owner, amountMax: 0n, amount: 0n },
    };
    entry.amountMax = cap(entry.amountMax + named);
    entry.amount = entry.amount === null || usable === null ? null : entry.amount + usable;
    this.#entries.set(key, entry);
    this.#spend(key, usable ?? 0n);
    this.#spend(keyOfAllowance(claim), usable ?? 0n);
  }

  list(): readonly Takeable[] {
    return [...this.#entries.values()];
  }

  #left(claim: MessageClaim): bigint | null {
    const balance = this.#rest(keyOfBalance(claim), this.#state.balances);
    if (claim.via === null || claim.asset.standard === "native") return balance;
    const key = keyOfAllowance(claim);
    const isEndless = isEndlessAllowance(claim, this.#state.allowances.get(key) ?? null);
    const allowance = isEndless ? balance : this.#rest(key, this.#state.allowances);
    if (balance === null || allowance === null) return balance === 0n || allowance === 0n ? 0n : null;
    return balance < allowance ? balance : allowance;
  }

  #rest(key: string, amounts: ReadonlyMap<string, bigint | null>): bigint | null {
    const amount = amounts.get(key) ?? null;
    return amount === null ? null : amount - (this.#spent.get(key) ?? 0n);
  }

  #spend(key: string, amount: bigint): void {
    this.#spent.set(key, (this.#spent.get(key) ?? 0n) + amount);
  }
}

const UINT256_MAX = 2n ** 256n - 1n;

/** Tokens do not count down the largest number. */
function isEndlessAllowance({ asset }: MessageClaim, allowance: bigint | null): boolean {
  return allowance === UINT256_MAX || (asset.standard !== "erc20" && allowance !== null && allowance > 0n);
}

function cap(amount: bigint): bigint {
  return amount > UINT256_MAX ? UINT256_MAX : amount;
}
