// Ethena's staking contract by chain id; the bridged tokens know no cooldown.
import { readChainData } from "../../../chain/chain-data.ts";
import { type ShapeType, shape } from "../../../lib/json-shape.ts";

const ethenaMarket = shape.object({ stakedUsde: shape.address, usde: shape.address });

export type EthenaMarket = ShapeType<typeof ethenaMarket>;

export const ETHENA_MARKETS = readChainData("staking", "ethena", shape.list(ethenaMarket));
