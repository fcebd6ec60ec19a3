// Follows the shares of one vault to the assets they represent, through vaults of vaults.

import { decodeAddress, decodeTokenAmount } from "../../../lib/abi/return-data.ts";
import type { Hex } from "../../../lib/hex.ts";
import { ask, type ReadRoutine } from "../../contract-reads/read-groups.ts";
import { defineRead, joinReads, Reads, type ResultsOf, toWords } from "../../contract-reads/reads.ts";
import { erc20 } from "../../tokens/erc20.ts";
import { findSpamReasons } from "../../tokens/spam.ts";
import type { Holding } from "../../types.ts";
import { declareAssets, toHolding } from "../asset-metadata.ts";
import type { PositionReadWithTokens } from "../position-read.ts";
import { type Belief, declareBelief, type VaultRegistry } from "./registries.ts";
import type { Draw, VaultPots } from "./vault-pots.ts";

/** A storage read behind a proxy or two. */
const ASSET_GAS_MAX = 100_000;
/** Vaults over dozens of markets accrue interest in each of them first. */
const CONVERT_GAS_MAX = 3_000_000;
/** The same, and what each of the markets could pay. */
const PAYABLE_GAS_MAX = 5_000_000;
/** A staked wrapper of a lending receipt has two; each level is a round trip more. */
const LEVELS_MAX = 3;
/** The loss that rounding explains; more is said in a warning. */
const ROUNDING_PER_MILLION = 100n;

export const vaultAsset = defineRead("function asset()", (data) => data, ASSET_GAS_MAX);
// Not previewRedeem: it deducts fees and may revert while a vault is paused. The wallet holds a share of the assets.
const convertToAssets = defineRead("function convertToAssets(uint256)", decodeTokenAmount, CONVERT_GAS_MAX);
const maxWithdraw = defineRead("function maxWithdraw(address)", decodeTokenAmount, PAYABLE_GAS_MAX);
const maxRedeem = defineRead("function maxRedeem(address)", decodeTokenAmount, PAYABLE_GAS_MAX);
// Figures of Euler's vaults: the assets that are not borrowed, and which operations pass a hook or are disabled.
const cash = defineRead("function cash()", decodeTokenAmount, ASSET_GAS_MAX);
const hookConfig = defineRead("function hookConfig()", toWords(2), ASSET_GAS_MAX);
/** Withdrawing and redeeming, among the operations of Euler's vaults. */
const EULER_PAYOUTS = 4n + 8n;

export type Shares = Holding & { readonly contract: Hex };

export type VaultContext = {
  readonly run: PositionReadWithTokens;
  readonly registry: VaultRegistry;
  /** Accounts that may borrow in Euler, as soon as they are known. */
  debtors: ReadonlySet<Hex>;
  /** How many more vaults are asked what they could pay, and how many were not. */
  payableLeft: number;
  payableSkipped: number;
  readonly pots: VaultPots;
};

export type SharesOutcome = {
  /** Null for a token that is not a vault, or a vault that no list or registry vouches for. */
  readonly belief: Belief | null;
  readonly isVaultOfListedAsset: boolean;
  /** Null when the shares have no value or an unknown one. */
  readonly asset: Holding | null;
  /** Only a token list vouches for this vault, or for one that it holds. */
  readonly isSelfReported: boolean;
  /** The amount that each vault whose coins are known must pay for it, from the wallet's own vault inwards. */
  readonly draws: readonly Draw[];
  readonly warnings: readonly string[];
};

/** Shares of `vault` that belong to `owner`, the wallet or the vault that holds them for it. */
type Claim = { readonly vault: Hex; readonly owner: Hex; readonly shares: bigint; readonly asset: Hex };
type Conversion = {
  readonly holding: Holding;
  /** The vault of the asset when that is a vault itself. */
  readonly nextAsset: Hex | null;
  readonly isSelfReported: boolean;
  readonly draws: readonly Draw[];
  readonly warnings: readonly string[];
};

const NO_VAULT: SharesOutcome = {
  belief: null,
  isVaultOfListedAsset: false,
  asset: null,
  isSelfReported: false,
  draws: [],
  warnings: [],
};

/** `owner` is the account of the wallet that holds the shares. */
export function* resolveShares(
  context: VaultContext,
  shares: Shares,
  owner: Hex,
): ReadRoutine<SharesOutcome> {
  const { at } = context.run;
  const vault = shares.contract;
  const result = yield* ask(vaultAsset(vault));
  // A revert, or the empty result of a fallback function: not a vault.
  if (result === null || result === "0x") return NO_VAULT;
  const asset = decodeAddress(result);
  if (asset === null || asset === vault) {
    const isKnown = at.chain.tokens.has(vault) || context.registry.vaults.has(vault);
    return isKnown && asset === null
      ? { ...NO_VAULT, warnings: [describeImplausible(context, vault)] }
      : NO_VAULT;
  }
  const isVaultOfListedAsset = at.chain.tokens.has(asset);
  const claim: Claim = { vault, owner, shares: shares.rawBalance, asset };
  const { belief, conversion } = yield* followClaim(context, claim);
  const known = { ...NO_VAULT, belief, isVaultOfListedAsset };
  if (conversion === null) return known;
  if (typeof conversion === "string") return { ...known, warnings: [conversion] };
  const { holding, isSelfReported, draws, warnings } = yield* resolveAsset(context, vault, conversion);
  const counted = holding.rawBalance > 0n ? holding : null;
  return { ...known, asset: counted, isSelfReported, draws, warnings };
}

/** Goes on while the asset is itself a vault that counts; otherwise the asset stays what it is. */
function* resolveAsset(context: VaultContext, holder: Hex, first: Conversion): ReadRoutine<Conversion> {
  let reached = first;
  let owner = holder;
  const warnings = [...first.warnings];
  for (let level = 2; level <= LEVELS_MAX; level += 1) {
    const { holding, nextAsset } = reached;
    const vault = holding.contract;
    if (vault === null || nextAsset === null || holding.rawBalance === 0n) break;
    const claim: Claim = { vault, owner, shares: holding.rawBalance, asset: nextAsset };
    const { belief, conversion } = yield* followClaim(context, claim);
    if (conversion === null) break;
    if (typeof conversion === "string") {
      warnings.push(conversion);
      break;
    }
    // The outer vault may keep those shares in another account, which the listed vault cannot see.
    if (belief === "listed" && conversion.warnings.length > 0) break;
    warnings.push(...conversion.warnings);
    owner = vault;
    reached = {
      ...conversion,
      isSelfReported: reached.isSelfReported || conversion.isSelfReported,
      draws: [...reached.draws, ...conversion.draws],
    };
  }
  return { ...reached, warnings };
}

type FollowedClaim = {
  readonly belief: Belief | null;
  /** A warning when the vault's results make no sense; null if its shares have no value that can be believed. */
  readonly conversion: Conversion | string | null;
};

/** Takes a round trip for a vault that is known by address or listed, and two for one that only a registry knows. */
function* followClaim(context: VaultContext, claim: Claim): ReadRoutine<FollowedClaim> {
  const { registry } = context;
  const { tokens } = context.run.at.chain;
  const { vault, asset } = claim;
  if (registry.vaults.has(vault)) {
    const reads = { conversion: declareConversion(context, claim), findPayout: PAYOUTS.full(claim) };
    const { conversion, findPayout } = yield* ask(reads);
    return {
      belief: "full",
      conversion: toConversion(context, claim, { belief: "full", conversion, findPayout }),
    };
  }
  const proofs = declareBelief(registry.proofs, vault, asset);
  // Anyone can send shares of what no list has: it is asked nothing that costs gas before a registry knows it.
  if (!tokens.has(vault) || !tokens.has(asset) || context.payableLeft === 0) {
    const belief = judgeVault(context, claim, yield* ask(proofs));
    if (belief === null || belief === "named") return { belief, conversion: null };
    const reads = { conversion: declareConversion(context, claim), findPayout: PAYOUTS[belief](claim) };
    const { conversion, findPayout } = yield* ask(reads);
    return { belief, conversion: toConversion(context, claim, { belief, conversion, findPayout }) };
  }
  const { full, payable, listed } = PAYOUTS;
  const payouts = { full: full(claim), payable: payable(claim), listed: listed(claim) };
  const read = yield* ask({ proven: proofs, conversion: declareConversion(context, claim), payouts });
  const belief = judgeVault(context, claim, read.proven);
  if (belief === null || belief === "named") return { belief, conversion: null };
  const { conversion } = read;
  const findPayout = read.payouts[belief];
  return { belief, conversion: toConversion(context, claim, { belief, conversion, findPayout }) };
}

function judgeVault(context: VaultContext, { vault, asset }: Claim, proven: Belief | null): Belief | null {
  const { tokens } = context.run.at.chain;
  const belief = proven ?? (tokens.has(vault) ? "listed" : null);
  if (belief !== "payable" && belief !== "listed") return belief;
  // An asset of the owner's own making can have any price that its owner gives it.
  if (!tokens.has(asset)) return "named";
  if (context.payableLeft === 0) {
    context.payableSkipped += 1;
    return "named";
  }
  context.payableLeft -= 1;
  return belief;
}

/** The reads that do not depend on how far the vault is believed. */
function declareConversion({ run }: VaultContext, { vault, shares, asset }: Claim) {
  return joinReads({
    amount: convertToAssets(vault, [shares]),
    supply: erc20.totalSupply(asset, [], ASSET_GAS_MAX),
    next: vaultAsset(asset).map(decodeAddress),
    assets: declareAssets(run, [asset]),
  });
}

type ReadConversion = {
  readonly belief: Exclude<Belief, "named">;
  readonly conversion: ResultsOf<ReturnType<typeof declareConversion>>;
  readonly findPayout: ResultsOf<PayoutReads>;
};

function toConversion(
  context: VaultContext,
  { vault, owner, asset }: Claim,
  { belief, conversion: { amount, supply, next, assets }, findPayout }: ReadConversion,
): Conversion | string {
  if (amount === null || supply === null || amount > supply) return describeImplausible(context, vault);
  const payout = findPayout(amount, context.debtors.has(owner));
  if (payout === null) return describeImplausible(context, vault);
  const { payable, held } = payout;
  const counted = payable < amount ? payable : amount;
  return {
    holding: toHolding(assets, asset, counted),
    nextAsset: next === asset || next === vault ? null : next,
    isSelfReported: belief === "listed",
    draws: held === null ? [] : [{ vault, amount: counted, held }],
    warnings: isNoticeablyLess(payable, amount) ? [describeUnpayable(context, vault)] : [],
  };
}

type Payout = {
  readonly payable: bigint;
  /** The coins of the vault, if it is believed for them alone; null for one that pays out of its markets. */
  readonly held: bigint | null;
};

/** The limit of the amount that a vault reports; null when the results make no sense. */
type PayoutReads = Reads<(amount: bigint, isDebtor: boolean) => Payout | null>;

/** Depends on how far the vault is believed. */
const PAYOUTS: Readonly<Record<Exclude<Belief, "named">, (claim: Claim) => PayoutReads>> = {
  full: () => new Reads([], () => (amount) => ({ payable: amount, held: null })),
  /**
   * The amount that the vault could pay the owner now. Euler's vaults say nothing to one that may borrow, because they
   * do not know what its lender allows; what they could pay is then what they have.
   */
  payable: ({ vault, owner }) =>
    joinReads({
      payable: maxWithdraw(vault, [owner]),
      held: cash(vault),
      hooks: hookConfig(vault),
    }).map(({ payable, held, hooks }) => (_amount, isDebtor) => {
      if (!isDebtor || held === null) return payable === null ? null : { payable, held };
      return hooks && { payable: (hooks[1] & EULER_PAYOUTS) === 0n ? held : 0n, held };
    }),
  /** The same by the vault's own word, and what it holds by the word of the asset, which is another contract. */
  listed: ({ vault, owner, shares, asset }) =>
    joinReads({
      withdrawable: maxWithdraw(vault, [owner]),
      redeemable: maxRedeem(vault, [owner]),
      held: erc20.balanceOf(asset, [vault], ASSET_GAS_MAX),
    }).map(({ withdrawable, redeemable, held }) => (amount) => {
      const max = withdrawable ?? (redeemable === null ? null : (amount * redeemable) / shares);
      return max === null || held === null ? null : { payable: max < held ? max : held, held };
    }),
};

function isNoticeablyLess(payable: bigint, amount: bigint): boolean {
  return amount - payable > 1n && (amount - payable) * 1_000_000n > amount * ROUNDING_PER_MILLION;
}

function describeImplausible({ run }: VaultContext, vault: Hex): string {
  return `The vault ${vault} on ${run.chain} returned an implausible result; its shares are shown as a token.`;
}

function describeUnpayable({ run }: VaultContext, vault: Hex): string {
  return `The vault ${vault} on ${run.chain} could not pay out all that it owes the wallet now; the rest is not counted.`;
}

/** The creator of the vault chose its name: only governance or curators vouch for that as well. */
export function hasLure(
  { run }: VaultContext,
  shares: Shares,
  { belief }: Pick<SharesOutcome, "belief">,
): boolean {
  return belief !== "full" && findSpamReasons(shares, { chain: run.at.chain, unpriced: false }).length > 0;
}

/**
 * Cuts what rests on the same coins to what there is of them. The wallet's own shares of a vault come before those of
 * vaults over it, then the order of the outcomes decides. Outcomes that are not shown take nothing.
 */
export function shareOutPots(
  { run, pots }: VaultContext,
  outcomes: readonly SharesOutcome[],
  isShown: (outcome: SharesOutcome, index: number) => boolean,
): readonly SharesOutcome[] {
  const shown = outcomes
    .filter((outcome, index) => outcome.draws.length > 0 && isShown(outcome, index))
    .toSorted((a, b) => a.draws.length - b.draws.length);
  const cut = new Map<SharesOutcome, SharesOutcome>();
  for (const outcome of shown) {
    const { asset, draws, warnings } = outcome;
    if (asset === null) continue;
    const rawBalance = pots.take(asset.rawBalance, draws);
    if (rawBalance === asset.rawBalance) continue;
    const warning = `The vault ${draws[0]?.vault} on ${run.chain} rests on assets that other shares of the wallet rest on, which count once.`;
    cut.set(outcome, {
      ...outcome,
      asset: rawBalance > 0n ? { ...asset, rawBalance } : null,
      warnings: [...warnings, warning],
    });
  }
  return outcomes.map((outcome) => cut.get(outcome) ?? outcome);
}
