// All position readers; when two claim the same receipt token, the earlier one wins.
//
// Each protocol has a folder: reader.ts and reader.test.ts, and contracts.ts if its markets by chain id and its views have
// other users. Tokens that only have a rate share rate-reader.ts. What tests read of the protocols is in tests/fixtures.

import type { PositionReader } from "../types.ts";
import { AAVE_STAKE_TOKENS, createAaveStakingReader } from "./aave-staking/reader.ts";
import { AAVE_V2_MARKETS, AAVE_V3_MARKETS, SPARK_MARKETS } from "./aave-v3/markets.ts";
import { createAaveV2Reader, createAaveV3Reader, createSparkReader } from "./aave-v3/reader.ts";
import { COMPOUND_V2_POOLS, MOONWELL_POOLS, VENUS_POOLS } from "./compound-v2/contracts.ts";
import { createCompoundV2Reader, createMoonwellReader, createVenusReader } from "./compound-v2/reader.ts";
import { COMPOUND_V3_MARKETS } from "./compound-v3/contracts.ts";
import { createCompoundV3Reader } from "./compound-v3/reader.ts";
import { erc4626Reader } from "./erc4626/reader.ts";
import { createEthenaReader, ETHENA_MARKETS } from "./ethena/reader.ts";
import { createLidoReader, LIDO_MARKETS } from "./lido/reader.ts";
import { MORPHO_BLUE_MARKETS } from "./morpho-blue/contracts.ts";
import { createMorphoBlueReader } from "./morpho-blue/reader.ts";
import { createRateReader, ETHER_FI_TOKENS, ROCKET_POOL_TOKENS, SKY_TOKENS } from "./rate-reader.ts";
import { PAIR_MARKETS } from "./uniswap-v2/contracts.ts";
import { createUniswapV2Reader } from "./uniswap-v2/reader.ts";
import { LIQUIDITY_NFT_MARKETS } from "./uniswap-v3/contracts.ts";
import { createUniswapV3Reader } from "./uniswap-v3/reader.ts";
import { UNISWAP_V4_MARKETS } from "./uniswap-v4/contracts.ts";
import { createUniswapV4Reader } from "./uniswap-v4/reader.ts";

/** Independent of each other, so that they run concurrently. */
export const POSITION_READERS: readonly PositionReader[] = [
  createAaveV3Reader(AAVE_V3_MARKETS),
  createAaveV2Reader(AAVE_V2_MARKETS),
  createSparkReader(SPARK_MARKETS),
  createCompoundV3Reader(COMPOUND_V3_MARKETS),
  createCompoundV2Reader(COMPOUND_V2_POOLS),
  createMoonwellReader(MOONWELL_POOLS),
  createVenusReader(VENUS_POOLS),
  createAaveStakingReader(AAVE_STAKE_TOKENS),
  erc4626Reader,
  createMorphoBlueReader(MORPHO_BLUE_MARKETS),
  createLidoReader(LIDO_MARKETS),
  createRateReader("rocket-pool", ROCKET_POOL_TOKENS),
  createRateReader("ether-fi", ETHER_FI_TOKENS),
  createRateReader("sky", SKY_TOKENS),
  createEthenaReader(ETHENA_MARKETS),
  createUniswapV2Reader(PAIR_MARKETS),
  createUniswapV3Reader(LIQUIDITY_NFT_MARKETS),
  createUniswapV4Reader(UNISWAP_V4_MARKETS),
];
