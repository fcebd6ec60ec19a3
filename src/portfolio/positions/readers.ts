// All position readers; where two of them claim the same receipt token, the earlier one has it.

import type { PositionReader } from "../types.ts";
import { AAVE_MARKETS } from "./aave-v3/markets.ts";
import { aaveV3Reader } from "./aave-v3/reader.ts";
import { COMET_MARKETS } from "./compound-v3/markets.ts";
import { compoundV3Reader } from "./compound-v3/reader.ts";
import { erc4626Reader } from "./erc4626/reader.ts";
import { WST_ETH_MARKETS } from "./lido/markets.ts";
import { wstEthReader } from "./lido/reader.ts";
import { UNISWAP_V3_DEPLOYMENTS } from "./uniswap-v3/deployments.ts";
import { uniswapV3Reader } from "./uniswap-v3/reader.ts";

/** They ask for nothing in common, so that they may all run at once; no two replace the same token. */
export const POSITION_READERS: readonly PositionReader[] = [
  aaveV3Reader(AAVE_MARKETS),
  compoundV3Reader(COMET_MARKETS),
  erc4626Reader,
  wstEthReader(WST_ETH_MARKETS),
  uniswapV3Reader(UNISWAP_V3_DEPLOYMENTS),
];
