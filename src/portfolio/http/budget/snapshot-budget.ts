// The forms of a snapshot: in full, its holdings in few fields each, or an overview of at most 2 kB.
import { compareDecimals, type Decimal, formatDecimal, parseDecimal } from "../../../lib/decimal.ts";
import { listOf, type TypeOf, titledRecord } from "../../../schema/json-schema.ts";
import {
  type PortfolioSnapshot,
  portfolioSnapshotSchema,
  type TopHolding,
} from "../../../schema/portfolio/snapshot.ts";
import { count, text } from "../../../schema/portfolio/values.ts";
import { sortNotes } from "../../../web/pay-page/notes.ts";
import type { BudgetOptions } from "./budget.ts";
import { cutName, cutWarning, fillList, OVERVIEW_BYTES_MAX, pickFields } from "./fit.ts";

const TOKEN_FIELDS = ["chain", "contract", "symbol", "balance", "valueUsd", "spam"] as const;
const POSITION_FIELDS = ["chain", "protocol", "kind", "name", "valueUsd", "partial"] as const;
const HOLDING_FIELDS = ["chain", "symbol", "name", "valueUsd"] as const;
// Warnings say what the numbers mean, so that holdings leave room for some.
const BYTES_WITH_HOLDINGS_MAX = 1_500;
const HOLDINGS_MAX = 5;
const WARNINGS_MAX = 5;

const { properties } = portfolioSnapshotSchema;
const { tokens, positions, omitted, summary } = properties;
const { chains, topHoldings } = summary.properties;

export const portfolioHoldingsSchema = titledRecord(
  "PortfolioHoldings",
  {
    ...pickFields(properties, ["address", "timestamp", "chains", "summary"]),
    tokens: {
      type: "array",
      description: tokens.description,
      items: titledRecord("HeldToken", pickFields(tokens.items.properties, TOKEN_FIELDS)),
    },
    positions: listOf(titledRecord("HeldPosition", pickFields(positions.items.properties, POSITION_FIELDS))),
    provider: properties.provider,
  },
  { omitted },
);

export const portfolioOverviewSchema = titledRecord(
  "PortfolioOverview",
  {
    ...pickFields(properties, ["address", "timestamp"]),
    ...pickFields(summary.properties, ["totalValueUsd", "stablecoinValueUsd", "unlistedValueUsd"]),
    ...pickFields(summary.properties, ["tokenCount", "pricedTokenCount", "unpricedTokenCount"]),
    positionCount: count,
    chains: listOf(
      titledRecord("ChainTotal", pickFields(chains.items.properties, ["chain", "totalValueUsd"])),
      { description: chains.description },
    ),
    topHoldings: {
      type: "array",
      maxItems: HOLDINGS_MAX,
      items: titledRecord("OverviewHolding", pickFields(topHoldings.items.properties, HOLDING_FIELDS)),
      description: "The largest of the snapshot's that fit; a long symbol or name is cut and ends in ….",
    },
    warningCount: { ...count, description: "The warnings of the snapshot, listed or not." },
    warnings: {
      type: "array",
      maxItems: WARNINGS_MAX,
      items: text,
      description:
        "The warnings that fit, missing or uncertain parts before what every snapshot says; a long one is cut and ends in ….",
    },
    provider: properties.provider,
  },
  { omitted },
);

type PortfolioHoldings = TypeOf<typeof portfolioHoldingsSchema>;
type PortfolioOverview = TypeOf<typeof portfolioOverviewSchema>;

function listHoldings(snapshot: PortfolioSnapshot): PortfolioHoldings {
  const { address, timestamp, chains, summary, tokens, positions, provider, omitted } = snapshot;
  return {
    ...{ address, timestamp, chains, summary },
    tokens: tokens.map((token) => pickFields(token, TOKEN_FIELDS)),
    positions: positions.map((position) => pickFields(position, POSITION_FIELDS)),
    provider,
    ...(omitted ? { omitted } : {}),
  };
}

/**
 * Totals always fit: an amount of a token and its price have at most 78 digits each, and there are at most five chains.
 * Holdings and warnings are added while there is room.
 */
function summarizeSnapshot(snapshot: PortfolioSnapshot): PortfolioOverview {
  const { address, timestamp, summary, positions, provider, omitted } = snapshot;
  const { totalValueUsd, stablecoinValueUsd, unlistedValueUsd } = summary;
  const { tokenCount, pricedTokenCount, unpricedTokenCount } = summary;
  const sorted = sortNotes([...summary.warnings]);
  const topHoldings: PortfolioOverview["topHoldings"][number][] = [];
  const warnings: string[] = [];
  const overview = {
    ...{ address, timestamp, totalValueUsd, stablecoinValueUsd, unlistedValueUsd },
    ...{ tokenCount, pricedTokenCount, unpricedTokenCount },
    positionCount: positions.length + (omitted?.positions ?? 0),
    chains: summary.chains.map(({ chain, totalValueUsd }) => ({ chain, totalValueUsd })),
    topHoldings,
    warningCount: summary.warnings.length,
    warnings,
    provider,
    ...(omitted ? { omitted } : {}),
  };
  fillList(
    overview,
    topHoldings,
    summary.topHoldings.slice(0, HOLDINGS_MAX).map(shortenHolding),
    BYTES_WITH_HOLDINGS_MAX,
  );
  const listed = [...sorted.warnings, ...sorted.notes].slice(0, WARNINGS_MAX);
  fillList(overview, warnings, listed.map(cutWarning), OVERVIEW_BYTES_MAX);
  return overview;
}

function shortenHolding({
  chain,
  symbol,
  name,
  valueUsd,
}: TopHolding): PortfolioOverview["topHoldings"][number] {
  return { chain, symbol: cutName(symbol), name: cutName(name), valueUsd };
}

export const SNAPSHOT_BUDGET: BudgetOptions<PortfolioSnapshot> = {
  shapes: {
    full: { schema: portfolioSnapshotSchema, cut: (snapshot) => snapshot },
    tokens: { schema: portfolioHoldingsSchema, cut: listHoldings },
    summary: { schema: portfolioOverviewSchema, cut: summarizeSnapshot },
  },
  detail:
    "How much of the snapshot to return, at the same price: `full`; `tokens`, tokens and positions in six fields each and no activity; or `summary`, totals, largest holdings and warnings in at most 2,048 bytes, whatever the wallet holds.",
  minUsd: {
    description:
      "Leaves out tokens worth less than this, and tokens without a known value; and positions worth less, or owing less, unless their value is partial or unknown, because that may be a debt. Totals and counts stay those of the whole wallet; `omitted` says how many were left out.",
    leaveOut,
  },
};

/** Totals stay as they are: only the lists become shorter. */
function leaveOut(snapshot: PortfolioSnapshot, minUsd: Decimal): PortfolioSnapshot {
  const isEnough = (valueUsd: string | null) =>
    valueUsd !== null && compareDecimals(parseDecimal(valueUsd.replace("-", ""), "a value"), minUsd) >= 0;
  const tokens = snapshot.tokens.filter(({ valueUsd }) => isEnough(valueUsd));
  const positions = snapshot.positions.filter(
    ({ valueUsd, partial }) => partial || valueUsd === null || isEnough(valueUsd),
  );
  const unpricedTokens = snapshot.tokens.filter(({ valueUsd }) => valueUsd === null).length;
  const omitted = {
    minUsd: formatDecimal(minUsd),
    tokens: snapshot.tokens.length - tokens.length,
    unpricedTokens,
    positions: snapshot.positions.length - positions.length,
  };
  return { ...snapshot, tokens, positions, omitted };
}
