// The forms of a difference: in full, or an overview of at most 2 kB with the total and the largest changes.
import { compareDecimals, parseDecimal } from "../../../lib/decimal.ts";
import { type TypeOf, titledRecord } from "../../../schema/json-schema.ts";
import { type PortfolioDiff, portfolioDiffSchema } from "../../../schema/portfolio/diff.ts";
import { count, textOrNull } from "../../../schema/portfolio/values.ts";
import type { BudgetOptions } from "./budget.ts";
import { cutName, fillList, pickFields } from "./fit.ts";

const CHANGES_MAX = 5;
const SIDE_FIELDS = ["timestamp", "blocks"] as const;
const CHANGE_FIELDS = ["chain", "contract", "changeUsd", "quantityUsd", "priceUsd"] as const;

const { properties } = portfolioDiffSchema;
const side = titledRecord("OverviewSide", pickFields(properties.from.properties, SIDE_FIELDS));

export const portfolioDiffOverviewSchema = titledRecord("PortfolioDiffOverview", {
  address: properties.address,
  from: side,
  to: side,
  total: properties.total,
  changedTokenCount: count,
  changedPositionCount: count,
  unknownCount: properties.unknownCount,
  largestChanges: {
    type: "array",
    maxItems: CHANGES_MAX,
    items: titledRecord("OverviewChange", {
      ...pickFields(properties.tokens.items.properties, CHANGE_FIELDS),
      symbol: textOrNull,
    }),
    description: "The tokens whose value changed most, in either direction, that fit.",
  },
  warningCount: { ...count, description: "The warnings of both sides." },
  provider: properties.provider,
});

type DiffOverview = TypeOf<typeof portfolioDiffOverviewSchema>;

function summarizeDiff(diff: PortfolioDiff): DiffOverview {
  const { address, from, to, total, tokens, positions, unknownCount, provider } = diff;
  const largestChanges: DiffOverview["largestChanges"][number][] = [];
  const overview = {
    address,
    from: pickFields(from, SIDE_FIELDS),
    to: pickFields(to, SIDE_FIELDS),
    total,
    changedTokenCount: tokens.length,
    changedPositionCount: positions.length,
    unknownCount,
    largestChanges,
    warningCount: from.warnings.length + to.warnings.length,
    provider,
  };
  const sizeOf = ({ changeUsd }: { readonly changeUsd: string | null }) =>
    parseDecimal((changeUsd ?? "0").replace("-", ""), "a change");
  const largest = tokens
    .filter(({ changeUsd }) => changeUsd !== null)
    .sort((a, b) => compareDecimals(sizeOf(b), sizeOf(a)))
    .slice(0, CHANGES_MAX)
    .map((token) => ({
      ...pickFields(token, CHANGE_FIELDS),
      symbol: cutName((token.after ?? token.before)?.symbol ?? null),
    }));
  fillList(overview, largestChanges, largest);
  return overview;
}

export const DIFF_BUDGET: BudgetOptions<PortfolioDiff> = {
  shapes: {
    full: { schema: portfolioDiffSchema, cut: (diff) => diff },
    summary: { schema: portfolioDiffOverviewSchema, cut: summarizeDiff },
  },
  detail:
    "How much to return, at the same price: `full`, or `summary`, the total change and the largest changes of tokens in at most 2,048 bytes.",
};
