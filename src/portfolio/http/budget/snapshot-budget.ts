// The forms of a snapshot: in full, its holdings in few fields each, or an overview of at most 2 kB.

import { compareDecimals, type Decimal, formatDecimal, parseDecimal } from "../../../lib/decimal.ts";
import { closedObject, type JsonSchema } from "../../../schema/json-schema.ts";
import {
  type PortfolioPosition,
  type PortfolioSnapshot,
  type PortfolioToken,
  portfolioSnapshotSchema,
} from "../../../schema/portfolio/snapshot.ts";
import type { BudgetOptions } from "./budget.ts";
import { pickFields } from "./fit.ts";
import { portfolioOverviewSchema, summarizeSnapshot } from "./overview.ts";

const TOKEN_FIELDS = ["chain", "contract", "symbol", "balance", "valueUsd", "spam"] as const;
const POSITION_FIELDS = ["chain", "protocol", "kind", "name", "valueUsd", "partial"] as const;

type Fields = Readonly<Record<string, JsonSchema>>;
const snapshotFields = portfolioSnapshotSchema.properties as Fields;

function shortRecords(title: string, list: string, names: readonly string[]): JsonSchema {
  const { items, ...rest } = snapshotFields[list] as JsonSchema & { readonly items: { properties: Fields } };
  const properties = Object.fromEntries(names.map((name) => [name, items.properties[name] ?? {}]));
  return { ...rest, items: { title, ...closedObject(properties) } };
}

const holdingsShape = closedObject({
  ...pickFields(snapshotFields, ["address", "timestamp", "chains", "summary"]),
  tokens: shortRecords("HeldToken", "tokens", TOKEN_FIELDS),
  positions: shortRecords("HeldPosition", "positions", POSITION_FIELDS),
  ...pickFields(snapshotFields, ["provider"]),
});

export const portfolioHoldingsSchema: JsonSchema = {
  title: "PortfolioHoldings",
  ...holdingsShape,
  properties: { ...(holdingsShape.properties as Fields), ...pickFields(snapshotFields, ["omitted"]) },
};

function listHoldings(snapshot: PortfolioSnapshot): unknown {
  const { address, timestamp, chains, summary, tokens, positions, provider, omitted } = snapshot;
  return {
    ...{ address, timestamp, chains, summary },
    tokens: tokens.map((token) => pickFields(token, TOKEN_FIELDS)),
    positions: positions.map((position) => pickFields(position, POSITION_FIELDS)),
    provider,
    ...(omitted ? { omitted } : {}),
  };
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
  const tokens = snapshot.tokens.filter(({ valueUsd }: PortfolioToken) => isEnough(valueUsd));
  const positions = snapshot.positions.filter(
    ({ valueUsd, partial }: PortfolioPosition) => partial || valueUsd === null || isEnough(valueUsd),
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
