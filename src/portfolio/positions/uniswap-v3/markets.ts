// The Uniswap v3 deployments by chain id.
import type { Hex } from "../../../lib/hex.ts";

export type UniswapV3Market = {
  /** The NonfungiblePositionManager, whose NFTs are the positions. */
  readonly manager: Hex;
  readonly factory: Hex;
  /** Hash of the pools' creation code, from which a pool's address is computed. */
  readonly poolCodeHash: Hex;
};

const POOL_CODE_HASH = "0xe34f199b19b2b4f47f68442619d555527d244f78a3297ea89325f843f87b8b54";

const ORIGINAL: UniswapV3Market = {
  manager: "0xc36442b4a4522e871399cd717abdd847ab11fe88",
  factory: "0x1f98431c8ad98523631ae4a59f267346ea31f984",
  poolCodeHash: POOL_CODE_HASH,
};

/** From Uniswap's published deployments. */
export const UNISWAP_V3_MARKETS: ReadonlyMap<number, UniswapV3Market> = new Map([
  [1, ORIGINAL],
  [10, ORIGINAL],
  [137, ORIGINAL],
  [
    8453,
    {
      manager: "0x03a520b32c04bf3beef7beb72e919cf822ed34f1",
      factory: "0x33128a8fc17869897dce68ed026d694621f6fdfd",
      poolCodeHash: POOL_CODE_HASH,
    },
  ],
  [42161, ORIGINAL],
]);
