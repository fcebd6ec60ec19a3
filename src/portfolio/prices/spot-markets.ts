// The markets of each chain: the factories whose pools give spot prices, and the tokens against which they are read.
// The quote tokens have a pinned feed or are Aave reserves.
import { readChainData } from "../../chain/chain-data.ts";
import { findChainById } from "../../chain/chains/chains.ts";
import { assertDefined } from "../../lib/assert-defined.ts";
import type { Hex } from "../../lib/hex.ts";
import { type ShapeType, shape } from "../../lib/json-shape.ts";

const factory = { exchange: shape.optional(shape.text), factory: shape.address };

/** Each kind has its own pool contract; a factory's pools all have that code, so that what they say can be believed. */
const poolFactory = shape.variant("kind", {
  "uniswap-v2": factory,
  solidly: factory,
  /** The fee tiers of every deployment. Tiers that governance added on single chains are for pairs that have feeds. */
  "uniswap-v3": { ...factory, fees: shape.list(shape.integer) },
  slipstream: { ...factory, tickSpacings: shape.list(shape.integer) },
});
const quoteToken = shape.object({
  symbol: shape.optional(shape.text),
  token: shape.address,
  decimals: shape.integer,
});
const spotMarket = shape.object({
  /** Includes the wrapped native coin; each is itself priced by a feed or by Aave. */
  quotes: shape.list(quoteToken, ({ token }) => token),
  factories: shape.list(poolFactory, (each) => each.factory),
});

export type PoolFactory = ShapeType<typeof poolFactory>;
export type QuoteToken = ShapeType<typeof quoteToken>;
export type SpotMarket = ShapeType<typeof spotMarket> & { readonly wrappedNative: Hex };

export const SPOT_MARKETS: ReadonlyMap<number, SpotMarket> = new Map(
  [...readChainData("liquidity", "spot-prices", spotMarket)].map(([chainId, market]) => {
    const wrappedNative = assertDefined(findChainById(chainId)?.wrappedNative, `wrappedNative of ${chainId}`);
    return [chainId, { ...market, wrappedNative }];
  }),
);
