// A wallet with collateral, a debt and a loan in one market, recorded from Morpho's own code: morpho-blue.json says how.
import { readFileSync } from "node:fs";
import type { Hex } from "../../../lib/hex.ts";
import type { ListedToken } from "../../types.ts";
import { fixtureChainConfig } from "../fixture-chain.ts";

type Recording = {
  readonly wallet: Hex;
  readonly morpho: Hex;
  readonly marketId: Hex;
  readonly oracle: Hex;
  readonly tokens: readonly [loan: ListedToken, collateral: ListedToken];
  /** What the contract itself moves when all is repaid or withdrawn in that block. */
  readonly repayTakes: string;
  readonly withdrawPays: string;
};

export const MORPHO_BLUE_FILE = new URL("morpho-blue.json", import.meta.url);
export const morphoBlueRecording: Recording = JSON.parse(readFileSync(MORPHO_BLUE_FILE, "utf8"));

export const MORPHO_CHAIN_ID = 31337;
export const morphoChainConfig = fixtureChainConfig(MORPHO_CHAIN_ID, "Local", morphoBlueRecording.tokens);
