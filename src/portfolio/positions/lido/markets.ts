// Lido's contracts by chain id.
// Ethereum only: stETH is a token with a feed of its own, and so is the wstETH of other chains, which does not know its rate.
import { readChainData } from "../../../chain/chain-data.ts";
import { type ShapeType, shape } from "../../../lib/json-shape.ts";

/** Name of the protocol in its positions. */
export const LIDO_PROTOCOL = "lido";

const lidoMarket = shape.object({
  wstEth: shape.address,
  stEth: shape.address,
  withdrawalQueue: shape.address,
});

export type LidoMarket = ShapeType<typeof lidoMarket>;

export const LIDO_MARKETS = readChainData("staking", "lido", lidoMarket);
