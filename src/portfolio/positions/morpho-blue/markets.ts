// Morpho Blue by chain id: its contract, and the markets in which positions are looked for.

import type { Hex } from "../../../lib/hex.ts";
import { ARBITRUM_MARKET_IDS } from "./markets/arbitrum.ts";
import { BASE_MARKET_IDS } from "./markets/base.ts";
import { ETHEREUM_MARKET_IDS } from "./markets/ethereum.ts";
import { OPTIMISM_MARKET_IDS } from "./markets/optimism.ts";
import { POLYGON_MARKET_IDS } from "./markets/polygon.ts";

export type MorphoBlueMarkets = {
  readonly morpho: Hex;
  /** The contract cannot list the markets of an account, and anyone can create markets. */
  readonly ids: readonly Hex[];
};

/** Contracts from morpho-org/sdks (2026-07-01); each list of ids names its own source. */
export const MORPHO_BLUE_MARKETS: ReadonlyMap<number, readonly MorphoBlueMarkets[]> = new Map([
  [1, [{ morpho: "0xbbbbbbbbbb9cc5e90e3b3af64bdaf62c37eeffcb", ids: ETHEREUM_MARKET_IDS }]],
  [8453, [{ morpho: "0xbbbbbbbbbb9cc5e90e3b3af64bdaf62c37eeffcb", ids: BASE_MARKET_IDS }]],
  [42161, [{ morpho: "0x6c247b1f6182318877311737bac0844baa518f5e", ids: ARBITRUM_MARKET_IDS }]],
  [137, [{ morpho: "0x1bf0c2541f820e775182832f06c0b7fc27a25f67", ids: POLYGON_MARKET_IDS }]],
  [10, [{ morpho: "0xce95afbb8ea029495c66020883f87aae8864af92", ids: OPTIMISM_MARKET_IDS }]],
]);
