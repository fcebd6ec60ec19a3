// Compares what we read with what a second source says: every difference is reported, none is resolved.
import {
  addDecimals,
  compareDecimals,
  type Decimal,
  formatDecimal,
  multiplyDecimals,
} from "../../lib/decimal.ts";
import type { ChainCrossCheck, CrossCheckDifference } from "../../schema/portfolio/snapshot.ts";
import { type AssetKey, type AssetPrice, type ChainConfig, getAssetKey, type Holding } from "../types.ts";
import type { SecondHolding, SecondOpinion } from "./types.ts";

export type OwnReading = {
  readonly chain: ChainConfig;
  readonly holdings: readonly Holding[];
  readonly prices: ReadonlyMap<AssetKey, Pick<AssetPrice, "usd">>;
};

// Sources sample prices at different moments: less than this part of the larger one is noise.
const PRICE_DIFFERENCE_MIN: Decimal = { units: 2n, scale: 2 };
// Enough to see a pattern; a wallet may hold thousands of tokens.
const DIFFERENCES_MAX = 50;

const ORDER: readonly CrossCheckDifference["kind"][] = ["balance", "only-there", "only-here", "price"];

export function compareHoldings(
  source: string,
  { chain, holdings, prices }: OwnReading,
  opinion: SecondOpinion,
): ChainCrossCheck {
  const theirs = new Map(
    opinion.holdings
      .filter(({ rawBalance }) => rawBalance > 0n)
      .map((holding) => [getAssetKey(holding), holding]),
  );
  const ours = new Map(holdings.map((holding) => [getAssetKey(holding), holding]));
  const both = [...ours.keys()].filter((key) => theirs.has(key));
  const onlyThere = [...theirs].filter(([key]) => !ours.has(key));
  const differences = [
    ...[...ours.values()].flatMap((holding) => {
      const key = getAssetKey(holding);
      return compareAsset(holding, theirs.get(key), prices.get(key)?.usd ?? null);
    }),
    ...onlyThere.filter(([, { isSpam }]) => !isSpam).map(([, holding]) => describeOnlyThere(chain, holding)),
  ].sort(compareDifferences);
  return {
    chain: chain.slug,
    source,
    status: "compared",
    updatedAt: opinion.updatedAt,
    comparedCount: both.length,
    differenceCount: differences.length,
    differences: differences.slice(0, DIFFERENCES_MAX),
    ignoredSpamCount: onlyThere.filter(([, { isSpam }]) => isSpam).length,
  };
}

export function reportUnavailable(source: string, { slug }: ChainConfig): ChainCrossCheck {
  return {
    chain: slug,
    source,
    status: "unavailable",
    updatedAt: null,
    comparedCount: 0,
    differenceCount: 0,
    differences: [],
    ignoredSpamCount: 0,
  };
}

function compareAsset(
  { contract, symbol, rawBalance }: Holding,
  theirs: SecondHolding | undefined,
  price: Decimal | null,
): readonly CrossCheckDifference[] {
  const ours = rawBalance.toString();
  if (theirs === undefined) return [{ kind: "only-here", contract, symbol, ours, theirs: null }];
  const differences: CrossCheckDifference[] = [];
  if (theirs.rawBalance !== rawBalance) {
    differences.push({ kind: "balance", contract, symbol, ours, theirs: theirs.rawBalance.toString() });
  }
  if (price !== null && theirs.priceUsd !== null && differ(price, theirs.priceUsd)) {
    const texts = { ours: formatDecimal(price), theirs: formatDecimal(theirs.priceUsd) };
    differences.push({ kind: "price", contract, symbol, ...texts });
  }
  return differences;
}

/** Zero is what we read for a token of the lists; any other was not looked at. */
function describeOnlyThere(
  chain: ChainConfig,
  { contract, rawBalance }: SecondHolding,
): CrossCheckDifference {
  const listed = contract === null ? chain.native : chain.tokens.get(contract);
  return {
    kind: "only-there",
    contract,
    symbol: listed?.symbol ?? null,
    ours: listed === undefined ? null : "0",
    theirs: rawBalance.toString(),
  };
}

function differ(a: Decimal, b: Decimal): boolean {
  const [small, large] = compareDecimals(a, b) < 0 ? [a, b] : [b, a];
  const tolerated = multiplyDecimals(large, PRICE_DIFFERENCE_MIN);
  return compareDecimals(addDecimals(small, tolerated), large) < 0;
}

function compareDifferences(a: CrossCheckDifference, b: CrossCheckDifference): number {
  const byKind = ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind);
  if (byKind !== 0) return byKind;
  return (a.contract ?? "") < (b.contract ?? "") ? -1 : 1;
}
