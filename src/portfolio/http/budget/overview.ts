// The overview of a snapshot: what fits into 2 kB for every wallet, the most important first.

import { closedObject, type JsonSchema } from "../../../schema/json-schema.ts";
import {
  type PortfolioSnapshot,
  portfolioSnapshotSchema,
  type TopHolding,
} from "../../../schema/portfolio/snapshot.ts";
import { sortNotes } from "../../../web/pay-page/notes.ts";
import { cutName, cutWarning, fillList, OVERVIEW_BYTES_MAX } from "./fit.ts";

// Warnings say what the numbers mean, so that holdings leave room for some.
const BYTES_WITH_HOLDINGS_MAX = 1_500;
const HOLDINGS_MAX = 5;
const WARNINGS_MAX = 5;

type Fields = Readonly<Record<string, JsonSchema>>;
const fieldsOf = (schema: JsonSchema | undefined) => (schema?.properties ?? {}) as Fields;
const snapshotFields = fieldsOf(portfolioSnapshotSchema);
const summaryFields = fieldsOf(snapshotFields.summary);
const itemsOf = (name: string) => fieldsOf(summaryFields[name]?.items as JsonSchema | undefined);

const COUNTS = ["tokenCount", "pricedTokenCount", "unpricedTokenCount"] as const;
const pick = (fields: Fields, names: readonly string[]): Fields =>
  Object.fromEntries(names.map((name) => [name, fields[name] ?? {}]));

const overviewShape = closedObject({
  ...pick(snapshotFields, ["address", "timestamp"]),
  ...pick(summaryFields, ["totalValueUsd", "stablecoinValueUsd", "unlistedValueUsd", ...COUNTS]),
  positionCount: { type: "integer", minimum: 0 },
  chains: {
    type: "array",
    items: { title: "ChainTotal", ...closedObject(pick(itemsOf("chains"), ["chain", "totalValueUsd"])) },
    description: "One per requested chain, in the order of the request.",
  },
  topHoldings: {
    type: "array",
    maxItems: HOLDINGS_MAX,
    items: {
      title: "OverviewHolding",
      ...closedObject(pick(itemsOf("topHoldings"), ["chain", "symbol", "name", "valueUsd"])),
    },
    description: "The largest of the snapshot's that fit; a long symbol or name is cut and ends in ….",
  },
  warningCount: { type: "integer", minimum: 0, description: "The warnings of the snapshot, listed or not." },
  warnings: {
    type: "array",
    maxItems: WARNINGS_MAX,
    items: { type: "string" },
    description:
      "Those that fit, what is missing or uncertain before what every snapshot says; a long one is cut and ends in ….",
  },
  ...pick(snapshotFields, ["provider"]),
});

export const portfolioOverviewSchema: JsonSchema = {
  title: "PortfolioOverview",
  ...overviewShape,
  properties: { ...fieldsOf(overviewShape), ...pick(snapshotFields, ["omitted"]) },
};

type OverviewHolding = Omit<TopHolding, "contract">;

/**
 * Totals always fit: an amount of a token and its price have at most 78 digits each, and there are at most five chains.
 * Holdings and warnings are added while there is room.
 */
export function summarizeSnapshot(snapshot: PortfolioSnapshot): unknown {
  const { address, timestamp, summary, positions, provider, omitted } = snapshot;
  const { totalValueUsd, stablecoinValueUsd, unlistedValueUsd } = summary;
  const { tokenCount, pricedTokenCount, unpricedTokenCount } = summary;
  const sorted = sortNotes([...summary.warnings]);
  const topHoldings: OverviewHolding[] = [];
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

function shortenHolding({ chain, symbol, name, valueUsd }: TopHolding): OverviewHolding {
  return { chain, symbol: cutName(symbol), name: cutName(name), valueUsd };
}
