// The Compound v3 markets ("Comets") by chain id, their views, and validated decoding of their results.
import { readChainData } from "../../../chain/chain-data.ts";
import {
  decodeAddress,
  decodeTokenAmount,
  decodeWord,
  decodeWords,
  TOKEN_AMOUNT_MAX,
  wordToAddress,
} from "../../../lib/abi/return-data.ts";
import type { Hex } from "../../../lib/hex.ts";
import { type ShapeType, shape } from "../../../lib/json-shape.ts";
import { defineRead } from "../../contract-reads/reads.ts";

const compoundV3Market = shape.object({
  name: shape.text,
  comet: shape.address,
  /** Whether its feeds are in dollars; others count in ether or bitcoin, which no contract tells. */
  isInDollars: shape.flag,
});

export type CompoundV3Market = ShapeType<typeof compoundV3Market>;

export const COMPOUND_V3_MARKETS = readChainData(
  "lending",
  "compound-v3",
  shape.list(compoundV3Market, ({ comet }) => comet),
);

/** As positions and prices name it. */
export const PROTOCOL = "compound-v3";

/** Every market scales the prices of its feeds to so many decimals. */
export const PRICE_DECIMALS = 8;

const ASSETS_IN_BITS = 16;
const COLLATERALS_MAX = 24;

export const cometCalls = {
  borrowBalanceOf: defineRead("function borrowBalanceOf(address)", decodeTokenAmount),
  userBasic: defineRead("function userBasic(address)", decodeCollateralIndexes),
  userCollateral: defineRead("function userCollateral(address, address)", decodeCollateralBalance),
  baseToken: defineRead("function baseToken()", decodeAddress),
  baseTokenPriceFeed: defineRead("function baseTokenPriceFeed()", decodeAddress),
  baseScale: defineRead("function baseScale()", decodeWord),
  getAssetInfo: defineRead("function getAssetInfo(uint8)", decodeAssetInfo),
  getAssetInfoByAddress: defineRead("function getAssetInfoByAddress(address)", decodeAssetInfo),
  getPrice: defineRead("function getPrice(address)", decodeWord),
  isLiquidatable: defineRead("function isLiquidatable(address)", decodeWord),
};

/** Principal, two tracking counters, collateral bits 0 to 15, and bits 16 to 23 for markets with more. */
function decodeCollateralIndexes(data: Hex | null): readonly number[] | null {
  const [, , , low, high] = decodeWords(data, 5) ?? [];
  if (low === undefined || high === undefined || low >> 16n !== 0n || high >> 8n !== 0n) return null;
  const bits = low | (high << BigInt(ASSETS_IN_BITS));
  return Array.from({ length: COLLATERALS_MAX }, (_, bit) => bit).filter((bit) => (bits >> BigInt(bit)) & 1n);
}

/** An asset of a market, and the feed by which the market prices it; null when it could not be read. */
export type PricedToken = { readonly asset: Hex; readonly feed: Hex | null };
type AssetInfo = PricedToken & { readonly scale: bigint; readonly liquidationFactor: bigint };

/** Index, asset, feed, scale, borrow factor, liquidation factor, liquidation penalty, supply cap. */
function decodeAssetInfo(data: Hex | null): AssetInfo | null {
  const words = decodeWords(data, 8);
  const asset = wordToAddress(words?.[1]);
  if (words === null || asset === null) return null;
  return { asset, feed: wordToAddress(words[2]), scale: words[3], liquidationFactor: words[5] };
}

/** The second word is reserved and may have any value. */
function decodeCollateralBalance(data: Hex | null): bigint | null {
  const [balance] = decodeWords(data, 2) ?? [];
  return balance !== undefined && balance <= TOKEN_AMOUNT_MAX ? balance : null;
}
