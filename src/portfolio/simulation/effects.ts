// Changes by transactions, from the two readings of the simulator: balances, permissions, who receives, and their value.
import { type Decimal, formatAmount, formatDecimal } from "../../lib/decimal.ts";
import type { Hex } from "../../lib/hex.ts";
import type { BalanceChange, PermissionChange, Simulation } from "../../schema/portfolio/simulation.ts";
import { PERMIT2 } from "../exposure/revocations.ts";
import type { ChainSpenders } from "../exposure/spenders.ts";
import type { Asset, AssetKey, AssetPrice, ChainConfig } from "../types.ts";
import { isListed } from "../types.ts";
import { formatUnixSeconds, formatUsdValue, sumKnownValues, valueAmount } from "../valuation/usd.ts";
import type { SimulatorResult } from "./run-simulator.ts";
import type { Watched, WatchList } from "./watch-list.ts";

/** A balance that differs afterwards; `contract` is null for the native coin. */
export type RawChange = {
  readonly account: Hex;
  readonly contract: Hex | null;
  readonly before: bigint;
  readonly after: bigint;
};

/** A permission of the wallet that differs afterwards. */
export type RawPermission = {
  readonly kind: Exclude<Watched["kind"], "balance">;
  readonly token: Hex;
  readonly spender: Hex;
  readonly before: bigint | null;
  readonly after: bigint;
  /** Seconds since 1970, in Permit2. */
  readonly expiresAt: bigint | null;
  readonly balance: bigint | null;
  /** The approved item, if it is one of a collection. */
  readonly tokenId: bigint | null;
};

export type RawEffects = {
  readonly changes: readonly RawChange[];
  readonly permissions: readonly RawPermission[];
  /** The balance of the wallet in each token afterwards. */
  readonly balances: ReadonlyMap<Hex, bigint>;
  /** Views that were read before, and failed afterwards. */
  readonly lost: readonly Watched[];
};

export function readEffects(
  wallet: Hex,
  { accounts, views }: WatchList,
  { before, after }: SimulatorResult,
): RawEffects {
  const ofViews = views.map((view, index) => ({
    view,
    start: before.words[index] ?? null,
    end: after.words[index] ?? null,
  }));
  const balances = new Map<Hex, bigint>();
  for (const { view, end } of ofViews) {
    if (view.kind === "balance" && view.account === wallet && end) balances.set(view.token, end[0]);
  }
  const ofTokens = ofViews.flatMap(({ view, start, end }): readonly RawChange[] => {
    if (view.kind !== "balance" || start === null || end === null) return [];
    return [{ account: view.account, contract: view.token, before: start[0], after: end[0] }];
  });
  const ofNative = accounts.map((account, index) => ({
    account,
    contract: null,
    before: before.balances[index] ?? 0n,
    after: after.balances[index] ?? 0n,
  }));
  const permissions = ofViews.flatMap(({ view, start, end }): readonly RawPermission[] => {
    if (view.kind === "balance" || end === null) return [];
    const { kind, token, spender } = view;
    if (start?.[0] === end[0] && start[1] === end[1]) return [];
    const balance = balances.get(token) ?? null;
    if (kind === "item") {
      const approved = readAddressWord(end[0]);
      const { tokenId } = view;
      return approved === null
        ? []
        : [{ kind, token, spender: approved, before: 0n, after: 1n, expiresAt: null, balance, tokenId }];
    }
    const expiresAt = kind === "permit2" ? end[1] : null;
    const [before = null] = start ?? [];
    return [{ kind, token, spender, before, after: end[0], expiresAt, balance, tokenId: null }];
  });
  return {
    changes: [...ofNative, ...ofTokens].filter((each) => each.before !== each.after),
    permissions,
    balances,
    lost: ofViews.filter(({ start, end }) => start !== null && end === null).map(({ view }) => view),
  };
}

/** Null for none. */
function readAddressWord(word: bigint): Hex | null {
  return word === 0n || word >> 160n !== 0n ? null : `0x${word.toString(16).padStart(40, "0")}`;
}

/** Everything that describes the effects. */
export type EffectContext = {
  readonly wallet: Hex;
  readonly chain: ChainConfig;
  readonly targets: ReadonlySet<Hex>;
  readonly assetOf: (contract: Hex | null) => Asset;
  readonly prices: ReadonlyMap<AssetKey, AssetPrice>;
  readonly spenders: ChainSpenders;
  /** Code of accounts; missing for one that was not read. */
  readonly codes: ReadonlyMap<Hex, Hex>;
};

/** Null without a price or decimals; never more than the markets behind the price could pay. */
export function valueInUsd(
  { assetOf, prices }: EffectContext,
  contract: Hex | null,
  amount: bigint,
): Decimal | null {
  const { decimals } = assetOf(contract);
  const price = prices.get(contract ?? "native") ?? null;
  const value = valueAmount({ units: amount < 0n ? -amount : amount, decimals }, price);
  return value !== null && amount < 0n ? { ...value, units: -value.units } : value;
}

function describeAsset({ chain, assetOf }: EffectContext, contract: Hex | null) {
  const { symbol, decimals } = assetOf(contract);
  return { contract, symbol, decimals, listed: isListed(chain, { contract }) };
}

export function describeChange(context: EffectContext, change: RawChange): BalanceChange {
  const { account, contract, before, after } = change;
  const { wallet, targets, prices } = context;
  const asset = describeAsset(context, contract);
  const moved = after - before;
  const price = prices.get(contract ?? "native") ?? null;
  const value = valueInUsd(context, contract, moved);
  return {
    account,
    role: account === wallet ? "wallet" : targets.has(account) ? "target" : "other",
    ...asset,
    rawBefore: before.toString(),
    rawAfter: after.toString(),
    rawChange: moved.toString(),
    change: asset.decimals === null ? null : formatAmount(moved, asset.decimals),
    priceUsd: price && formatDecimal(price.usd),
    priceSource: price?.source ?? null,
    valueUsd: value && formatDecimal(value),
  };
}

const KINDS = {
  allowance: "erc20-allowance",
  operator: "token-operator",
  permit2: "permit2-allowance",
  item: "nft-approval",
  position: "position-operator",
  borrow: "borrow-delegation",
} as const;

// No honest token has so many units.
const UNLIMITED_MIN = 2n ** 128n;
const PERMIT2_AMOUNT_MAX = 2n ** 160n - 1n;

export function isUnlimited({ kind, after }: Pick<RawPermission, "kind" | "after">): boolean {
  if (kind === "permit2") return after === PERMIT2_AMOUNT_MAX;
  return (kind === "allowance" || kind === "borrow") && after >= UNLIMITED_MIN;
}

export function describePermission(context: EffectContext, permission: RawPermission): PermissionChange {
  const { kind, token, spender, before, after, balance, expiresAt, tokenId } = permission;
  const { symbol, decimals } = context.assetOf(token);
  const exposed = balance === null || after > balance ? balance : after;
  const isOfTokens = kind === "allowance" || kind === "permit2";
  const value = !isOfTokens || exposed === null ? null : valueInUsd(context, token, exposed);
  const code = context.codes.get(spender);
  return {
    kind: KINDS[kind],
    contract: token,
    symbol,
    decimals,
    spender,
    spenderName: context.spenders.byAddress.get(spender)?.name ?? null,
    spenderHasCode: code === undefined ? null : code !== "0x",
    via: kind === "permit2" ? PERMIT2 : null,
    tokenId: tokenId === null ? null : tokenId.toString(),
    rawBefore: before === null || kind === "item" ? null : before.toString(),
    rawAfter: kind === "item" ? null : after.toString(),
    unlimited: isUnlimited(permission),
    expiresAt: expiresAt === null ? null : formatUnixSeconds(Number(expiresAt)),
    rawBalance: balance === null ? null : balance.toString(),
    valueAtRiskUsd: value && formatDecimal(value),
  };
}

/** Others whose balance grows by what leaves the wallet. */
export function listReceived(wallet: Hex, changes: readonly RawChange[]): readonly RawChange[] {
  const leaving = new Set(
    changes
      .filter((each) => each.account === wallet && each.after < each.before)
      .map(({ contract }) => contract),
  );
  return changes.filter(
    ({ account, contract, before, after }) => account !== wallet && after > before && leaving.has(contract),
  );
}

export function describeReceiver(
  context: EffectContext,
  { account, contract, before, after }: RawChange,
  lookalikeOf: Hex | null,
): Simulation["receivers"][number] {
  const code = context.codes.get(account);
  return {
    account,
    name: context.spenders.byAddress.get(account)?.name ?? context.chain.tokens.get(account)?.symbol ?? null,
    hasCode: code === undefined ? null : code !== "0x",
    ...describeAsset(context, contract),
    rawAmount: (after - before).toString(),
    lookalikeOf,
  };
}

/** The dollars that come in and leave, of what has a price. */
export function sumValue(context: EffectContext, changes: readonly RawChange[]): Simulation["value"] {
  const own = changes.filter(({ account }) => account === context.wallet);
  const values = own.map(({ contract, before, after }) => ({
    isIn: after > before,
    value: valueInUsd(context, contract, after > before ? after - before : before - after),
  }));
  const sum = (isIn: boolean): string | null => {
    const side = values.filter((each) => each.isIn === isIn);
    return formatUsdValue(sumKnownValues(side.map(({ value }) => value)));
  };
  return { inUsd: sum(true), outUsd: sum(false), partial: values.some(({ value }) => value === null) };
}
