// The response to a request for a difference: its schema, and the types that follow from it.
import { type JsonSchema, listOf, nullable, type TypeOf, titledRecord } from "../json-schema.ts";
import { responseProofs } from "./proofs.ts";
import {
  addressText,
  amountText,
  assetContract,
  chainSlug,
  count,
  decimals,
  failedChains,
  flag,
  foreignText,
  foreignTextOrNull,
  positionKind,
  snapshotIdText,
  text,
  timeText,
  uintText,
  usdText,
} from "./values.ts";

const assetFigureKeys = {
  symbol: foreignTextOrNull,
  decimals,
  rawBalance: { ...uintText, description: "In the smallest unit." },
  priceUsd: { ...nullable(amountText), description: "The price of one whole unit; null when unknown." },
  valueUsd: { ...nullable(usdText), description: "As in a snapshot; negative for debt, null when unknown." },
};
const assetFigures = titledRecord("AssetFigures", assetFigureKeys);
const tokenFigures = titledRecord("TokenFigures", {
  ...assetFigureKeys,
  spam: { ...flag, description: "Spam counts in no total." },
});

/**
 * `quantityUsd + priceUsd = changeUsd`, to the last digit. Quantity is the change of the balance at the price before;
 * price is the rest: the new balance times the change of the price. All are null if a value is unknown on one side, and
 * the parts are null if a value is not balance times price: the markets of a token could not pay for all of it, and a balance
 * that anyone can give away would make parts of any size.
 */
const valueChange = {
  changeUsd: {
    ...nullable(usdText),
    description: "The value after minus the value before; null when one of them is unknown.",
  },
  quantityUsd: {
    ...nullable(usdText),
    description:
      "The part by quantity: the change of the balance at the price before, rounded half up to 6 decimals. All of the change if the asset came or went as a whole; null if a value is limited by what markets could pay.",
  },
  priceUsd: {
    ...nullable(usdText),
    description: "The part by price: changeUsd − quantityUsd, the new balance times the change of the price.",
  },
};

/** `quantityUsd + priceUsd + otherUsd = changeUsd`. */
const totalChange = {
  beforeUsd: { ...nullable(usdText), description: "The total of the snapshot before; null when unknown." },
  afterUsd: { ...nullable(usdText), description: "The total of the snapshot after; null when unknown." },
  ...valueChange,
  otherUsd: {
    ...nullable(usdText),
    description:
      "changeUsd − quantityUsd − priceUsd: the change that cannot be split, of positions without parts and of assets that are unknown or spam on one side.",
  },
};

const sides = <Figures extends JsonSchema>(figures: Figures) => ({
  before: { ...nullable(figures), description: "The figures before; null if the wallet had none." },
  after: { ...nullable(figures), description: "The figures after; null if the wallet has none." },
});

const diffSide = titledRecord("DiffSide", {
  timestamp: {
    ...timeText,
    description: "The time of the newest of its blocks, or the time at which the snapshot was taken.",
  },
  snapshotId: {
    ...nullable(snapshotIdText),
    description: "The stored snapshot that this side is; null for a read as of blocks or of now.",
  },
  blocks: listOf(titledRecord("DiffBlock", { chain: chainSlug, number: count }), {
    description: "The block of each chain; empty for a stored snapshot whose blocks are not known.",
  }),
  warnings: listOf(text, {
    description: "The parts that are missing, not counted or uncertain on this side.",
  }),
});

const tokenChange = titledRecord("TokenChange", {
  chain: chainSlug,
  contract: assetContract,
  ...sides(tokenFigures),
  ...valueChange,
});

const positionAssetChange = titledRecord("PositionAssetChange", {
  contract: assetContract,
  ...sides(assetFigures),
  ...valueChange,
});

const positionChange = titledRecord("PositionChange", {
  chain: chainSlug,
  protocol: text,
  kind: positionKind,
  name: foreignText,
  contract: nullable(addressText),
  assets: listOf(positionAssetChange, { description: "All assets of the position on either side." }),
  ...valueChange,
});

export const portfolioDiffSchema = titledRecord(
  "PortfolioDiff",
  {
    address: addressText,
    from: diffSide,
    to: diffSide,
    total: titledRecord("TotalChange", totalChange),
    chains: listOf(titledRecord("ChainChange", { chain: chainSlug, ...totalChange }), {
      description: "One per chain, in the order of the request.",
    }),
    tokens: listOf(tokenChange, {
      description: "The tokens whose balance, price, value or spam mark changed.",
    }),
    positions: listOf(positionChange, {
      description: "The positions with an asset that changed. Equal positions are one.",
    }),
    unknownCount: { ...count, description: "Entries of tokens and positions whose changeUsd is null." },
    provider: { ...text, description: "Source of the balances." },
  },
  { failedChains, proofs: responseProofs },
);

export type PortfolioDiff = TypeOf<typeof portfolioDiffSchema>;
export type DiffSide = TypeOf<typeof diffSide>;
export type AssetFigures = TypeOf<typeof assetFigures>;
export type TokenFigures = TypeOf<typeof tokenFigures>;
export type TokenChange = TypeOf<typeof tokenChange>;
export type PositionChange = TypeOf<typeof positionChange>;
export type TotalChange = PortfolioDiff["total"];
export type ValueChange = Pick<TotalChange, keyof typeof valueChange>;
