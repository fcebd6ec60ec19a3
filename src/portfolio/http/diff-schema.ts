// The response to a request for a difference as JSON Schema 2020-12, with an example.

import { FOREIGN_TEXT } from "../../lib/foreign-text.ts";
import { closedObject, type JsonSchema, nullable } from "../../schema/json-schema.ts";
import type { PortfolioDiff } from "../diff/read-diff.ts";
import { EXAMPLE_WALLET } from "../query.ts";
import { addFailedChainsKey } from "./failed-chains-schema.ts";

const text = { type: "string" };
const textOrNull = { type: ["string", "null"] };
const address = { type: "string", pattern: "^0x[0-9a-f]{40}$" };
const amount = { type: "string", pattern: "^(0|[1-9][0-9]*)(\\.[0-9]*[1-9])?$" };
const usd = { type: "string", pattern: "^-?(0|[1-9][0-9]*)(\\.[0-9]{0,5}[1-9])?$" };
const chain = { ...text, description: "The chain's slug.", examples: ["base"] };
const contract = { ...nullable(address), description: "Null for the native coin." };
const listOf = (items: JsonSchema, description: string) => ({ type: "array", items, description });

const record = (title: string, properties: Readonly<Record<string, JsonSchema>>): JsonSchema => ({
  title,
  ...closedObject(properties),
});

const assetFigures = {
  symbol: { ...textOrNull, [FOREIGN_TEXT]: true },
  decimals: nullable({ type: "integer", minimum: 0, maximum: 255 }),
  rawBalance: { type: "string", pattern: "^(0|[1-9][0-9]*)$", description: "In the smallest unit." },
  priceUsd: { ...nullable(amount), description: "Of one whole unit; null when unknown." },
  valueUsd: { ...nullable(usd), description: "As in a snapshot; negative for debt, null when unknown." },
};

const valueChange = {
  changeUsd: {
    ...nullable(usd),
    description: "The value after minus the value before; null when one of them is unknown.",
  },
  quantityUsd: {
    ...nullable(usd),
    description:
      "The part by quantity: the change of the balance at the price before, rounded half up to 6 decimals. All of the change for what came or went as a whole; null where a value is limited by what markets could pay.",
  },
  priceUsd: {
    ...nullable(usd),
    description: "The part by price: changeUsd − quantityUsd, the new balance times the change of the price.",
  },
};

const totalChange = {
  beforeUsd: { ...nullable(usd), description: "The total of the snapshot before; null when unknown." },
  afterUsd: { ...nullable(usd), description: "The total of the snapshot after; null when unknown." },
  ...valueChange,
  otherUsd: {
    ...nullable(usd),
    description:
      "changeUsd − quantityUsd − priceUsd: of what has no parts, and of what counts in the total on one side only, because its value is unknown on the other or it is spam there.",
  },
};

const sides = (title: string, figures: Readonly<Record<string, JsonSchema>>) => ({
  before: { ...nullable(record(title, figures)), description: "Null where the wallet had none." },
  after: { ...nullable(record(title, figures)), description: "Null where the wallet has none." },
});

const tokenFigures = {
  ...assetFigures,
  spam: { type: "boolean", description: "Spam counts in no total." },
};

const diffSide = record("DiffSide", {
  timestamp: {
    type: "string",
    format: "date-time",
    description: "Of the newest of its blocks, or when it was taken.",
  },
  snapshotId: {
    ...nullable({ type: "string", pattern: "^[0-9a-f]{64}$" }),
    description: "The stored snapshot that this side is; null for a read as of blocks or of now.",
  },
  blocks: listOf(
    record("DiffBlock", { chain, number: { type: "integer", minimum: 0 } }),
    "The block of each chain; empty for a stored snapshot whose blocks are not known.",
  ),
  warnings: listOf(text, "What is missing, not counted or uncertain on this side."),
});

const diffShape = record("PortfolioDiff", {
  address,
  from: diffSide,
  to: diffSide,
  total: record("TotalChange", totalChange),
  chains: listOf(
    record("ChainChange", { chain, ...totalChange }),
    "One per chain, in the order of the request.",
  ),
  tokens: listOf(
    record("TokenChange", { chain, contract, ...sides("TokenFigures", tokenFigures), ...valueChange }),
    "Those of which balance, price, value or spam changed.",
  ),
  positions: listOf(
    record("PositionChange", {
      chain,
      protocol: text,
      kind: { type: "string", enum: ["supplied", "borrowed", "vault", "liquidity", "staked"] },
      name: { ...text, [FOREIGN_TEXT]: true },
      contract: nullable(address),
      assets: listOf(
        record("PositionAssetChange", { contract, ...sides("AssetFigures", assetFigures), ...valueChange }),
        "All assets of the position on either side.",
      ),
      ...valueChange,
    }),
    "Those with an asset that changed. Equal positions are one.",
  ),
  unknownCount: {
    type: "integer",
    minimum: 0,
    description: "Entries of tokens and positions whose changeUsd is null.",
  },
  provider: { ...text, description: "Source of the balances." },
});

export const portfolioDiffSchema: JsonSchema = addFailedChainsKey(diffShape);

const change = { changeUsd: "3300", quantityUsd: "3000", priceUsd: "300" };
const exampleTotal = { beforeUsd: "6000", afterUsd: "9300", ...change, otherUsd: "0" };
const ether = { symbol: "ETH", decimals: 18, spam: false };

export const exampleDiff: PortfolioDiff = {
  address: EXAMPLE_WALLET,
  from: {
    timestamp: "2025-05-09T12:00:00.000Z",
    snapshotId: null,
    blocks: [{ chain: "base", number: 30_000_000 }],
    warnings: [],
  },
  to: {
    timestamp: "2025-05-10T12:00:00.000Z",
    snapshotId: null,
    blocks: [{ chain: "base", number: 30_043_200 }],
    warnings: [],
  },
  total: exampleTotal,
  chains: [{ chain: "base", ...exampleTotal }],
  tokens: [
    {
      chain: "base",
      contract: null,
      before: { ...ether, rawBalance: "2000000000000000000", priceUsd: "3000", valueUsd: "6000" },
      after: { ...ether, rawBalance: "3000000000000000000", priceUsd: "3100", valueUsd: "9300" },
      ...change,
    },
  ],
  positions: [],
  unknownCount: 0,
  provider: "rpc",
};
