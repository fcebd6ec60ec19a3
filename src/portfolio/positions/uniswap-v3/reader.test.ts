// Liquidity NFTs: the shared suite, pool addresses that exist, wallets with many NFTs, staked NFTs and hostile results.
import { describe, expect, it } from "vitest";
import { FIXTURE_WALLET } from "../../../../tests/fixtures/positions/fixture-chain.ts";
import * as fixture from "../../../../tests/fixtures/positions/uniswap-v3.ts";
import { openRecordedChain, type RecordedCall } from "../../../../tests/support/chain/recorded-chain.ts";
import { describePositionReader } from "../../../../tests/support/portfolio/position-reader-suite.ts";
import type { Hex } from "../../../lib/hex.ts";
import { computePoolAddress, LIQUIDITY_NFT_MARKETS, type LiquidityNftMarket } from "./contracts.ts";
import { createUniswapV3Reader } from "./reader.ts";

const {
  POSITION_MANAGER: MANAGER,
  POSITIONS_FUNCTION: NFT,
  BALANCE_OF_FUNCTION: NFT_COUNT,
  UNISWAP_USDC: USDC,
  UNISWAP_WETH: WETH,
} = fixture;
const [uniswap] = LIQUIDITY_NFT_MARKETS.get(1) as [LiquidityNftMarket];
const reader = createUniswapV3Reader(new Map([[1, [uniswap]]]));
const chain = fixture.uniswapChainConfig;
const signal = new AbortController().signal;
const L2_WETH = "0x4200000000000000000000000000000000000006";
const BASE_USDC = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913";
const OP_USDC = "0x0b2c639c533813f4aa9d7837caf62653d097ff85";
const ARB_WETH = "0x82af49447d8a07e3bd95bd0d56f35241523fbab1";
const ARB_USDC = "0xaf88d065e77c8cc2239327c5edb3a432268e5831";
const POL_USDC = "0x2791bca1f2de4661ed88a30c99a7a9449aa84174";
const POL_WETH = "0x7ceb23fd6bc0add59e62ac25578270cff1b9f619";
const weth = { contract: WETH, symbol: "WETH", name: "Wrapped Ether", decimals: 18, logo: null };
const common = { protocol: "uniswap-v3", kind: "liquidity", contract: MANAGER, receiptTokens: [] } as const;

describe("Uniswap v3", () => {
  describePositionReader({
    reader,
    protocols: ["uniswap-v3"],
    chain,
    wallet: FIXTURE_WALLET,
    holdings: [],
    calls: fixture.uniswapCalls,
    expected: [
      {
        ...common,
        name: "Uniswap v3 #612345, fee 0.05 %",
        tokenId: 612345n,
        // The principal computed independently with 120 digits, then the tokens owed, then the fees since.
        assets: [
          { ...USDC, rawBalance: 8_384_114884n + 7n + 101_481901n },
          { ...weth, rawBalance: 3_348697019982064513n + 11n + 101_481_901_756n },
        ],
      },
      {
        ...common,
        name: "Uniswap v3 #598001, fee 0.05 %",
        tokenId: 598001n,
        assets: [{ ...USDC, rawBalance: 2_572_366217n }],
      },
    ],
    emptyCalls: [{ to: MANAGER, function: NFT_COUNT, args: [`0x${"5e".repeat(20)}`], result: 0n }],
    roundsMax: 3,
    requestsMax: 6,
  });

  // Pools that exist, as explorers show them: factory, deployer and code hash are right, or the address would differ.
  it.each([
    [1, "uniswap-v3", 500, USDC.contract, WETH, "0x88e6a0c2ddd26feeb64f039a2c41296fcb3f5640"],
    [1, "uniswap-v3", 3000, USDC.contract, WETH, "0x8ad599c3a0ff1de082011efddc58f1908eb6e6d8"],
    [8453, "uniswap-v3", 500, L2_WETH, BASE_USDC, "0xd0b53d9277642d899df5c87a3966a349a798f224"],
    [42161, "uniswap-v3", 500, ARB_WETH, ARB_USDC, "0xc6962004f452be9203591991d15f6b388e09e8d0"],
    [137, "uniswap-v3", 500, POL_USDC, POL_WETH, "0x45dda9cb7c25131df268515131f647d726f50608"],
    [10, "uniswap-v3", 500, OP_USDC, L2_WETH, "0x1fb3cf6e48f1e7b10213e7b6d87d4c073c7fdb7b"],
    [1, "pancakeswap-v3", 500, USDC.contract, WETH, "0x1ac1a8feaaea1900c4166deeed0c11cc10669d36"],
    [8453, "pancakeswap-v3", 100, L2_WETH, BASE_USDC, "0x72ab388e2e2f6facef59e3c3fa2c4e29011c2d38"],
    [1, "sushiswap-v3", 500, USDC.contract, WETH, "0x35644fb61afbc458bf92b15add6abc1996be5014"],
    [42161, "sushiswap-v3", 500, ARB_WETH, ARB_USDC, "0xf3eb87c1f6020982173c908e7eb31aa66c1f0296"],
    [8453, "aerodrome-slipstream", 100, L2_WETH, BASE_USDC, "0xb2cc224c1c9fee385f8ad6a55b4d94e92359dc59"],
    [8453, "aerodrome-slipstream", 50, L2_WETH, BASE_USDC, "0x3fe04a59ebd38cf06080a6f60a98d124eb59392a"],
    [10, "velodrome-slipstream", 100, OP_USDC, L2_WETH, "0x478946bcd4a5a22b316470f5486fafb928c0ba25"],
  ] as const)("computes the address of a real pool on chain %i of %s with %i", (...row) => {
    const [chainId, protocol, poolKey, token0, token1, pool] = row;
    const markets = LIQUIDITY_NFT_MARKETS.get(chainId)?.filter((market) => market.protocol === protocol);
    expect(markets?.map((market) => computePoolAddress(market, { token0, token1, poolKey }))).toContain(pool);
  });

  it("names every contract once per chain, in lower case", () => {
    for (const markets of LIQUIDITY_NFT_MARKETS.values()) {
      const managers = markets.flatMap(({ manager, farm }) => [manager, farm ?? []].flat());
      expect(new Set(managers).size).toBe(managers.length);
      for (const { manager, poolDeployer, poolCodeHash, farm, voter } of markets) {
        for (const address of [manager, poolDeployer, farm ?? manager, voter ?? manager]) {
          expect(address).toMatch(/^0x[0-9a-f]{40}$/);
        }
        expect(poolCodeHash).toMatch(/^0x[0-9a-f]{64}$/);
      }
    }
  });

  it("reads the newest two thousand NFTs, with a warning", async () => {
    const total = 2_100;
    const ids = Array.from({ length: total }, (_, index): RecordedCall => {
      return fixture.ownedNftCall(BigInt(1_000 + index), BigInt(index));
    });
    const calls = [
      { to: MANAGER, function: NFT_COUNT, args: [FIXTURE_WALLET], result: BigInt(total) },
      ...ids,
    ];
    const at = openRecordedChain({ chain, calls });
    const { positions, warnings } = await reader.read({ at, wallet: FIXTURE_WALLET, holdings: [] }, signal);
    expect(positions).toEqual([]);
    expect(warnings).toEqual([
      "Only the newest 2000 of 2100 Uniswap v3 positions on Ethereum were looked at, open or closed.",
      "Uniswap v3 positions on Ethereum that could not be read and are missing: 2000.",
    ]);
    expect(at.rounds.map(({ length }) => length)).toEqual([9, 2_000, 2_000]);
    expect(at.requests.map(({ length }) => length)).toEqual([1, 10, 10]);
    expect(BigInt(`0x${at.rounds[2]?.[0]?.data.slice(10)}`)).toBe(3_099n);
  });

  it("shows NFTs in a farm that lists them by owner as staked, with their fees", async () => {
    const farm: Hex = `0x${"fa".repeat(20)}`;
    const calls = fixture.uniswapCalls.map((recorded): RecordedCall => {
      if (recorded.function === NFT_COUNT) return { ...recorded, to: farm };
      return recorded.function.startsWith("tokenOfOwnerByIndex") ? { ...recorded, to: farm } : recorded;
    });
    const none = { to: MANAGER, function: NFT_COUNT, args: [FIXTURE_WALLET], result: 0n };
    const farmReader = createUniswapV3Reader(new Map([[1, [{ ...uniswap, farm }]]]));
    const at = openRecordedChain({ chain, calls: [...calls, none] });
    const { positions, warnings } = await farmReader.read(
      { at, wallet: FIXTURE_WALLET, holdings: [] },
      signal,
    );
    expect(positions.map(({ name, contract, assets }) => [name, contract, assets.length])).toEqual([
      ["Uniswap v3 #612345, fee 0.05 %, staked", MANAGER, 2],
      ["Uniswap v3 #598001, fee 0.05 %, staked", MANAGER, 1],
    ]);
    expect(positions[0]?.assets[0]?.rawBalance).toBe(8_384_114884n + 7n + 101_481901n);
    expect(warnings).toEqual([]);
  });

  it.each([
    ["an inverted range", { 5: 197_000, 6: 195_000 }],
    ["a tick out of range", { 6: 887_273 }],
    ["no token", { 2: `0x${"00".repeat(20)}` as Hex }],
  ])("rejects an NFT with %s", async (_, change) => {
    const calls = fixture.uniswapCalls.map((recorded) =>
      recorded.function === NFT && recorded.args?.[0] === fixture.IN_RANGE_POSITION.id
        ? { ...recorded, result: Object.assign([...(recorded.result as unknown[])], change) }
        : recorded,
    );
    const at = openRecordedChain({ chain, calls });
    const { positions, warnings } = await reader.read({ at, wallet: FIXTURE_WALLET, holdings: [] }, signal);
    expect(positions.map(({ name }) => name)).toEqual(["Uniswap v3 #598001, fee 0.05 %"]);
    expect(warnings).toEqual(["Uniswap v3 positions on Ethereum that could not be read and are missing: 1."]);
  });
});
