// The Uniswap v4 deployments by chain id.
import { readChainData } from "../../../chain/chain-data.ts";
import { type ShapeType, shape } from "../../../lib/json-shape.ts";

const uniswapV4Market = shape.object({
  /** The PositionManager, whose NFTs are the positions. */
  manager: shape.address,
  /** StateView: reads pools, which are entries of one contract. */
  stateView: shape.address,
  /** When the manager was deployed, in seconds since 1970: it has no older logs. */
  deployedAt: shape.integer,
});

export type UniswapV4Market = ShapeType<typeof uniswapV4Market>;

export const UNISWAP_V4_MARKETS = readChainData("liquidity", "uniswap-v4", shape.list(uniswapV4Market));
