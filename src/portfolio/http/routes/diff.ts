// GET /portfolio/diff: what changed in a wallet between two blocks of each chain; in full, or as an overview of at most 2 kB.
import { compareDecimals, parseDecimal } from "../../../lib/decimal.ts";
import { type TypeOf, titledRecord } from "../../../schema/json-schema.ts";
import { type PortfolioDiff, portfolioDiffSchema } from "../../../schema/portfolio/diff.ts";
import { exampleDiff } from "../../../schema/portfolio/examples.ts";
import { count, textOrNull } from "../../../schema/portfolio/values.ts";
import { canonicalDiffQuery, createDiffParameters, EXAMPLE_DIFF_QUERY } from "../../diff/query.ts";
import { checkDiff, countDiffChains, readDiff } from "../../diff/read-diff.ts";
import { describeProvableDiff } from "../../proofs/prove-response.ts";
import {
  addBudget,
  type BudgetOptions,
  cutName,
  describeSelection,
  fillList,
  pickFields,
} from "../budget/budget.ts";
import { addProofs } from "../proofs.ts";
import type { PaidQuery, PaidRouteDeclaration } from "./paid-route.ts";

const CHANGES_MAX = 5;
const SIDE_FIELDS = ["timestamp", "blocks"] as const;
const CHANGE_FIELDS = ["chain", "contract", "changeUsd", "quantityUsd", "priceUsd"] as const;

const { properties } = portfolioDiffSchema;
const side = titledRecord("OverviewSide", pickFields(properties.from.properties, SIDE_FIELDS));

const portfolioDiffOverviewSchema = titledRecord("PortfolioDiffOverview", {
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
    "How much to return: `full`, or `summary`, which may cost less: the total change and the largest changes of tokens in at most 2,048 bytes.",
};

export const diffRoute: PaidRouteDeclaration = {
  path: "/portfolio/diff",
  operationId: "getPortfolioDiff",
  summary: "What changed in a wallet between two blocks",
  description:
    "The difference of two snapshots of an EVM wallet, each as of blocks that you name: per token, position, chain and in total, the change in value split exactly into quantity and price, with what was known before and after.",
  tags: ["wallet", "portfolio", "history", "defi", "evm"],
  price: { key: "diffPriceUsd", variable: "DIFF_PRICE_USD" },
  createQuery: (served) => addProofs(addBudget(createDiffQuery(served), DIFF_BUDGET), describeProvableDiff),
  exampleQuery: EXAMPLE_DIFF_QUERY,
  response: portfolioDiffSchema,
  otherResponses: [portfolioDiffOverviewSchema, describeSelection("PortfolioDiffSelection")],
  responseExample: exampleDiff,
  responseExcerpt: { address: exampleDiff.address, total: exampleDiff.total },
  notes: [
    "`quantityUsd + priceUsd = changeUsd` of every entry, and with `otherUsd` of every total, to the last digit. Quantity is the change of the balance at the price before; price is the rest.",
    "`before` and `after` have all that changed: put each `after` into the figures of the first snapshot and you have those of the second.",
    "A change is null, and counted in `unknownCount`, if a price is unknown on one side. Tokens on no list are found by recent transfers: one that neither moved recently nor is listed may be missing on a side, which the warnings of that side say.",
    "`from` may be the `snapshotId` of a snapshot that was bought here within 90 days: no archive node is needed for it.",
    "A block that no node has the state of is a 400 that names the oldest one found, and nothing is charged.",
  ],
  tool: {
    name: "wallet_changes",
    title: "Compare a wallet at two blocks",
    purpose: "What a wallet gained or lost between two blocks, by trades and by prices.",
    hints: { from: "7d, YYYY-MM-DD, chain:number,… or a snapshotId", to: "likewise; default: now" },
  },
};

/** A difference reads every chain at its start and at its end. */
const SIDES = 2;

function createDiffQuery(served: readonly string[]): PaidQuery<PortfolioDiff> {
  const { parameters, parse } = createDiffParameters(served);
  return {
    parameters,
    parse: (values) => {
      const request = parse(values);
      return {
        query: canonicalDiffQuery(request),
        warning: request.warning,
        countChains: (services, client) => countDiffChains(services, request, client),
        readCount: SIDES * (request.slugs?.length ?? served.length),
        check: (services, client) => checkDiff(services, request, client),
        read: (services, signal) => readDiff(services, request, signal),
      };
    },
  };
}
