// A wallet in two Compound v3 markets of Base, written by hand; recording.json has what Compound itself returned.
import { baseFeeds } from "../../../chain/price-feeds/base.ts";
import type { Hex } from "../../../lib/hex.ts";
import type { MarketRate } from "../../types.ts";
import { FIXTURE_WALLET, fixtureChainConfig, fixtureToken } from "../fixture-chain.ts";
import { COMPOUND_V3_MARKETS } from "./markets.ts";

export const COMET_USDC = fixtureToken("0x833589fcd6edb6e08f4c7c32d4f71b54bda02913", "USDC", 6, "USD Coin");
export const COMET_WETH = fixtureToken(
  "0x4200000000000000000000000000000000000006",
  "WETH",
  18,
  "Wrapped Ether",
);
export const USDC_COMET: Hex = "0xb125e6687d4313864e53df431d5425969c15eb2f";
export const WETH_COMET: Hex = "0x46e6b214b524310239732d51387075e0e70970bf";

export const cometChainConfig = fixtureChainConfig(8453, "Base", [COMET_USDC, COMET_WETH]);

const BALANCE = "balanceOf(address) view returns (uint256)";
const BORROW = "borrowBalanceOf(address) view returns (uint256)";
const BASIC = "userBasic(address) view returns (int104, uint64, uint64, uint16, uint8)";
const BASE_TOKEN = "baseToken() view returns (address)";
const ASSET_INFO =
  "getAssetInfo(uint8) view returns ((uint8, address, address, uint64, uint64, uint64, uint64, uint128))";
const COLLATERAL = "userCollateral(address, address) view returns (uint128, uint128)";
const FEED: Hex = "0x71041dddad3595f9ced3dccfbe3d1f4b0a16bb70";
const BASE_ASSET_FEED: Hex = "0x7e860098f58bbfc8648a4311b374b1d669a2bc6b";
const BASE_FEED = "baseTokenPriceFeed() view returns (address)";
const PRICE = "getPrice(address) view returns (uint256)";
const ROUND = "latestRoundData() view returns (uint80, int256, uint256, uint256, uint80)";
const FEED_TIME = 1_717_281_000;
/** A collateral that no pinned feed prices. */
export const NEW_COLLATERAL: Hex = "0x6666666666666666666666666666666666666666";
const NEW_COLLATERAL_FEED: Hex = "0x7777777777777777777777777777777777777777";

/** 2,000.12345678 dollars each, and a dollar is a dollar. */
export const newCollateralRate: MarketRate = {
  ...{ rate: { units: 2_000_12345678_0000000000n, scale: 18 }, per: COMET_USDC },
  ...{ source: "compound-v3", contract: NEW_COLLATERAL_FEED, timestamp: FEED_TIME },
};

/** The account of a wallet that never used the market. */
export function emptyAccountCalls(comet: Hex, wallet: Hex) {
  return account(comet, wallet, { supplied: 0n, borrowed: 0n, principal: 0n, assetsIn: 0, more: 0 });
}

type Basic = { supplied: bigint; borrowed: bigint; principal: bigint; assetsIn: number; more: number };

function account(comet: Hex, wallet: Hex, basic: Basic) {
  const { supplied, borrowed, principal, assetsIn, more } = basic;
  return [
    { to: comet, function: BALANCE, args: [wallet], result: supplied },
    { to: comet, function: BORROW, args: [wallet], result: borrowed },
    { to: comet, function: BASIC, args: [wallet], result: [principal, 1_234n, 56n, assetsIn, more] },
  ];
}

function collateral(index: number, asset: Hex, balance: bigint, feed: Hex = FEED) {
  const scale = 10n ** 18n;
  const factors = [scale, (scale * 8n) / 10n, (scale * 85n) / 100n, (scale * 95n) / 100n, 10n ** 24n];
  return [
    { to: USDC_COMET, function: ASSET_INFO, args: [index], result: [index, asset, feed, ...factors] },
    { to: USDC_COMET, function: COLLATERAL, args: [FIXTURE_WALLET, asset], result: [balance, 0n] },
  ];
}

export const otherComets = (COMPOUND_V3_MARKETS.get(8453) ?? [])
  .map(({ comet }) => comet)
  .filter((comet) => comet !== USDC_COMET && comet !== WETH_COMET);

export const cometCalls = [
  ...otherComets.flatMap((comet) => emptyAccountCalls(comet, FIXTURE_WALLET)),
  ...account(WETH_COMET, FIXTURE_WALLET, {
    supplied: 4_000000000000000007n,
    borrowed: 0n,
    principal: 3_900000000000000000n,
    assetsIn: 0,
    more: 0,
  }),
  // Collateral 0 is in the first bits, collateral 17 in the byte for markets with many collaterals.
  ...account(USDC_COMET, FIXTURE_WALLET, {
    supplied: 0n,
    borrowed: 2_000_123456n,
    principal: -1_950_000000n,
    assetsIn: 0b1,
    more: 0b10,
  }),
  { to: WETH_COMET, function: BASE_TOKEN, args: [], result: COMET_WETH.contract },
  { to: WETH_COMET, function: BASE_FEED, args: [], result: FEED },
  { to: USDC_COMET, function: BASE_FEED, args: [], result: BASE_ASSET_FEED },
  { to: USDC_COMET, function: PRICE, args: [NEW_COLLATERAL_FEED], result: 2_000_12345678n },
  { to: USDC_COMET, function: PRICE, args: [BASE_ASSET_FEED], result: 1_00000000n },
  ...[NEW_COLLATERAL_FEED, BASE_ASSET_FEED].map((feed) => ({
    ...{ to: feed, function: ROUND, args: [], result: [1n, 1n, 1n, BigInt(FEED_TIME), 1n] },
  })),
  {
    ...{ to: baseFeeds.sequencer ?? FEED, function: ROUND, args: [] },
    result: [1n, 0n, 1_700_000_000n, 1_700_000_000n, 1n],
  },
  { to: USDC_COMET, function: BASE_TOKEN, args: [], result: COMET_USDC.contract },
  ...collateral(0, COMET_WETH.contract, 1_500000000000000000n),
  ...collateral(17, NEW_COLLATERAL, 250000000000000001n, NEW_COLLATERAL_FEED),
  { to: NEW_COLLATERAL, function: "symbol() view returns (string)", args: [], result: "NEW" },
  { to: NEW_COLLATERAL, function: "name() view returns (string)", args: [], result: "New Collateral" },
  { to: NEW_COLLATERAL, function: "decimals() view returns (uint8)", args: [], result: 18 },
];
