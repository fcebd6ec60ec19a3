// A wallet on Base with a quarter of a Uniswap v2 pair, and with Aerodrome liquidity in the wallet and in its gauge.
//
// The results are written by hand after the contracts; tests/protocols/liquidity runs those of Uniswap.
import type { Hex } from "../../../lib/hex.ts";
import type { Holding } from "../../types.ts";
import { FIXTURE_WALLET, fixtureChainConfig, fixtureToken } from "../fixture-chain.ts";

export const PAIR_WETH = fixtureToken(
  "0x4200000000000000000000000000000000000006",
  "WETH",
  18,
  "Wrapped Ether",
);
export const PAIR_USDC = fixtureToken("0x833589fcd6edb6e08f4c7c32d4f71b54bda02913", "USDC", 6, "USD Coin");
export const pairChainConfig = fixtureChainConfig(8453, "Base", [PAIR_WETH, PAIR_USDC]);

const UNISWAP_FACTORY: Hex = "0x8909dc15e40173ff4699343b6eb8132c65e18ec6";
const AERODROME_FACTORY: Hex = "0x420dd381b31aef6683db6b902084cb0ffece40da";
export const AERODROME_VOTER: Hex = "0x16613524e02ad97edfef371bc883f2f5d6c480a5";
export const UNISWAP_PAIR: Hex = `0x${"a1".repeat(20)}`;
export const AERODROME_POOL: Hex = `0x${"a2".repeat(20)}`;
export const AERODROME_GAUGE: Hex = `0x${"a3".repeat(20)}`;

export const POOL_FOR_GAUGE = "poolForGauge(address) view returns (address)";
const BALANCE_OF = "balanceOf(address) view returns (uint256)";
const UNIT = 10n ** 18n;

type RecordedCall = {
  readonly to: Hex;
  readonly function: string;
  readonly args: readonly unknown[];
  readonly result: unknown;
};

function liquidity(contract: Hex, symbol: string, rawBalance: bigint): Holding {
  return { contract, symbol, name: symbol, decimals: 18, logo: null, rawBalance };
}

export const pairHoldings = [
  liquidity(UNISWAP_PAIR, "UNI-V2", 25n * UNIT),
  liquidity(AERODROME_POOL, "vAMM-WETH/USDC", 10n * UNIT),
];

function view(to: Hex, name: string, type: string, result: unknown): RecordedCall {
  return { to, function: `${name}() view returns (${type})`, args: [], result };
}

function ofWallet(to: Hex, name: string, result: bigint): RecordedCall {
  return { to, function: `${name}(address) view returns (uint256)`, args: [FIXTURE_WALLET], result };
}

function tokensOf(pair: Hex, factory: Hex): readonly RecordedCall[] {
  return [
    view(pair, "factory", "address", factory),
    view(pair, "token0", "address", PAIR_WETH.contract),
    view(pair, "token1", "address", PAIR_USDC.contract),
  ];
}

export const uniswapPairCalls: readonly RecordedCall[] = [
  ...tokensOf(UNISWAP_PAIR, UNISWAP_FACTORY),
  {
    to: UNISWAP_FACTORY,
    function: "getPair(address, address) view returns (address)",
    args: [PAIR_WETH.contract, PAIR_USDC.contract],
    result: UNISWAP_PAIR,
  },
  view(UNISWAP_FACTORY, "feeTo", "address", `0x${"00".repeat(20)}`),
  view(UNISWAP_PAIR, "getReserves", "uint112, uint112, uint32", [800n * UNIT, 2_400_000_000_000n, 1]),
  view(UNISWAP_PAIR, "totalSupply", "uint256", 100n * UNIT),
  view(UNISWAP_PAIR, "kLast", "uint256", 0n),
];

export const aerodromePoolCalls: readonly RecordedCall[] = [
  ...tokensOf(AERODROME_POOL, AERODROME_FACTORY),
  {
    to: AERODROME_FACTORY,
    function: "isPool(address) view returns (bool)",
    args: [AERODROME_POOL],
    result: true,
  },
  {
    to: AERODROME_VOTER,
    function: "gauges(address) view returns (address)",
    args: [AERODROME_POOL],
    result: AERODROME_GAUGE,
  },
  view(AERODROME_POOL, "getReserves", "uint256, uint256, uint256", [100n * UNIT, 300_000_000_000n, 1n]),
  view(AERODROME_POOL, "totalSupply", "uint256", 50n * UNIT),
  view(AERODROME_POOL, "stable", "bool", false),
  view(AERODROME_POOL, "index0", "uint256", 5n * 10n ** 15n),
  view(AERODROME_POOL, "index1", "uint256", 30n),
  ofWallet(AERODROME_POOL, "supplyIndex0", 2n * 10n ** 15n),
  ofWallet(AERODROME_POOL, "supplyIndex1", 10n),
  ofWallet(AERODROME_POOL, "claimable0", 7n),
  ofWallet(AERODROME_POOL, "claimable1", 11n),
  { to: AERODROME_GAUGE, function: BALANCE_OF, args: [FIXTURE_WALLET], result: 30n * UNIT },
];
