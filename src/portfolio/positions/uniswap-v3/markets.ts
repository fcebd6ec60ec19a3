// Deployments of Uniswap v3 and its forks by chain id: liquidity in a price range, owned as an NFT.
// A test computes addresses of well-known pools from them.
import { readChainData } from "../../../chain/chain-data.ts";
import { type ShapeType, shape } from "../../../lib/json-shape.ts";

const liquidityNftMarket = shape.object({
  /** `protocol` of its positions. */
  protocol: shape.text,
  name: shape.text,
  /** The NonfungiblePositionManager, whose NFTs are the positions. */
  manager: shape.address,
  /** The contract that creates the pools: the factory, or its deployer. */
  poolDeployer: shape.address,
  /**
   * Hash of the pools' creation code, from which a pool's address is computed. Slipstream's pools are minimal proxies: it is
   * that of the proxy code with the pool implementation in it.
   */
  poolCodeHash: shape.hash,
  /** Slipstream distinguishes pools by tick spacing instead of fee, and its pools return other words. */
  shape: shape.oneOf("uniswap", "slipstream"),
  /** A farm that lists the NFTs staked in it by owner, as the manager does. Staked NFTs still earn fees. */
  farm: shape.optional(shape.address),
  /** Says which contracts are gauges. NFTs staked in a gauge earn rewards instead of fees. */
  voter: shape.optional(shape.address),
});

export type LiquidityNftMarket = ShapeType<typeof liquidityNftMarket>;

export const LIQUIDITY_NFT_MARKETS = readChainData(
  "liquidity",
  "uniswap-v3",
  shape.list(liquidityNftMarket, ({ manager }) => manager),
);
