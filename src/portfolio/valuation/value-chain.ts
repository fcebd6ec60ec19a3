// Values one chain: its tokens without the receipt tokens of valued positions, and its positions with debt as negative values.
import type { Decimal } from "../../lib/decimal.ts";
import type { Hex } from "../../lib/hex.ts";
import { groupBy } from "../../lib/lists.ts";
import type { PortfolioAsset, PortfolioPosition, PortfolioToken } from "../../schema/portfolio/snapshot.ts";
import { findSpamReasons } from "../tokens/spam.ts";
import {
  type AssetKey,
  type AssetPrice,
  getAssetKey,
  type Holding,
  isListed,
  type PositionAsset,
  type ProtocolPosition,
} from "../types.ts";
import { identifyChain } from "./describe-account.ts";
import type { ChainData } from "./snapshot-data.ts";
import {
  findAssetPrice,
  formatUsdValue,
  subtractValue,
  sumKnownValues,
  type UsdValue,
  valueAsset,
} from "./usd.ts";

export type ValuedToken = {
  readonly key: AssetKey;
  readonly token: PortfolioToken;
  readonly value: UsdValue;
  readonly isStablecoin: boolean;
  /** The value, if it rests on the price of a token that no list has. */
  readonly unlistedValue: UsdValue;
  /** Why it is spam; empty when it is not. */
  readonly spamReasons: readonly string[];
};

/** The part of a position in an account of collateral and debt, which are valued together or not at all. */
type AccountPart = {
  readonly protocol: string;
  /** Null for a position that secures nothing: it is an account of its own. */
  readonly market: string | null;
  readonly isDebt: boolean;
  /** All of its account was read. */
  readonly isRead: boolean;
  /** All of it was read, and each asset has a value that no limit cuts. */
  readonly isExact: boolean;
};

type ValuedPosition = {
  readonly position: PortfolioPosition;
  /** The sum over the assets that have a value; null when none has. */
  readonly value: UsdValue;
  /** Values of the stablecoins that it holds; empty for a debt, and if only a token list vouches for them. */
  readonly stablecoinValues: readonly UsdValue[];
  /** Values of what it holds that rest on prices of tokens that no list has. */
  readonly unlistedValues: readonly UsdValue[];
  readonly account: AccountPart;
};

export type ValuedChain = {
  readonly data: ChainData;
  readonly tokens: readonly ValuedToken[];
  readonly positions: readonly ValuedPosition[];
  /** Positions without a value, shown as their receipt tokens instead. */
  readonly shownAsReceiptTokens: readonly ProtocolPosition[];
  /** Protocols in which the wallet owes and its account is not known in full: the total is then unknown. */
  readonly unknownAccounts: ReadonlySet<string>;
  /** Assets that are valued at what the pools behind their price could pay. */
  readonly limitedAssets: ReadonlySet<AssetKey>;
};

export function valueChain(data: ChainData): ValuedChain {
  const { shownAsPositions, shownAsReceiptTokens } = resolvePositions(data);
  const receiptTokens = new Set(shownAsPositions.flatMap((position) => position.receiptTokens));
  const limits = new PoolLimits();
  // Sorted before they are valued: what shares a limit is cut in the same order for the same wallet.
  const tokens = data.holdings
    .filter(({ contract, rawBalance }) => rawBalance > 0n && !(contract && receiptTokens.has(contract)))
    // The empty string sorts first, so the native coin comes first.
    .sort((a, b) => compareText(a.contract ?? "", b.contract ?? ""))
    .map((holding) => valueToken(holding, data, limits));
  const positions = shownAsPositions
    .toSorted((a, b) => compareText(positionKey(a), positionKey(b)))
    .map((position) => valuePosition(position, data, limits));
  const unknownAccounts = findUnknownAccounts(positions.map(({ account }) => account));
  return { data, tokens, positions, shownAsReceiptTokens, unknownAccounts, limitedAssets: limits.reached };
}

/**
 * The protocols of accounts that owe something, or may because a part could not be read, and whose value is not known in
 * full. Leaving out what has no price would count the debt without its collateral, or the collateral without its debt.
 */
function findUnknownAccounts(parts: readonly AccountPart[]): ReadonlySet<string> {
  const accounts = groupBy(parts, (part) =>
    part.market === null ? part : `${part.protocol}\n${part.market}`,
  );
  const unknown = [...accounts.values()].filter(
    (account) =>
      account.some(({ isDebt, isRead }) => isDebt || !isRead) && !account.every(({ isExact }) => isExact),
  );
  return new Set(unknown.flatMap((account) => account.map(({ protocol }) => protocol)));
}

/** Pools can pay for an asset only once, wherever the wallet holds it. */
class PoolLimits {
  readonly reached = new Set<AssetKey>();
  readonly #left = new Map<AssetKey, Decimal>();

  /** The amount that the pools behind a price could still pay; null for a price without pools. */
  leftFor(key: AssetKey, price: AssetPrice | null): Decimal | null {
    return this.#left.get(key) ?? price?.payableUsdMax ?? null;
  }

  use(key: AssetKey, price: AssetPrice | null, valued: { value: UsdValue; isLimited: boolean }): void {
    const left = this.leftFor(key, price);
    if (left === null || valued.value === null) return;
    this.#left.set(key, subtractValue(left, valued.value));
    if (valued.isLimited) this.reached.add(key);
  }
}

function valueToken(holding: Holding, data: ChainData, limits: PoolLimits): ValuedToken {
  const { chain, prices, incompletePrices, provenTokens } = data;
  const key = getAssetKey(holding);
  const quoted = prices.get(key) ?? null;
  const spamReasons = findSpamReasons(holding, {
    chain,
    unpriced: quoted === null && !incompletePrices.has(key),
    proven: quoted?.provesToken === true || (holding.contract !== null && provenTokens.has(holding.contract)),
  });
  // A lure with a price would be a better lure.
  const price = spamReasons.length === 0 ? quoted : null;
  const valued = valueAsset(holding, price, { valueMax: limits.leftFor(key, price) });
  // Spam is not counted, so it leaves the whole limit to others.
  if (spamReasons.length === 0) limits.use(key, price, valued);
  const { contract, symbol, name, decimals, ...amounts } = valued.asset;
  return {
    key,
    token: {
      ...identifyChain(chain),
      contract,
      symbol,
      name,
      decimals,
      logo: holding.logo,
      ...amounts,
      spam: spamReasons.length > 0,
    },
    value: valued.value,
    isStablecoin: isStablecoin(holding, chain),
    unlistedValue: isUnlistedPrice(holding, price, chain) ? valued.value : null,
    spamReasons,
  };
}

function valuePosition(position: ProtocolPosition, data: ChainData, limits: PoolLimits): ValuedPosition {
  const { protocol, kind, name, contract, selfReported = false } = position;
  const { chain, prices } = data;
  const isDebt = kind === "borrowed";
  const assets = position.assets
    .filter(({ rawBalance }) => rawBalance > 0n)
    .map((asset) => {
      const key = getAssetKey(asset);
      const price = findAssetPrice(asset, prices);
      const valued = valueAsset(asset, price, { isDebt, valueMax: limits.leftFor(key, price) });
      if (!isDebt) limits.use(key, price, valued);
      const isUnlisted = !isDebt && isUnlistedPrice(asset, price, chain);
      return { ...valued, isStablecoin: isStablecoin(asset, chain), isUnlisted };
    });
  const values = assets.map((asset) => asset.value);
  const value = sumKnownValues(values);
  return {
    position: {
      ...identifyChain(chain),
      protocol,
      kind,
      name,
      contract,
      assets: assets.map(({ asset }): PortfolioAsset => asset),
      valueUsd: formatUsdValue(value),
      partial: values.includes(null) && value !== null,
      selfReported,
    },
    value,
    stablecoinValues:
      isDebt || selfReported ? [] : assets.filter((asset) => asset.isStablecoin).map((asset) => asset.value),
    unlistedValues: assets.filter((asset) => asset.isUnlisted).map((asset) => asset.value),
    account: {
      protocol,
      market: position.market ?? null,
      isDebt,
      isRead: position.incomplete !== true,
      isExact:
        position.incomplete !== true &&
        assets.every((asset) => asset.value !== null && (isDebt || !asset.isLimited)),
    },
  };
}

function isStablecoin({ contract }: Pick<Holding, "contract">, { stablecoins }: ChainData["chain"]): boolean {
  return contract !== null && stablecoins.has(contract);
}

/** A price of pools for a token that anyone may have made; what a feed or a market of its own prices is known. */
function isUnlistedPrice(
  asset: Pick<Holding, "contract">,
  price: AssetPrice | null,
  chain: ChainData["chain"],
): boolean {
  return price !== null && price.payableUsdMax !== null && !isListed(chain, asset);
}

function positionKey({ protocol, kind, name, contract }: ProtocolPosition): string {
  return [protocol, kind, name, contract].join("\n");
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

type ResolvedPositions = {
  readonly shownAsPositions: readonly ProtocolPosition[];
  /** Shown as their receipt tokens instead. */
  readonly shownAsReceiptTokens: readonly ProtocolPosition[];
};

/** Resolves each non-empty position to itself or to its receipt tokens. */
function resolvePositions(data: ChainData): ResolvedPositions {
  const held = heldTokens(data);
  const isCountable = (receipt: Hex) => {
    const holding = held.get(receipt);
    return (
      holding !== undefined &&
      hasValue(holding, data) &&
      findSpamReasons(holding, { chain: data.chain, unpriced: false }).length === 0
    );
  };
  const replaced = new Set(
    replaceableGroups(data)
      .filter((group) => receiptsOf(group).every(isCountable))
      .flat(),
  );
  const nonEmpty = data.positions.filter((position) => nonZeroAssets(position).length > 0);
  return {
    shownAsPositions: nonEmpty.filter((position) => !replaced.has(position)),
    shownAsReceiptTokens: nonEmpty.filter((position) => replaced.has(position)),
  };
}

/** Unpriced receipt tokens whose price would let them replace a position without a value. */
export function findUnpricedReceiptTokens(data: ChainData): readonly Holding[] {
  const held = heldTokens(data);
  return receiptsOf(replaceableGroups(data).flat()).flatMap((receipt) => {
    const holding = held.get(receipt);
    return holding === undefined || data.prices.has(receipt) ? [] : [holding];
  });
}

/**
 * Groups without a full value that their receipt tokens may replace. Positions that share a receipt token are replaced
 * together. A debt is never replaced: its token would count as an asset. Nor is a position with a receipt token that is
 * not among the holdings: it would be lost.
 */
function replaceableGroups(data: ChainData): readonly (readonly ProtocolPosition[])[] {
  const held = heldTokens(data);
  return groupsByReceipt(data.positions.filter((position) => nonZeroAssets(position).length > 0)).filter(
    (group) =>
      group.some((position) => !nonZeroAssets(position).every((asset) => hasValue(asset, data))) &&
      group.every(({ kind }) => kind !== "borrowed") &&
      receiptsOf(group).every((receipt) => held.has(receipt)),
  );
}

/** Groups of positions connected by receipt tokens; a position without one is in no group. */
function groupsByReceipt(positions: readonly ProtocolPosition[]): readonly (readonly ProtocolPosition[])[] {
  const groupOf = new Map<Hex, readonly ProtocolPosition[]>();
  for (const position of positions) {
    const connected = new Set(position.receiptTokens.map((receipt) => groupOf.get(receipt) ?? []));
    const group = [...[...connected].flat(), position];
    for (const receipt of receiptsOf(group)) groupOf.set(receipt, group);
  }
  return [...new Set(groupOf.values())];
}

function receiptsOf(positions: readonly ProtocolPosition[]): readonly Hex[] {
  return [...new Set(positions.flatMap(({ receiptTokens }) => receiptTokens))];
}

function heldTokens({ holdings }: ChainData): ReadonlyMap<Hex | null, Holding> {
  return new Map(
    holdings.filter(({ rawBalance }) => rawBalance > 0n).map((holding) => [holding.contract, holding]),
  );
}

function nonZeroAssets({ assets }: ProtocolPosition): readonly PositionAsset[] {
  return assets.filter(({ rawBalance }) => rawBalance > 0n);
}

function hasValue(asset: PositionAsset, { prices }: ChainData): boolean {
  return valueAsset(asset, findAssetPrice(asset, prices)).value !== null;
}
