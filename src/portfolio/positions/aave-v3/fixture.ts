// A wallet on Aave v3 Base, written by hand: two supplies, one debt, and a supply in a reserve that the data files lack.
// tests/protocols/lending runs the reader against the code of Aave itself.
import { baseFeeds } from "../../../chain/price-feeds/base.ts";
import type { Hex } from "../../../lib/hex.ts";
import { type AssetPrice, quotePrice } from "../../types.ts";
import { FIXTURE_WALLET, fixtureChainConfig, fixtureToken } from "../fixture-chain.ts";
import { aaveBase } from "./markets/base.ts";

export const BASE_WETH = fixtureToken(
  "0x4200000000000000000000000000000000000006",
  "WETH",
  18,
  "Wrapped Ether",
);
export const BASE_USDC = fixtureToken("0x833589fcd6edb6e08f4c7c32d4f71b54bda02913", "USDC", 6, "USD Coin");
export const A_WETH: Hex = "0xd4a0e0b9149bcee3c920d2e00b5de09138fd8bb7";
export const DEBT_USDC: Hex = "0x59dca05b6c26dbd64b5381374aaac5cd05644c28";
export const A_USDC: Hex = "0x4e65fe4dba92790696d040ac24aa414708f5c0ab";
export const NEW_UNDERLYING: Hex = "0x2222222222222222222222222222222222222222";
export const NEW_A_TOKEN: Hex = "0x3333333333333333333333333333333333333333";
const NEW_DEBT_TOKEN: Hex = "0x4444444444444444444444444444444444444444";

export const aaveChainConfig = fixtureChainConfig(8453, "Base", [BASE_WETH, BASE_USDC]);

const BALANCE = "balanceOf(address) view returns (uint256)";
const LIST = "getReservesList() view returns (address[])";
const known = aaveBase.reserves.map(({ underlying }) => underlying);

/** The pool's list when it has only the reserves of the data file. */
export const knownReservesCall = { to: aaveBase.pool, function: LIST, args: [], result: known };

export const knownPositionCalls = [
  { to: A_WETH, function: BALANCE, args: [FIXTURE_WALLET], result: 2_500000000000001234n },
  { to: A_USDC, function: BALANCE, args: [FIXTURE_WALLET], result: 1_000_000001n },
  { to: DEBT_USDC, function: BALANCE, args: [FIXTURE_WALLET], result: 3_141_592653n },
];

const NEW_FEED: Hex = "0x5555555555555555555555555555555555555555";
export const NEW_FEED_TIME = 1_717_281_000;
const ROUND = "latestRoundData() view returns (uint80, int256, uint256, uint256, uint80)";
const ORACLE = aaveBase.oracle;

/** The oracle of the market knows the new reserve; the sequencer runs. */
const oracleCalls = [
  {
    to: ORACLE,
    function: "BASE_CURRENCY() view returns (address)",
    args: [],
    result: `0x${"00".repeat(20)}`,
  },
  { to: ORACLE, function: "BASE_CURRENCY_UNIT() view returns (uint256)", args: [], result: 100_000_000n },
  {
    ...{ to: ORACLE, function: "getAssetPrice(address) view returns (uint256)" },
    ...{ args: [NEW_UNDERLYING], result: 250_012_345n },
  },
  {
    ...{ to: ORACLE, function: "getSourceOfAsset(address) view returns (address)" },
    ...{ args: [NEW_UNDERLYING], result: NEW_FEED },
  },
  {
    ...{ to: NEW_FEED, function: ROUND, args: [] },
    result: [7n, 250_012_345n, 1_717_280_000n, BigInt(NEW_FEED_TIME), 7n],
  },
  {
    ...{ to: baseFeeds.sequencer ?? ORACLE, function: ROUND, args: [] },
    result: [1n, 0n, 1_700_000_000n, 1_700_000_000n, 1n],
  },
];

export const newMarketPrice: AssetPrice = {
  ...quotePrice({ units: 250_012_345n, scale: 8 }, { contract: NEW_FEED, timestamp: NEW_FEED_TIME }),
  source: "aave-v3",
};

export const aaveCalls = [
  ...knownPositionCalls,
  { to: aaveBase.pool, function: LIST, args: [], result: [...known, NEW_UNDERLYING] },
  {
    to: aaveBase.pool,
    function: `getReserveData(address) view returns (${"uint256, ".repeat(8)}address, address, address, ${"uint256, ".repeat(3)}uint256)`,
    args: [NEW_UNDERLYING],
    result: [
      ...[379853409839n, 1001n * 10n ** 24n, 3n * 10n ** 25n, 1002n * 10n ** 24n, 5n * 10n ** 25n, 0n],
      ...[1_717_281_000n, 15n],
      ...[NEW_A_TOKEN, `0x${"00".repeat(20)}`, NEW_DEBT_TOKEN],
      ...[0n, 123n, 0n, 0n],
    ],
  },
  { to: NEW_A_TOKEN, function: BALANCE, args: [FIXTURE_WALLET], result: 777n },
  { to: NEW_DEBT_TOKEN, function: BALANCE, args: [FIXTURE_WALLET], result: 0n },
  ...oracleCalls,
  { to: NEW_UNDERLYING, function: "symbol() view returns (string)", args: [], result: "NEW" },
  { to: NEW_UNDERLYING, function: "name() view returns (string)", args: [], result: "New Reserve" },
  { to: NEW_UNDERLYING, function: "decimals() view returns (uint8)", args: [], result: 8 },
];
