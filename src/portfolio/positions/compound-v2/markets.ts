// Compound v2 and its forks by chain id; newer markets are read from the comptrollers.
import { readChainData } from "../../../chain/chain-data.ts";
import { shape } from "../../../lib/json-shape.ts";
import { compoundV2Pool } from "./pool.ts";

const pools = shape.list(compoundV2Pool, ({ comptroller }) => comptroller);

export const COMPOUND_V2_POOLS = readChainData("lending", "compound-v2", pools);
export const MOONWELL_POOLS = readChainData("lending", "moonwell", pools);
export const VENUS_POOLS = readChainData("lending", "venus", pools);
