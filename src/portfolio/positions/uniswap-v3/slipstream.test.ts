// Slipstream: the words of its pools, and NFTs in gauges. The results are written by hand after its source, not recorded.
import { describe, expect, it } from "vitest";
import { openRecordedChain, type RecordedCall } from "../../../../tests/support/chain/recorded-chain.ts";
import type { Hex } from "../../../lib/hex.ts";
import type { TransferLog } from "../../types.ts";
import { fixtureChainConfig, fixtureToken, FIXTURE_WALLET as WALLET } from "../fixture-chain.ts";
import { computePoolAddress } from "./contracts.ts";
import { LIQUIDITY_NFT_MARKETS, type LiquidityNftMarket } from "./markets.ts";
import { createUniswapV3Reader } from "./reader.ts";
import { getAmountsForLiquidity } from "./tick-math.ts";

const WETH = fixtureToken("0x4200000000000000000000000000000000000006", "WETH", 18, "Wrapped Ether");
const USDC = fixtureToken("0x833589fcd6edb6e08f4c7c32d4f71b54bda02913", "USDC", 6, "USD Coin");
const chain = fixtureChainConfig(8453, "Base", [WETH, USDC]);
const [market, otherMarket] = (LIQUIDITY_NFT_MARKETS.get(8453) ?? []).filter(
  ({ shape }) => shape === "slipstream",
) as [LiquidityNftMarket, LiquidityNftMarket];
const reader = createUniswapV3Reader(new Map([[8453, [market]]]));
const signal = new AbortController().signal;

const GAUGE: Hex = `0x${"9a".repeat(20)}`;
const ID = 77n;
const LIQUIDITY = 5_000_000_000_000n;
const [LOWER, UPPER] = [-196_500, -195_500];
const SQRT_PRICE = 4_366_000_000_000_000_000_000_000n;
const TICK = -196_141;
const Q128 = 1n << 128n;
const key = { token0: WETH.contract, token1: USDC.contract, poolKey: 100 };
const pool = computePoolAddress(market, key);

const POSITION =
  "positions(uint256) view returns (uint96, address, address, address, int24, int24, int24, uint128, uint256, uint256, uint128, uint128)";
const SLOT0 = "slot0() view returns (uint160, int24, uint16, uint16, uint16, bool)";
const TICK_INFO =
  "ticks(int24) view returns (uint128, int128, int128, uint256, uint256, uint256, int56, uint160, uint32, bool)";
const ZERO_ADDRESS: Hex = `0x${"00".repeat(20)}`;

function tick(index: number, fees: readonly [bigint, bigint]): RecordedCall {
  const result = [1n, 1n, 999n, ...fees, 888n, 0n, 0n, 0, true];
  return { to: pool, function: TICK_INFO, args: [index], result };
}

const range = [WETH.contract, USDC.contract, 100, LOWER, UPPER];
const poolCalls: readonly RecordedCall[] = [
  {
    to: market.manager,
    function: POSITION,
    args: [ID],
    result: [0n, ZERO_ADDRESS, ...range, LIQUIDITY, 0n, 0n, 3n, 4n],
  },
  { to: pool, function: SLOT0, args: [], result: [SQRT_PRICE, TICK, 0, 1, 1, true] },
  { to: pool, function: "feeGrowthGlobal0X128() view returns (uint256)", args: [], result: 9n * Q128 },
  { to: pool, function: "feeGrowthGlobal1X128() view returns (uint256)", args: [], result: 7n * Q128 },
  tick(LOWER, [2n * Q128, Q128]),
  tick(UPPER, [Q128, 2n * Q128]),
];

function owned(count: bigint): readonly RecordedCall[] {
  const { manager: to } = market;
  const id = "tokenOfOwnerByIndex(address, uint256) view returns (uint256)";
  return [
    { to, function: "balanceOf(address) view returns (uint256)", args: [WALLET], result: count },
    ...(count > 0n ? [{ to, function: id, args: [WALLET, 0n], result: ID }] : []),
  ];
}

function staked(isGauge: boolean, manager: Hex): readonly RecordedCall[] {
  const to = market.voter as Hex;
  return [
    { to, function: "isGauge(address) view returns (bool)", args: [GAUGE], result: isGauge },
    { to: GAUGE, function: "nft() view returns (address)", args: [], result: manager },
    { to: GAUGE, function: "stakedValues(address) view returns (uint256[])", args: [WALLET], result: [ID] },
  ];
}

const sent: TransferLog = {
  ...{ contract: market.manager, from: WALLET, to: GAUGE, isErc721: true, tokenId: ID, amount: null },
  ...{ transactionHash: `0x${"11".repeat(32)}`, blockNumber: 1, blockTimestamp: null, logIndex: 0 },
};

async function read(calls: readonly RecordedCall[], transfers: readonly TransferLog[] = []) {
  const at = openRecordedChain({ chain, calls: [...calls, ...poolCalls] });
  const result = await reader.read({ at, wallet: WALLET, holdings: [], transfers }, signal);
  return { ...result, amounts: result.positions.map(({ assets }) => assets.map((a) => a.rawBalance)), at };
}

const principal = getAmountsForLiquidity(LIQUIDITY, SQRT_PRICE, { tickLower: LOWER, tickUpper: UPPER });

describe("Slipstream", () => {
  it("finds price and fees in the words of its pools", async () => {
    const { positions, amounts, warnings } = await read(owned(1n));
    expect(positions[0]).toMatchObject({
      protocol: "aerodrome-slipstream",
      name: "Aerodrome Slipstream #77, tick spacing 100",
    });
    // Nine minus two below minus one above; seven minus one minus two.
    const fees = [6n * LIQUIDITY, 4n * LIQUIDITY] as const;
    expect(amounts).toEqual([[principal.amount0 + 3n + fees[0], principal.amount1 + 4n + fees[1]]]);
    expect(warnings).toEqual([]);
  });

  it("shows an NFT in a gauge that the voter knows, without fees, which go to the voters", async () => {
    const { positions, amounts, at } = await read([...owned(0n), ...staked(true, market.manager)], [sent]);
    expect(positions.map(({ name }) => name)).toEqual(["Aerodrome Slipstream #77, tick spacing 100, staked"]);
    expect(amounts).toEqual([[principal.amount0 + 3n, principal.amount1 + 4n]]);
    expect(at.rounds.length).toBe(4);
  });

  it.each([
    ["the voter does not know the contract", staked(false, market.manager), [sent]],
    ["the gauge is for NFTs of another manager", staked(true, otherMarket.manager), [sent]],
    ["another account sent the NFT", staked(true, market.manager), [{ ...sent, from: GAUGE }]],
    ["another NFT was sent", staked(true, market.manager), [{ ...sent, contract: otherMarket.manager }]],
  ])("shows nothing when %s", async (_, calls, transfers) => {
    const { positions, warnings } = await read([...owned(0n), ...calls], transfers);
    expect({ positions, warnings }).toEqual({ positions: [], warnings: [] });
  });

  it("warns when a gauge does not list what is staked in it", async () => {
    const [isGauge, nft] = staked(true, market.manager);
    const { positions, warnings } = await read([...owned(0n), isGauge, nft] as RecordedCall[], [sent]);
    expect(positions).toEqual([]);
    expect(warnings).toEqual([
      "Aerodrome Slipstream positions on Base that could not be read and are missing: 1.",
    ]);
  });
});
