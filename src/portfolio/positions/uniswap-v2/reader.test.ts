// Uniswap v2 and its forks: the shared suite, staked liquidity without a receipt, limits, and implausible results.
import { gaugeScannerAbi } from "@sextant/contracts/generated/gauge-scanner";
import { encodeFunctionResult } from "viem";
import { describe, expect, it } from "vitest";
import { FIXTURE_WALLET as WALLET } from "../../../../tests/fixtures/positions/fixture-chain.ts";
import * as fixture from "../../../../tests/fixtures/positions/uniswap-v2.ts";
import { openRecordedChain, type RecordedCall } from "../../../../tests/support/chain/recorded-chain.ts";
import { describePositionReader } from "../../../../tests/support/portfolio/position-reader-suite.ts";
import type { Hex } from "../../../lib/hex.ts";
import type { TransferLog } from "../../types.ts";
import { PAIR_MARKETS } from "./contracts.ts";
import { createUniswapV2Reader } from "./reader.ts";

const { PAIR_WETH: WETH, PAIR_USDC: USDC, AERODROME_POOL: POOL, AERODROME_GAUGE: GAUGE } = fixture;
const reader = createUniswapV2Reader(PAIR_MARKETS);
const chain = fixture.pairChainConfig;
const calls = [...fixture.uniswapPairCalls, ...fixture.aerodromePoolCalls];
const signal = new AbortController().signal;
type Stake = { readonly pool: Hex; readonly gauge: Hex; readonly holdsNfts: boolean };

function encodeScan(stakes: readonly Stake[], length: bigint): Hex {
  return encodeFunctionResult({
    ...{ abi: gaugeScannerAbi, functionName: "scan", result: [stakes, length, length] },
  });
}

/** The search of gauges finds nothing staked. */
const runCode = () => encodeScan([], 0n);
const UNIT = 10n ** 18n;

const held = {
  ...({ protocol: "aerodrome", kind: "liquidity", name: "Aerodrome volatile pool", contract: POOL } as const),
  // A fifth of the reserves, what may be claimed, and the fees since for ten tokens.
  assets: [
    { ...WETH, rawBalance: 20n * UNIT + 7n + 30n * 10n ** 15n },
    { ...USDC, rawBalance: 60_000_000_000n + 11n + 200n },
  ],
  receiptTokens: [POOL],
};
const staked = {
  ...held,
  name: "Aerodrome volatile pool, staked",
  assets: [
    { ...WETH, rawBalance: 60n * UNIT },
    { ...USDC, rawBalance: 180_000_000_000n },
  ],
  receiptTokens: [],
};

const sent: TransferLog = {
  ...{ contract: POOL, from: WALLET, to: GAUGE, isErc721: false, tokenId: null, amount: 1n },
  ...{ transactionHash: `0x${"11".repeat(32)}`, blockNumber: 1, blockTimestamp: null, logIndex: 0 },
};
const gaugeOf = (pool: Hex): RecordedCall => ({
  to: fixture.AERODROME_VOTER,
  function: fixture.POOL_FOR_GAUGE,
  args: [GAUGE],
  result: pool,
});

function readStaked(own: readonly RecordedCall[], transfers: readonly TransferLog[]) {
  const at = openRecordedChain({ chain, calls: own, runCode });
  return reader.read({ at, wallet: WALLET, holdings: [], transfers }, signal);
}

describe("Uniswap v2 and its forks", () => {
  describePositionReader({
    reader,
    protocols: ["uniswap-v2", "aerodrome"],
    chain,
    wallet: WALLET,
    holdings: fixture.pairHoldings,
    calls,
    expected: [
      {
        ...{ protocol: "uniswap-v2", kind: "liquidity", name: "Uniswap v2 pair" },
        contract: fixture.UNISWAP_PAIR,
        assets: [
          { ...WETH, rawBalance: 200n * UNIT },
          { ...USDC, rawBalance: 600_000_000_000n },
        ],
        receiptTokens: [fixture.UNISWAP_PAIR],
      },
      held,
      staked,
    ],
    provenTokens: new Set([fixture.UNISWAP_PAIR, POOL]),
    runCode,
    emptyResult: "absence",
    roundsMax: 3,
    requestsMax: 8,
  });

  it("finds what is staked without a receipt by the transfer to the gauge", async () => {
    // The rest of the wallet's own tokens are the fees that it may claim.
    const claimable = {
      ...held,
      assets: [
        { ...WETH, rawBalance: 7n },
        { ...USDC, rawBalance: 11n },
      ],
      receiptTokens: [],
    };
    const result = await readStaked([...calls, gaugeOf(POOL)], [sent]);
    expect(result).toEqual({ positions: [claimable, staked], warnings: [] });
  });

  it.each([
    ["the voter knows another pool for the gauge", gaugeOf(fixture.UNISWAP_PAIR), sent],
    ["the voter does not know the gauge", gaugeOf(`0x${"00".repeat(20)}`), sent],
    ["another account sent it", gaugeOf(POOL), { ...sent, from: GAUGE }],
    ["an NFT was sent", gaugeOf(POOL), { ...sent, isErc721: true, tokenId: 1n }],
  ])("shows nothing staked when %s", async (_, gauge, transfer) => {
    expect(await readStaked([...calls, gauge], [transfer])).toEqual({ positions: [], warnings: [] });
  });

  it("finds it behind any number of transfers that one contract claims in the wallet's name", async () => {
    const claims = Array.from({ length: 500 }, (_, index) => ({
      ...{ ...sent, blockNumber: 2, logIndex: index, contract: `0x${"fa".repeat(20)}` as Hex },
      to: `0x${(index + 1).toString(16).padStart(40, "0")}` as Hex,
    }));
    const at = openRecordedChain({
      ...{ chain, calls: [...calls, gaugeOf(POOL)], runCode: () => null },
      otherwise: `0x${"00".repeat(32)}`,
    });
    const query = { at, wallet: WALLET, holdings: [], transfers: [sent, ...claims] };
    const { positions } = await reader.read(query, signal);
    expect(positions).toContainEqual(staked);
    // The voter is asked about a few receivers of each contract only.
    expect(at.rounds[0]?.length).toBeLessThan(10);
  });

  it("names the contracts that it did not ask about if only transfers show stakes", async () => {
    const many = Array.from({ length: 401 }, (_, index) => ({
      ...{ ...sent, logIndex: index },
      contract: `0x${(index + 1).toString(16).padStart(40, "0")}` as Hex,
    }));
    const read = async (run: () => Hex | null) => {
      const at = openRecordedChain({ chain, calls: [], otherwise: `0x${"00".repeat(32)}`, runCode: run });
      return (await reader.read({ at, wallet: WALLET, holdings: [], transfers: many }, signal)).warnings;
    };
    expect(await read(() => null)).toContain(
      "Only the newest 400 of 401 transfers from the wallet on Base were checked for being stakes in a gauge.",
    );
    expect(await read(runCode)).toEqual([]);
  });

  it("warns when the voter cannot be read", async () => {
    expect(await readStaked(calls, [sent])).toEqual({
      positions: [],
      warnings: [
        "Tokens on Base that may be liquidity of Uniswap v2 or a fork, but could not be read as such: 1.",
      ],
    });
  });

  it("believes no pair with less supply than the wallet has of it, and keeps its token", async () => {
    const [pairHolding] = fixture.pairHoldings;
    const holdings = [{ ...pairHolding, rawBalance: 101n * UNIT } as (typeof fixture.pairHoldings)[0]];
    const at = openRecordedChain({ chain, calls, runCode });
    const { positions, provenTokens, warnings } = await reader.read({ at, wallet: WALLET, holdings }, signal);
    expect(positions).toEqual([]);
    expect(provenTokens).toEqual(new Set([fixture.UNISWAP_PAIR]));
    expect(warnings).toHaveLength(1);
  });

  it("doubts the payout of a pair with an unlisted token, unless a voter gave it a gauge", async () => {
    const tokens = new Map([[WETH.contract, WETH]]);
    const at = openRecordedChain({ chain: { ...chain, tokens }, calls, runCode });
    const query = { at, wallet: WALLET, holdings: fixture.pairHoldings, transfers: [] };
    const { positions, warnings } = await reader.read(query, signal);
    const doubts = positions.map(({ protocol, assets }) => [
      protocol,
      ...assets.map(({ isPayoutUnproven = false }) => isPayoutUnproven),
    ]);
    expect(doubts).toEqual([
      ["uniswap-v2", true, true],
      ["aerodrome", false, false],
      ["aerodrome", false, false],
    ]);
    expect(warnings).toEqual([
      "Pairs on Base with an unlisted token, which may keep a withdrawal from the wallet: 1. They have no value.",
    ]);
  });

  it("probes at most three hundred unlisted tokens, with a warning, and listed ones only by their symbol", async () => {
    const holdings = Array.from({ length: 310 }, (_, index) => ({
      ...{ symbol: "X", name: "X", decimals: 18, logo: null, rawBalance: 1n },
      contract: `0x${(index + 1).toString(16).padStart(40, "0")}` as Hex,
    }));
    const listed = { ...WETH, rawBalance: 1n };
    const at = openRecordedChain({ chain, calls: [], runCode });
    const result = await reader.read({ at, wallet: WALLET, holdings: [listed, ...holdings] }, signal);
    expect(result).toEqual({
      positions: [],
      warnings: ["Only 300 of 310 unlisted tokens on Base were checked for being liquidity of a pair."],
    });
    expect(at.rounds.map(({ length }) => length)).toEqual([900]);
    const asPair = openRecordedChain({ chain, calls: [], runCode });
    const pairLike = { ...listed, symbol: "UNI-V2" };
    await reader.read({ at: asPair, wallet: WALLET, holdings: [pairLike] }, signal);
    expect(asPair.rounds.map(({ length }) => length)).toEqual([3]);
  });

  it("reads four hundred gauges at most, with a warning: anyone may stake a little for the wallet", async () => {
    const stakes = Array.from({ length: 410 }, (_, index) => ({
      pool: `0x${(index + 1).toString(16).padStart(40, "0")}` as Hex,
      ...{ gauge: GAUGE, holdsNfts: false },
    }));
    let parts = [stakes];
    const at = openRecordedChain({
      ...{ chain, calls: [], otherwise: `0x${"00".repeat(32)}` },
      runCode: () => {
        const [part = [], ...rest] = parts;
        parts = rest;
        return encodeScan(part, 410n);
      },
    });
    const { positions, warnings } = await reader.read({ at, wallet: WALLET, holdings: [] }, signal);
    expect(positions).toEqual([]);
    expect(warnings).toEqual([
      "Only 400 of 410 gauges of Aerodrome on Base in which the wallet has something were looked at.",
    ]);
  });

  it("names every factory once per chain, in lower case", () => {
    for (const markets of PAIR_MARKETS.values()) {
      const factories = markets.map(({ factory }) => factory);
      expect(new Set(factories).size).toBe(factories.length);
      for (const factory of factories) expect(factory).toMatch(/^0x[0-9a-f]{40}$/);
    }
  });
});
