// The summaries of `--detail summary`, and a price, for people: sums and counts in words, then short tables.
import type {
  ExposureOverview,
  PortfolioDiffOverview,
  PortfolioOverview,
} from "@sextant/client/generated/records";
import type { PriceQuote } from "@sextant/client/sextant";
import type { Display } from "./display.ts";
import {
  amountField,
  blocksOf,
  CHANGE,
  formatFacts,
  formatRisk,
  formatSide,
  formatWarnings,
  moneyField,
  RISK_CHAINS,
  textField,
} from "./paid-data.ts";
import { formatDollars, formatExactDollars } from "./receipt.ts";
import { formatValue } from "./record.ts";
import { formatSection, type TableField } from "./table.ts";

type Element<List extends readonly unknown[]> = List[number];

const CHAINS: readonly TableField<Element<PortfolioOverview["chains"]>>[] = [
  textField("chain", ({ chain }) => chain),
  moneyField("worth", ({ totalValueUsd }) => totalValueUsd),
];

const HOLDINGS: readonly TableField<Element<PortfolioOverview["topHoldings"]>>[] = [
  textField("holding", ({ name, symbol }) => name ?? symbol ?? "?"),
  textField("token", ({ symbol }) => symbol ?? "?"),
  textField("chain", ({ chain }) => chain),
  moneyField("worth", ({ valueUsd }) => valueUsd),
];

export function formatSnapshotOverview(overview: PortfolioOverview, display: Display): readonly string[] {
  const { tokenCount, unpricedTokenCount, positionCount, unlistedValueUsd } = overview;
  const unlisted = unlistedValueUsd === "0" ? "" : `   not on a list ${formatDollars(unlistedValueUsd)}`;
  const unpriced = unpricedTokenCount === 0 ? "" : `, ${unpricedTokenCount} of them without a price`;
  const worth = display.style("bold", formatDollars(overview.totalValueUsd));
  const facts = {
    Wallet: formatValue(overview.address),
    Worth: `${worth}   stablecoins ${formatDollars(overview.stablecoinValueUsd)}${unlisted}`,
    Holds: formatValue(`${count(tokenCount, "token")}${unpriced}; ${count(positionCount, "position")}`),
    Taken: `${formatSide(overview)} by ${formatValue(overview.provider)}`,
  };
  return [
    ...formatFacts(facts, display),
    ...formatSection("Chains", CHAINS, overview.chains, display),
    ...formatSection("Largest holdings", HOLDINGS, overview.topHoldings, display),
    ...formatSomeWarnings(overview, display),
  ];
}

const PERMISSIONS: readonly TableField<Element<ExposureOverview["permissions"]>>[] = [
  textField("spender", ({ spenderName, spender }) => spenderName ?? spender),
  textField("token", ({ symbol, contract }) => symbol ?? contract),
  textField("chain", ({ chain }) => chain),
  moneyField("at risk", ({ valueAtRiskUsd }) => valueAtRiskUsd),
  textField("limit", ({ unlimited }) => (unlimited ? "none" : "")),
  textField("kind", ({ kind }) => kind),
];

export function formatExposureOverview(overview: ExposureOverview, display: Display): readonly string[] {
  const { permissionCount, unlimitedCount, unknownSpenderCount } = overview;
  const counts = `${count(permissionCount, "permission")}, ${unlimitedCount} unlimited, ${unknownSpenderCount} of unknown spenders`;
  const facts = {
    Wallet: formatValue(overview.address),
    "At risk": `${display.style("bold", formatRisk(overview))}   ${formatValue(counts)}`,
    Taken: `${formatSide({ ...overview, blocks: blocksOf(overview) })} by ${formatValue(overview.provider)}`,
  };
  return [
    ...formatFacts(facts, display),
    ...formatSection("Chains", RISK_CHAINS, overview.chains, display),
    ...formatSection("Most at risk", PERMISSIONS, overview.permissions, display),
    ...formatSomeWarnings(overview, display),
  ];
}

const CHANGES: readonly TableField<Element<PortfolioDiffOverview["largestChanges"]>>[] = [
  textField("token", ({ symbol, contract }) => symbol ?? contract ?? "native coin"),
  textField("chain", ({ chain }) => chain),
  ...CHANGE,
];

const PARTS: readonly TableField<PortfolioDiffOverview["total"]>[] = [
  ...CHANGE,
  amountField("other", ({ otherUsd }) => formatDollars(otherUsd)),
];

export function formatDiffOverview(overview: PortfolioDiffOverview, display: Display): readonly string[] {
  const { from, to, total, changedTokenCount, changedPositionCount, unknownCount, warningCount } = overview;
  const unknown = unknownCount === 0 ? "" : `, ${unknownCount} of unknown value`;
  const changed = `${count(changedTokenCount, "token")}, ${count(changedPositionCount, "position")}${unknown}`;
  const facts = {
    Wallet: formatValue(overview.address),
    From: `${formatSide(from)}   ${formatDollars(total.beforeUsd)}`,
    To: `${formatSide(to)}   ${formatDollars(total.afterUsd)}`,
    Changed: formatValue(changed),
    ...(warningCount > 0 && { Warnings: `${warningCount}; read them without --detail summary` }),
  };
  return [
    ...formatFacts(facts, display),
    ...formatSection("Change", PARTS, [total], display),
    ...formatSection("Largest changes", CHANGES, overview.largestChanges, display),
  ];
}

/** The names of tokens in their contracts, by which signatures name them. */
const SYMBOLS: Readonly<Record<string, string>> = { "USD Coin": "USDC" };

export function formatQuote(quote: PriceQuote, display: Display): readonly string[] {
  const { url, price, asset, assetName, payTo, network, problem } = quote;
  const symbol = assetName === null ? "" : ` in ${formatValue(SYMBOLS[assetName] ?? assetName)}`;
  const facts = {
    Price: `${display.style("bold", formatExactDollars(price))}${symbol}`,
    ...(asset === null ? {} : { Token: formatValue(asset) }),
    ...(network === null ? {} : { "On chain": formatValue(network) }),
    ...(payTo === null ? {} : { "Paid to": formatValue(payTo) }),
    ...(problem === null ? {} : { Problem: formatValue(problem) }),
    For: formatValue(url),
  };
  return formatFacts(facts, display);
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

/** A summary has only some of the warnings. */
function formatSomeWarnings(
  { warnings, warningCount }: { readonly warnings: readonly string[]; readonly warningCount: number },
  display: Display,
): string[] {
  const left = warningCount - warnings.length;
  return formatWarnings(
    left > 0 ? [...warnings, `${count(left, "more warning")} without --detail summary`] : warnings,
    display,
  );
}
