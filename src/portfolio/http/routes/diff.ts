// GET /portfolio/diff: what changed in a wallet between two blocks of each chain.
import { type PortfolioDiff, portfolioDiffSchema } from "../../../schema/portfolio/diff.ts";
import { exampleDiff } from "../../../schema/portfolio/examples.ts";
import { canonicalDiffQuery, createDiffParameters, EXAMPLE_DIFF_QUERY } from "../../diff/query.ts";
import { checkDiff, readDiff } from "../../diff/read-diff.ts";
import { addBudget, describeSelection } from "../budget/budget.ts";
import { DIFF_BUDGET, portfolioDiffOverviewSchema } from "../budget/diff-budget.ts";
import type { PaidQuery, PaidRouteDeclaration } from "./paid-route.ts";

export const diffRoute: PaidRouteDeclaration = {
  path: "/portfolio/diff",
  operationId: "getPortfolioDiff",
  summary: "What changed in a wallet between two blocks",
  description:
    "The difference of two snapshots of an EVM wallet, each as of blocks that you name: per token, position, chain and in total, the change in value split exactly into quantity and price, with what was known before and after.",
  tags: ["wallet", "portfolio", "history", "defi", "evm"],
  price: { key: "diffPriceUsd", variable: "DIFF_PRICE_USD" },
  createQuery: (served) => addBudget(createDiffQuery(served), DIFF_BUDGET),
  exampleQuery: EXAMPLE_DIFF_QUERY,
  response: portfolioDiffSchema,
  otherResponses: [portfolioDiffOverviewSchema, describeSelection("PortfolioDiffSelection")],
  responseExample: exampleDiff,
  responseExcerpt: { address: exampleDiff.address, total: exampleDiff.total },
  notes: [
    "`quantityUsd + priceUsd = changeUsd` of every entry, and with `otherUsd` of every total, to the last digit. Quantity is the change of the balance at the price before; price is the rest.",
    "`before` and `after` have all that changed: put each `after` into the figures of the first snapshot and you have those of the second.",
    "A change is null, and counted in `unknownCount`, where a price is unknown on one side. Tokens on no list are found by recent transfers: one that neither moved recently nor is listed may be missing on a side, which the warnings of that side say.",
    "`from` may be the `snapshotId` of a snapshot that was bought here within 90 days: no archive node is needed for it.",
    "A block that no node has the state of is a 400 that names the oldest one found, and nothing is charged.",
  ],
  tool: {
    name: "wallet_changes",
    title: "Compare a wallet at two blocks",
    purpose:
      "Use it to learn what a wallet gained or lost between two blocks, and whether by trades or by prices.",
  },
};

function createDiffQuery(served: readonly string[]): PaidQuery<PortfolioDiff> {
  const { parameters, parse } = createDiffParameters(served);
  return {
    parameters,
    parse: (values) => {
      const request = parse(values);
      return {
        query: canonicalDiffQuery(request),
        warning: request.warning,
        check: (services, client) => checkDiff(services, request, client),
        read: (services, signal) => readDiff(services, request, signal),
      };
    },
  };
}
