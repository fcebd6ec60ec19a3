// Factories of pairs in the manner of Uniswap v2 by chain id: a token is liquidity when one of these says so.
import { readChainData } from "../../../chain/chain-data.ts";
import { type ShapeType, shape } from "../../../lib/json-shape.ts";

const pair = { protocol: shape.text, name: shape.text, factory: shape.address };

const pairMarket = shape.variant("shape", {
  uniswap: {
    ...pair,
    /**
     * The weights in the number of tokens that a pair mints to its protocol before it pays liquidity out: a sixth of the
     * growth of the pair's root with 1, 5 and 1, eight of 25 parts of it with 8, 17 and 8.
     */
    feeMint: shape.object({ growth: shape.bigInteger, now: shape.bigInteger, last: shape.bigInteger }),
  },
  /** Stable or volatile pools that keep fees apart, with gauges in which their tokens are staked. */
  velodrome: { ...pair, voter: shape.address },
});

export type PairMarket = ShapeType<typeof pairMarket>;

export const PAIR_MARKETS = readChainData(
  "liquidity",
  "uniswap-v2",
  shape.list(pairMarket, ({ factory }) => factory),
);
