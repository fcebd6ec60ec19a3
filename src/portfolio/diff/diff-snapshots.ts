// The difference of two snapshots of a wallet: what changed, and how much of it by quantity and how much by price.
import {
  addDecimals,
  compareDecimals,
  type Decimal,
  formatDecimal,
  multiplyDecimals,
  parseDecimal,
  roundDecimal,
} from "../../lib/decimal.ts";
import type {
  AssetFigures,
  PortfolioDiff,
  PositionChange,
  TokenChange,
  TokenFigures,
  TotalChange,
  ValueChange,
} from "../../schema/portfolio/diff.ts";
import {
  addUsd,
  byKey,
  type FiguresOf,
  formatAssetKey,
  formatPositionKey,
  formatTokenKey,
  type SnapshotFigures,
  subtractUsd,
  type TokenKey,
} from "./figures.ts";

/** A side is null if the wallet had or has nothing of it. */
type Sides<Figures> = { readonly before: Figures | null; readonly after: Figures | null };

export type FiguresDiff = Pick<PortfolioDiff, "total" | "chains" | "tokens" | "positions" | "unknownCount">;

/** Both of the same wallet and chains. */
export function diffFigures(before: SnapshotFigures, after: SnapshotFigures): FiguresDiff {
  const tokens = pair(before.tokens, after.tokens, formatTokenKey).map(([a, b]) => diffToken(a, b));
  const positions = pair(before.positions, after.positions, formatPositionKey).map(([a, b]) =>
    diffPosition(a, b),
  );
  const counted = [
    ...tokens.filter((token) => !isSpam(token)),
    ...positions.flatMap(({ chain, assets }) => assets.map((asset) => ({ ...asset, chain }))),
  ];
  const chains = before.chains.map(({ chain, totalValueUsd }) => {
    const own = counted.filter((entry) => entry.chain === chain);
    const afterUsd = after.chains.find((other) => other.chain === chain)?.totalValueUsd ?? null;
    return { chain, ...diffTotal(totalValueUsd, afterUsd, own) };
  });
  const changedTokens = tokens.filter(hasChanged);
  const changedPositions = positions.filter(({ assets }) => assets.some(hasChanged));
  return {
    total: diffTotal(before.totalValueUsd, after.totalValueUsd, counted),
    chains,
    tokens: changedTokens,
    positions: changedPositions,
    unknownCount: [...changedTokens, ...changedPositions].filter(({ changeUsd }) => changeUsd === null)
      .length,
  };
}

/** Entries of either side, by key; undefined if one side does not have it. */
function pair<T>(
  before: readonly T[],
  after: readonly T[],
  format: (item: T) => string,
): readonly (readonly [T | undefined, T | undefined])[] {
  const [old, now] = [before, after].map((items) => new Map(items.map((item) => [format(item), item])));
  const keys = [...new Set([...(old?.keys() ?? []), ...(now?.keys() ?? [])])].sort(byKey((key) => key));
  return keys.map((key) => [old?.get(key), now?.get(key)]);
}

function diffToken(
  a: FiguresOf<TokenKey, TokenFigures> | undefined,
  b: FiguresOf<TokenKey, TokenFigures> | undefined,
): TokenChange {
  const { chain, contract } = definedOf(a, b);
  const sides = { before: a?.figures ?? null, after: b?.figures ?? null };
  return { chain, contract, ...sides, ...splitChange(sides, 1n) };
}

function diffPosition(
  a: SnapshotFigures["positions"][number] | undefined,
  b: SnapshotFigures["positions"][number] | undefined,
): PositionChange {
  const { chain, protocol, kind, name, contract } = definedOf(a, b);
  const sign = kind === "borrowed" ? -1n : 1n;
  const assets = pair(a?.assets ?? [], b?.assets ?? [], formatAssetKey).map(([old, now]) => {
    const sides = { before: old?.figures ?? null, after: now?.figures ?? null };
    return { contract: definedOf(old, now).contract, ...sides, ...splitChange(sides, sign) };
  });
  return { chain, protocol, kind, name, contract, assets, ...sumChanges(assets) };
}

function definedOf<T>(a: T | undefined, b: T | undefined): T {
  const found = b ?? a;
  if (found === undefined) throw new TypeError("a pair has at least one side");
  return found;
}

/** A ten-thousandth of a cent, as values have it. */
const USD_SCALE = 6;
const NOTHING = "0";

function splitChange({ before, after }: Sides<AssetFigures>, sign: bigint): ValueChange {
  const changeUsd = subtractUsd(usdOf(after), usdOf(before));
  // A holding that came or went as a whole has no price on one side: all of it is quantity.
  if (before === null || after === null)
    return { changeUsd, quantityUsd: changeUsd, priceUsd: changeUsd && NOTHING };
  const isSplit = changeUsd !== null && isFullyValued(before) && isFullyValued(after);
  const quantityUsd = isSplit ? valueQuantity(before, after, sign) : null;
  return { changeUsd, quantityUsd, priceUsd: subtractUsd(changeUsd, quantityUsd) };
}

// A tenth of a cent: what adding up the rounded values of equal positions can make.
const ROUNDING_USD: Decimal = { units: 1n, scale: 3 };

/** Whether the value is balance times price, and not limited by what the markets could pay. */
function isFullyValued({ rawBalance, decimals, priceUsd, valueUsd }: AssetFigures): boolean {
  if (decimals === null || priceUsd === null || valueUsd === null) return false;
  const full = multiplyDecimals(
    { units: BigInt(rawBalance), scale: decimals },
    parseDecimal(priceUsd, "a price"),
  );
  const { units, scale } = parseDecimal(valueUsd, "a value");
  const counted = addDecimals({ units: units < 0n ? -units : units, scale }, ROUNDING_USD);
  return compareDecimals(full, counted) <= 0;
}

/** The change of the balance at the price before, rounded once; null if one of them is unknown. */
function valueQuantity(before: AssetFigures, after: AssetFigures, sign: bigint): string | null {
  if (before.priceUsd === null || before.decimals === null || after.decimals === null) return null;
  const moved = addDecimals(
    { units: sign * BigInt(after.rawBalance), scale: after.decimals },
    { units: -sign * BigInt(before.rawBalance), scale: before.decimals },
  );
  const value = multiplyDecimals(moved, parseDecimal(before.priceUsd, "a price"));
  return formatDecimal(roundDecimal(value, USD_SCALE, "half-up"));
}

/** Nothing is worth nothing. */
function usdOf(figures: AssetFigures | null): string | null {
  return figures === null ? NOTHING : figures.valueUsd;
}

/** Null when one of them is unknown. */
function sumChanges(changes: readonly ValueChange[]): ValueChange {
  const sum = (key: keyof ValueChange) =>
    changes.map((change) => change[key]).reduce((total, usd) => addUsd(total, usd), NOTHING);
  return { changeUsd: sum("changeUsd"), quantityUsd: sum("quantityUsd"), priceUsd: sum("priceUsd") };
}

function diffTotal(
  beforeUsd: string | null,
  afterUsd: string | null,
  counted: readonly ValueChange[],
): TotalChange {
  const changeUsd = subtractUsd(afterUsd, beforeUsd);
  if (changeUsd === null) {
    return { beforeUsd, afterUsd, changeUsd, quantityUsd: null, priceUsd: null, otherUsd: null };
  }
  const known = sumChanges(counted.filter((change) => change.quantityUsd !== null));
  const { quantityUsd, priceUsd } = known;
  return {
    beforeUsd,
    afterUsd,
    changeUsd,
    quantityUsd,
    priceUsd,
    otherUsd: subtractUsd(changeUsd, known.changeUsd),
  };
}

/** On either side: what it contributes to a total then says nothing about what the wallet did. */
function isSpam({ before, after }: TokenChange): boolean {
  return before?.spam === true || after?.spam === true;
}

/** Figures are built with the same keys in the same order. */
function hasChanged({ before, after }: Sides<AssetFigures>): boolean {
  return JSON.stringify(before) !== JSON.stringify(after);
}
