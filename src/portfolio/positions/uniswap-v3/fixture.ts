// A wallet with three Uniswap v3 NFTs on Ethereum: one in range with fees, one above the price, one emptied.
//
// The results are written by hand; tests/protocols/liquidity compares the reader with the contracts themselves.
import type { Hex } from "../../../lib/hex.ts";
import { FIXTURE_WALLET, fixtureChainConfig, fixtureToken } from "../fixture-chain.ts";

export const POSITION_MANAGER: Hex = "0xc36442b4a4522e871399cd717abdd847ab11fe88";
export const UNISWAP_USDC = fixtureToken("0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48", "USDC", 6, "USD Coin");
export const UNISWAP_WETH: Hex = "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2";
/** USDC/WETH with a fee of 0.05 %. */
const USDC_WETH_POOL: Hex = "0x88e6a0c2ddd26feeb64f039a2c41296fcb3f5640";

export const uniswapChainConfig = fixtureChainConfig(1, "Ethereum", [UNISWAP_USDC]);

export const BALANCE_OF_FUNCTION = "balanceOf(address) view returns (uint256)";
const NFT_BY_INDEX = "tokenOfOwnerByIndex(address, uint256) view returns (uint256)";
export const POSITIONS_FUNCTION =
  "positions(uint256) view returns (uint96, address, address, address, uint24, int24, int24, uint128, uint256, uint256, uint128, uint128)";
const SLOT0 = "slot0() view returns (uint160, int24, uint16, uint16, uint16, uint8, bool)";
const TICK = "ticks(int24) view returns (uint128, int128, uint256, uint256, int56, uint160, uint32, bool)";
const ZERO_ADDRESS: Hex = `0x${"00".repeat(20)}`;
const WRAP = 1n << 256n;

// The counters of single ticks are relative, and wrap around below zero.
const GLOBAL_0 = 7230846211487902384750293847502934875n;
const GLOBAL_1 = 200000000000000000000000000000000000000n;

export const IN_RANGE_POSITION = {
  id: 612_345n,
  liquidity: 3_453_250_172_946_723n,
  lower: 195_000,
  upper: 197_000,
};
const ABOVE = { id: 598_001n, liquidity: 1_000_000_000_000_000n, lower: 197_010, upper: 198_010 };
const EMPTIED = { id: 400_404n, liquidity: 0n, lower: -887_270, upper: 887_270 };

type Range = typeof IN_RANGE_POSITION;

function nft({ id, liquidity, lower, upper }: Range, [last0, last1, owed0, owed1]: readonly bigint[]) {
  const pair = [0n, ZERO_ADDRESS, UNISWAP_USDC.contract, UNISWAP_WETH, 500, lower, upper, liquidity];
  return {
    to: POSITION_MANAGER,
    function: POSITIONS_FUNCTION,
    args: [id],
    result: [...pair, last0, last1, owed0, owed1],
  };
}

function tick(index: number, outside0: bigint, outside1: bigint) {
  const result = [10n ** 15n, -(10n ** 15n), outside0, outside1, -123n, 456n, 1_700_000_000, true];
  return { to: USDC_WETH_POOL, function: TICK, args: [index], result };
}

export const ownedNftCall = (id: bigint, index: bigint) => ({
  to: POSITION_MANAGER,
  function: NFT_BY_INDEX,
  args: [FIXTURE_WALLET, index],
  result: id,
});

export const uniswapCalls = [
  { to: POSITION_MANAGER, function: BALANCE_OF_FUNCTION, args: [FIXTURE_WALLET], result: 3n },
  ownedNftCall(EMPTIED.id, 0n),
  ownedNftCall(ABOVE.id, 1n),
  ownedNftCall(IN_RANGE_POSITION.id, 2n),
  nft(IN_RANGE_POSITION, [
    5999759153788512097615249706152497066n,
    96990000000000000000000000000000000000n,
    7n,
    11n,
  ]),
  // The price has not been in this range since, so the counters inside have not changed.
  nft(ABOVE, [400n, WRAP - 300n, 0n, 0n]),
  nft(EMPTIED, [1n, 2n, 0n, 0n]),
  {
    to: USDC_WETH_POOL,
    function: SLOT0,
    args: [],
    result: [1435265065383891124837545821636479n, 196_100, 12, 723, 723, 0, true],
  },
  {
    to: USDC_WETH_POOL,
    function: "feeGrowthGlobal0X128() view returns (uint256)",
    args: [],
    result: GLOBAL_0,
  },
  {
    to: USDC_WETH_POOL,
    function: "feeGrowthGlobal1X128() view returns (uint256)",
    args: [],
    result: GLOBAL_1,
  },
  tick(195_000, 1230846211487902384750293847502934875n, 108000000000000000000000000000000000000n),
  tick(197_000, 230846211487902384750293847502934n, WRAP - 5000000000000000000000000000000000000n),
  tick(197_010, 1_400n, 700n),
  tick(198_010, 1_000n, 1_000n),
  { to: UNISWAP_WETH, function: "symbol() view returns (string)", args: [], result: "WETH" },
  { to: UNISWAP_WETH, function: "name() view returns (string)", args: [], result: "Wrapped Ether" },
  { to: UNISWAP_WETH, function: "decimals() view returns (uint8)", args: [], result: 18 },
];
