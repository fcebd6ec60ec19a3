// Morpho Blue by chain id: its contract, the markets in which positions are looked for, and their views.
import { readChainData } from "../../../chain/chain-data.ts";
import { decodeWord, decodeWords, TOKEN_AMOUNT_MAX, wordToAddress } from "../../../lib/abi/return-data.ts";
import type { Hex } from "../../../lib/hex.ts";
import { type ShapeType, shape } from "../../../lib/json-shape.ts";
import { defineRead, Reads } from "../../contract-reads/reads.ts";
import type { MarketState } from "./accrual.ts";

const morphoBlueMarkets = shape.object({
  morpho: shape.address,
  /** The contract cannot list the markets of an account, and anyone can create markets. */
  ids: shape.list(shape.hash),
});

export type MorphoBlueMarkets = ShapeType<typeof morphoBlueMarkets>;

export const MORPHO_BLUE_MARKETS = readChainData("lending", "morpho-blue", shape.list(morphoBlueMarkets));

export const WAD = 10n ** 18n;
/** The oracle's price has 36 decimals, and those by which the two assets differ. */
export const ORACLE_SCALE = 36;
/** Two feeds and two vaults, each behind a proxy. Anyone can write an oracle. */
const ORACLE_GAS_MAX = 500_000;

export const morphoCalls = {
  market: defineRead("function market(bytes32)", decodeState),
  idToMarketParams: defineRead("function idToMarketParams(bytes32)", decodeParams),
};
export const oraclePrice = defineRead("function price()", decodeWord, ORACLE_GAS_MAX);
const borrowRateView = defineRead(
  "function borrowRateView((address, address, address, address, uint256), (uint128, uint128, uint128, uint128, uint128, uint128))",
  decodeWord,
);

function decodeState(data: Hex | null): MarketState | null {
  const words = decodeWords(data, 6);
  // A market that was never created was never updated.
  if (words === null || words[4] === 0n || words.some((word) => word > TOKEN_AMOUNT_MAX)) return null;
  const [supplyAssets, supplyShares, borrowAssets, borrowShares, lastUpdate, fee] = words;
  return { supplyAssets, supplyShares, borrowAssets, borrowShares, lastUpdate, fee };
}

export type MarketParams = {
  readonly loanAsset: Hex;
  /** Null in a market that only keeps assets. */
  readonly collateralAsset: Hex | null;
  readonly oracle: Hex | null;
  readonly rateModel: Hex | null;
  /** The part of the collateral's value up to which a debt is safe, in units of 10^-18. */
  readonly liquidationRatio: bigint;
};

function decodeParams(data: Hex | null): MarketParams | null {
  const [loan, collateral, oracle, rateModel, liquidationRatio = 0n] = decodeWords(data, 5) ?? [];
  const loanAsset = wordToAddress(loan);
  if (loanAsset === null || liquidationRatio > WAD) return null;
  return {
    loanAsset,
    collateralAsset: wordToAddress(collateral),
    oracle: wordToAddress(oracle),
    rateModel: wordToAddress(rateModel),
    liquidationRatio,
  };
}

const ZERO_ADDRESS: Hex = `0x${"0".repeat(40)}`;

/** The interest per second; without debt or without a model there is none. */
export function declareRate(params: MarketParams, state: MarketState): Reads<bigint | null> {
  const { loanAsset, collateralAsset, oracle, rateModel, liquidationRatio } = params;
  if (rateModel === null || state.borrowAssets === 0n) return new Reads([], () => 0n);
  const addresses = [loanAsset, collateralAsset, oracle, rateModel].map((each) => each ?? ZERO_ADDRESS);
  const { supplyAssets, supplyShares, borrowAssets, borrowShares, lastUpdate, fee } = state;
  const words = [supplyAssets, supplyShares, borrowAssets, borrowShares, lastUpdate, fee];
  return borrowRateView(rateModel, [[...addresses, liquidationRatio], words]);
}
