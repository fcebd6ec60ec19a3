// Compound v2 and its forks: their pools by chain id, and the views of comptrollers, markets and oracles.
import { readChainData } from "../../../chain/chain-data.ts";
import { decodeAddress, decodeTokenAmount, decodeWord } from "../../../lib/abi/return-data.ts";
import { type ShapeType, shape } from "../../../lib/json-shape.ts";
import { defineRead, toAddressArray, toWords } from "../../contract-reads/reads.ts";

const market = shape.object({ symbol: shape.text, market: shape.address });

const compoundV2Pool = shape.object({
  name: shape.text,
  comptroller: shape.address,
  /** The market of the native coin itself, which has no underlying token; null without one. */
  nativeMarket: shape.nullable(shape.address),
  /** As of the data file; the reader asks the comptroller which of them it lists, and for newer ones. */
  markets: shape.list(shape.mapped(market, (each) => each.market)),
});

export type CompoundV2Pool = ShapeType<typeof compoundV2Pool>;
export type CompoundV2Pools = ReadonlyMap<number, readonly CompoundV2Pool[]>;

const pools = shape.list(compoundV2Pool, ({ comptroller }) => comptroller);

export const COMPOUND_V2_POOLS = readChainData("lending", "compound-v2", pools);
export const MOONWELL_POOLS = readChainData("lending", "moonwell", pools);
export const VENUS_POOLS = readChainData("lending", "venus", pools);

/** More than any comptroller lists: each account check walks through the markets of a wallet. */
const MARKETS_MAX = 200;

export const comptrollerCalls = {
  oracle: defineRead("function oracle()", decodeAddress),
  getAllMarkets: defineRead("function getAllMarkets()", toAddressArray(MARKETS_MAX)),
  getAssetsIn: defineRead("function getAssetsIn(address)", toAddressArray(MARKETS_MAX)),
  /** Error code, liquidity, shortfall. */
  getAccountLiquidity: defineRead("function getAccountLiquidity(address)", toWords(3)),
};

export const marketCalls = {
  /** Error code, shares, debt, exchange rate, as of the last time that interest was added. */
  getAccountSnapshot: defineRead("function getAccountSnapshot(address)", toWords(4)),
  // Both add the interest up to the block, which a call may do without changing anything.
  balanceOfUnderlying: defineRead("function balanceOfUnderlying(address)", decodeTokenAmount),
  borrowBalanceCurrent: defineRead("function borrowBalanceCurrent(address)", decodeTokenAmount),
  underlying: defineRead("function underlying()", decodeAddress),
};

/** Dollars with 36 decimals less those of the underlying token. */
export const getUnderlyingPrice = defineRead("function getUnderlyingPrice(address)", decodeWord);
export const UNDERLYING_PRICE_DECIMALS = 36;
