// The markets of Aave and of SparkLend, which forked it, by chain id.
import { readChainData } from "../../../chain/chain-data.ts";
import { shape } from "../../../lib/json-shape.ts";
import { aaveMarket } from "./market.ts";

const markets = shape.list(aaveMarket, ({ pool }) => pool);

/** The first of a chain is its main market, whose oracle is a price source. */
export const AAVE_V3_MARKETS = readChainData("lending", "aave-v3", markets);
export const AAVE_V2_MARKETS = readChainData("lending", "aave-v2", markets);
export const SPARK_MARKETS = readChainData("lending", "spark", markets);
