// The forms of a difference: in full, or an overview of at most 2 kB with the total and the largest changes.

import { compareDecimals, parseDecimal } from "../../../lib/decimal.ts";
import { closedObject, type JsonSchema } from "../../../schema/json-schema.ts";
import { type PortfolioDiff, portfolioDiffSchema } from "../../../schema/portfolio/diff.ts";
import type { BudgetOptions } from "./budget.ts";
import { cutName, fillList, pickFields } from "./fit.ts";

const CHANGES_MAX = 5;
const SIDE_FIELDS = ["timestamp", "blocks"] as const;
const CHANGE_FIELDS = ["chain", "contract", "changeUsd", "quantityUsd", "priceUsd"] as const;

type Fields = Readonly<Record<string, JsonSchema>>;
const fieldsOf = (schema: unknown) => ((schema as JsonSchema | undefined)?.properties ?? {}) as Fields;
const diffFields = fieldsOf(portfolioDiffSchema);
const side = { title: "OverviewSide", ...closedObject(pickFields(fieldsOf(diffFields.from), SIDE_FIELDS)) };
const count = { type: "integer", minimum: 0 };

export const portfolioDiffOverviewSchema: JsonSchema = {
  title: "PortfolioDiffOverview",
  ...closedObject({
    ...pickFields(diffFields, ["address"]),
    from: side,
    to: side,
    ...pickFields(diffFields, ["total"]),
    changedTokenCount: count,
    changedPositionCount: count,
    ...pickFields(diffFields, ["unknownCount"]),
    largestChanges: {
      type: "array",
      maxItems: CHANGES_MAX,
      items: {
        title: "OverviewChange",
        ...closedObject({
          ...pickFields(fieldsOf(diffFields.tokens?.items), CHANGE_FIELDS),
          symbol: { type: ["string", "null"] },
        }),
      },
      description: "The tokens whose value changed most, in either direction, that fit.",
    },
    warningCount: { ...count, description: "The warnings of both sides." },
    ...pickFields(diffFields, ["provider"]),
  }),
};

function summarizeDiff(diff: PortfolioDiff): unknown {
  const { address, from, to, total, tokens, positions, unknownCount, provider } = diff;
  const largestChanges: unknown[] = [];
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
