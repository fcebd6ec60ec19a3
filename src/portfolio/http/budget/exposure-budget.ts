// The forms of an exposure: in full, or an overview of at most 2 kB with what is most at risk.
import { listOf, type TypeOf, titledRecord } from "../../../schema/json-schema.ts";
import { type Exposure, exposureSchema } from "../../../schema/portfolio/exposure.ts";
import { count, text } from "../../../schema/portfolio/values.ts";
import type { BudgetOptions } from "./budget.ts";
import { cutName, cutWarning, fillList, pickFields } from "./fit.ts";

const PERMISSIONS_MAX = 5;
// Unknown values come first, and leave room for the largest known values.
const UNKNOWN_MAX = 3;
const WARNINGS_MAX = 5;
// Warnings say what could not be searched, so that permissions leave room for one.
const BYTES_WITH_PERMISSIONS_MAX = 1_700;

const COUNTS = [
  "permissionCount",
  "unlimitedCount",
  "unknownSpenderCount",
  "valueAtRiskUsd",
  "partial",
] as const;
const CHAIN_FIELDS = ["chain", "permissionCount", "valueAtRiskUsd", "partial"] as const;
const PERMISSION_FIELDS = [
  "chain",
  "kind",
  "contract",
  "symbol",
  "spender",
  "spenderName",
  "unlimited",
  "valueAtRiskUsd",
] as const;

const { properties } = exposureSchema;
const { summary, permissions } = properties;

export const exposureOverviewSchema = titledRecord("ExposureOverview", {
  ...pickFields(properties, ["address", "timestamp"]),
  ...pickFields(summary.properties, COUNTS),
  chains: listOf(
    titledRecord("ChainAtRisk", pickFields(summary.properties.chains.items.properties, CHAIN_FIELDS)),
  ),
  permissions: {
    type: "array",
    maxItems: PERMISSIONS_MAX,
    items: titledRecord("OverviewPermission", pickFields(permissions.items.properties, PERMISSION_FIELDS)),
    description: "The permissions most at risk that fit; a long symbol or name is cut and ends in ….",
  },
  warningCount: count,
  warnings: {
    type: "array",
    maxItems: WARNINGS_MAX,
    items: text,
    description: "The warnings that fit; a long one is cut and ends in ….",
  },
  provider: properties.provider,
});

type ExposureOverview = TypeOf<typeof exposureOverviewSchema>;

function summarizeExposure({
  address,
  timestamp,
  summary,
  permissions,
  provider,
}: Exposure): ExposureOverview {
  const listed: ExposureOverview["permissions"][number][] = [];
  const warnings: string[] = [];
  const overview = {
    ...{ address, timestamp, ...pickFields(summary, COUNTS) },
    chains: summary.chains.map((each) => pickFields(each, CHAIN_FIELDS)),
    permissions: listed,
    warningCount: summary.warnings.length,
    warnings,
    provider,
  };
  const firstKnown = permissions.findIndex(({ valueAtRiskUsd }) => valueAtRiskUsd !== null);
  const unknown = permissions.slice(0, firstKnown < UNKNOWN_MAX ? 0 : UNKNOWN_MAX);
  const ordered = [...unknown, ...permissions.slice(unknown.length === 0 ? 0 : firstKnown)];
  const most = ordered.slice(0, PERMISSIONS_MAX).map((each) => ({
    ...pickFields(each, PERMISSION_FIELDS),
    symbol: cutName(each.symbol),
    spenderName: cutName(each.spenderName),
  }));
  fillList(overview, listed, most, BYTES_WITH_PERMISSIONS_MAX);
  fillList(overview, warnings, summary.warnings.slice(0, WARNINGS_MAX).map(cutWarning));
  return overview;
}

export const EXPOSURE_BUDGET: BudgetOptions<Exposure> = {
  shapes: {
    full: { schema: exposureSchema, cut: (exposure) => exposure },
    summary: { schema: exposureOverviewSchema, cut: summarizeExposure },
  },
  detail:
    "How much to return, at the same price: `full`, or `summary`, counts, value at risk and the permissions most at risk in at most 2,048 bytes.",
};
