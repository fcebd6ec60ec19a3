// The markets of Aave and of SparkLend, which forked it, by chain id: pool, oracle, and the tokens of each reserve.
import { readChainData } from "../../../chain/chain-data.ts";
import { type ShapeType, shape } from "../../../lib/json-shape.ts";

const reserve = shape.object({
  symbol: shape.optional(shape.text),
  underlying: shape.address,
  aToken: shape.address,
  /** The token of debt at a variable rate. */
  debtToken: shape.address,
});

const aaveMarket = shape.object({
  name: shape.text,
  pool: shape.address,
  oracle: shape.address,
  /** The asset in which the oracle counts, with 18 decimals; dollars if it is absent. */
  quote: shape.optional(shape.address),
  /** As of the data file; the reader checks the pool for newer ones. */
  reserves: shape.list(reserve, ({ underlying }) => underlying),
});

export type AaveMarket = ShapeType<typeof aaveMarket>;
export type AaveMarkets = ReadonlyMap<number, readonly AaveMarket[]>;

const markets = shape.list(aaveMarket, ({ pool }) => pool);

/** The first of a chain is its main market, whose oracle is a price source. */
export const AAVE_V3_MARKETS = readChainData("lending", "aave-v3", markets);
export const AAVE_V2_MARKETS = readChainData("lending", "aave-v2", markets);
export const SPARK_MARKETS = readChainData("lending", "spark", markets);
