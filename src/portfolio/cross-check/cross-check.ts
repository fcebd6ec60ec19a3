// Compares what we read with what a second source says about the same wallet: differences are reported, none is resolved.
import {
  addDecimals,
  compareDecimals,
  type Decimal,
  formatDecimal,
  multiplyDecimals,
} from "../../lib/decimal.ts";
import type { Hex } from "../../lib/hex.ts";
import type { ChainCrossCheck, CrossCheckDifference } from "../../schema/portfolio/snapshot.ts";
import { runWithinBudget } from "../time-budgets.ts";
import {
  type AssetKey,
  type AssetPrice,
  type ChainConfig,
  getAssetKey,
  type Holding,
  type WalletQuery,
} from "../types.ts";

/** A fungible asset by the second source; null is the native coin. Its names are not read: anyone chooses them. */
export type SecondHolding = {
  readonly contract: Hex | null;
  readonly rawBalance: bigint;
  /** Null when the source does not know it. */
  readonly priceUsd: Decimal | null;
  readonly isSpam: boolean;
};

export type SecondOpinion = {
  readonly holdings: readonly SecondHolding[];
  /** When the source read the chain, ISO 8601; null when it does not say. */
  readonly updatedAt: string | null;
};

export type CrossCheckSource = {
  readonly name: string;
  /** May reject; the chain is then reported as unavailable. */
  read(query: WalletQuery, signal: AbortSignal): Promise<SecondOpinion>;
};

type OwnReading = {
  readonly chain: ChainConfig;
  readonly holdings: readonly Holding[];
  readonly prices: ReadonlyMap<AssetKey, Pick<AssetPrice, "usd">>;
};

// Runs alongside the parts of a chain, which together take longer than this when they are slow.
const CROSS_CHECK_MS = 8_000;

/**
 * Reads the second source alongside the snapshot, within a budget: it can add a report, never delay or change a balance.
 * The result compares its reading with ours.
 */
export function startCrossCheck(
  source: CrossCheckSource,
  query: WalletQuery,
  signal: AbortSignal,
): (own: OwnReading) => Promise<ChainCrossCheck> {
  const reading = runWithinBudget((stop) => source.read(query, stop), CROSS_CHECK_MS, signal);
  // The snapshot may fail before it is compared: that is then the error to report.
  reading.catch(() => undefined);
  return async (own) => {
    const outcome = await reading;
    return "value" in outcome
      ? compareHoldings(source.name, own, outcome.value)
      : reportUnavailable(source.name, own.chain);
  };
}

/** For the warnings of the snapshot. */
export function describeCrossCheck(name: string, check: ChainCrossCheck): readonly string[] {
  if (check.status === "unavailable") return [`${name}: ${check.source} could not be read to compare.`];
  if (check.differenceCount === 0) return [];
  const count = check.differenceCount === 1 ? "1 difference" : `${check.differenceCount} differences`;
  return [`${name}: ${check.source} reports ${count} from what was read here; see crossCheck.`];
}

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
  const nothing = { comparedCount: 0, differenceCount: 0, differences: [], ignoredSpamCount: 0 };
  return { chain: slug, source, status: "unavailable", updatedAt: null, ...nothing };
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
