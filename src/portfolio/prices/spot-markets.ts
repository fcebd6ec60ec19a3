// The spot price oracle and the Uniswap factories of each chain, by chain id.
import type { Hex } from "../../lib/hex.ts";

export type SpotMarket = {
  /** The 1inch OffchainOracle: a weighted spot rate over many exchanges. */
  readonly oracle: Hex;
  readonly wrappedNative: Hex;
  /** Uniswap factories: they return one pool per pair, which cannot be replaced. */
  readonly v2Factory: Hex | null;
  readonly v3Factory: Hex;
};

const OFFCHAIN_ORACLE = "0x00000000000d6ffc74a8feb35af5827bf57f6786";
const UNISWAP_V3_FACTORY = "0x1f98431c8ad98523631ae4a59f267346ea31f984";

export const SPOT_MARKETS: ReadonlyMap<number, SpotMarket> = new Map<number, SpotMarket>([
  [
    1,
    {
      oracle: OFFCHAIN_ORACLE,
      wrappedNative: "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2",
      v2Factory: "0x5c69bee701ef814a2b6a3edd4b1652cb9cc5aa6f",
      v3Factory: UNISWAP_V3_FACTORY,
    },
  ],
  [
    10,
    {
      oracle: OFFCHAIN_ORACLE,
      wrappedNative: "0x4200000000000000000000000000000000000006",
      v2Factory: null,
      v3Factory: UNISWAP_V3_FACTORY,
    },
  ],
  [
    137,
    {
      oracle: OFFCHAIN_ORACLE,
      wrappedNative: "0x0d500b1d8e8ef31e21c99d1db9a6444d3adf1270",
      v2Factory: null,
      v3Factory: UNISWAP_V3_FACTORY,
    },
  ],
  [
    8453,
    {
      oracle: OFFCHAIN_ORACLE,
      wrappedNative: "0x4200000000000000000000000000000000000006",
      v2Factory: "0x8909dc15e40173ff4699343b6eb8132c65e18ec6",
      v3Factory: "0x33128a8fc17869897dce68ed026d694621f6fdfd",
    },
  ],
  [
    42161,
    {
      oracle: OFFCHAIN_ORACLE,
      wrappedNative: "0x82af49447d8a07e3bd95bd0d56f35241523fbab1",
      v2Factory: null,
      v3Factory: UNISWAP_V3_FACTORY,
    },
  ],
]);
