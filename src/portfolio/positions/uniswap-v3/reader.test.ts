// Uniswap v3: the shared suite, pool addresses that exist, and wallets with many NFTs.
import { describe, expect, it } from "vitest";
import { openRecordedChain, type RecordedCall } from "../../../../tests/support/chain/recorded-chain.ts";
import { describePositionReader } from "../../../../tests/support/portfolio/position-reader-suite.ts";
import type { Hex } from "../../../lib/hex.ts";
import { FIXTURE_WALLET } from "../fixture-chain.ts";
import { computePoolAddress } from "./contracts.ts";
import * as fixture from "./fixture.ts";
import { UNISWAP_V3_MARKETS } from "./markets.ts";
import { createUniswapV3Reader } from "./reader.ts";

const {
  POSITION_MANAGER: MANAGER,
  POSITIONS_FUNCTION: NFT,
  BALANCE_OF_FUNCTION: NFT_COUNT,
  UNISWAP_USDC: USDC,
  UNISWAP_WETH: WETH,
} = fixture;
const reader = createUniswapV3Reader(UNISWAP_V3_MARKETS);
const chain = fixture.uniswapChainConfig;
const signal = new AbortController().signal;
const weth = { contract: WETH, symbol: "WETH", name: "Wrapped Ether", decimals: 18, logo: null };
const common = { protocol: "uniswap-v3", kind: "liquidity", contract: MANAGER, receiptTokens: [] } as const;

describe("Uniswap v3", () => {
  describePositionReader({
    reader,
    chain,
    wallet: FIXTURE_WALLET,
    holdings: [],
    calls: fixture.uniswapCalls,
    expected: [
      {
        ...common,
        name: "Uniswap v3 #612345, fee 0.05 %",
        // The principal computed independently with 120 digits, then the tokens owed, then the fees since.
        assets: [
          { ...USDC, rawBalance: 8_384_114884n + 7n + 101_481901n },
          { ...weth, rawBalance: 3_348697019982064513n + 11n + 101_481_901_756n },
        ],
      },
      {
        ...common,
        name: "Uniswap v3 #598001, fee 0.05 %",
        assets: [{ ...USDC, rawBalance: 2_572_366217n }],
      },
    ],
    emptyCalls: [{ to: MANAGER, function: NFT_COUNT, args: [`0x${"5e".repeat(20)}`], result: 0n }],
    roundsMax: 3,
    requestsMax: 6,
  });

  it.each([
    [1, USDC.contract, WETH, 500, "0x88e6a0c2ddd26feeb64f039a2c41296fcb3f5640"],
    [1, USDC.contract, WETH, 3000, "0x8ad599c3a0ff1de082011efddc58f1908eb6e6d8"],
    [
      8453,
      "0x4200000000000000000000000000000000000006",
      "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913",
      500,
      "0xd0b53d9277642d899df5c87a3966a349a798f224",
    ],
    [
      42161,
      "0x82af49447d8a07e3bd95bd0d56f35241523fbab1",
      "0xaf88d065e77c8cc2239327c5edb3a432268e5831",
      500,
      "0xc6962004f452be9203591991d15f6b388e09e8d0",
    ],
    [
      137,
      "0x2791bca1f2de4661ed88a30c99a7a9449aa84174",
      "0x7ceb23fd6bc0add59e62ac25578270cff1b9f619",
      500,
      "0x45dda9cb7c25131df268515131f647d726f50608",
    ],
    [
      10,
      "0x0b2c639c533813f4aa9d7837caf62653d097ff85",
      "0x4200000000000000000000000000000000000006",
      500,
      "0x1fb3cf6e48f1e7b10213e7b6d87d4c073c7fdb7b",
    ],
  ] as const)("computes the address of a real pool on chain %i", (chainId, token0, token1, fee, pool) => {
    const market = UNISWAP_V3_MARKETS.get(chainId);
    expect(market && computePoolAddress(market, { token0, token1, fee })).toBe(pool);
  });

  it("reads only the newest hundred NFTs, with a warning", async () => {
    const total = 120;
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
      "Only the newest 100 of 120 Uniswap v3 positions on Ethereum are shown.",
      "Uniswap v3 positions on Ethereum that could not be read and are missing: 100.",
    ]);
    expect(at.rounds.map(({ length }) => length)).toEqual([17, 100, 100]);
    expect(BigInt(`0x${at.rounds[2]?.[0]?.data.slice(10)}`)).toBe(1_119n);
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
