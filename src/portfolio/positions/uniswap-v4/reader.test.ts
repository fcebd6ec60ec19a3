// Uniswap v4: the shared suite, and NFTs that no manager could return.
import { numberToHex } from "viem";
import { describe, expect, it } from "vitest";
import { FIXTURE_WALLET as WALLET } from "../../../../tests/fixtures/positions/fixture-chain.ts";
import * as fixture from "../../../../tests/fixtures/positions/uniswap-v4.ts";
import { openRecordedChain } from "../../../../tests/support/chain/recorded-chain.ts";
import { describePositionReader } from "../../../../tests/support/portfolio/position-reader-suite.ts";
import { getAmountsForLiquidity } from "../uniswap-v3/tick-math.ts";
import { UNISWAP_V4_MARKETS } from "./contracts.ts";
import { createUniswapV4Reader } from "./reader.ts";

const reader = createUniswapV4Reader(UNISWAP_V4_MARKETS);
const chain = fixture.v4ChainConfig;
const signal = new AbortController().signal;
const { V4_LIQUIDITY: LIQUIDITY, V4_MANAGER: MANAGER } = fixture;
const principal = getAmountsForLiquidity(LIQUIDITY, fixture.V4_SQRT_PRICE, fixture.V4_RANGE);
const ether = { contract: null, symbol: "ETH", name: "Ether", decimals: 18, logo: null };

describe("Uniswap v4", () => {
  describePositionReader({
    reader,
    chain,
    wallet: WALLET,
    holdings: [],
    transfers: [fixture.v4Transfer],
    calls: fixture.createV4Calls(),
    expected: [
      {
        ...{ protocol: "uniswap-v4", kind: "liquidity", contract: MANAGER, receiptTokens: [] },
        name: "Uniswap v4 #4711, fee 0.05 %",
        tokenId: 4711n,
        assets: [
          { ...ether, rawBalance: principal.amount0 + LIQUIDITY },
          { ...fixture.V4_USDC, rawBalance: principal.amount1 + 3n * LIQUIDITY },
        ],
      },
    ],
    emptyCalls: [
      { to: MANAGER, function: fixture.V4_COUNT_FUNCTION, args: [`0x${"5e".repeat(20)}`], result: 0n },
    ],
    roundsMax: 4,
    requestsMax: 4,
  });

  it.each([
    ["a key that does not belong to its pool", 2, 3_000],
    ["no second currency", 1, `0x${"00".repeat(20)}`],
    ["an empty range", 5, 0n],
  ])("rejects an NFT with %s", async (_, index, value) => {
    const calls = fixture
      .createV4Calls()
      .map((recorded) =>
        recorded.function === fixture.V4_INFO_FUNCTION
          ? { ...recorded, result: (recorded.result as unknown[]).with(index, value) }
          : recorded,
      );
    const at = openRecordedChain({ chain, calls });
    const transfers = [fixture.v4Transfer];
    const result = await reader.read({ at, wallet: WALLET, holdings: [], transfers }, signal);
    expect(result).toEqual({
      positions: [],
      incompleteContracts: new Set([MANAGER]),
      warnings: ["Uniswap v4 positions on Base that could not be read and are missing: 1."],
    });
  });

  it.each([
    ["before liquidity is removed", 1 << 9, true],
    ["after liquidity is removed", 1 << 8, true],
    ["to keep a part of what is removed", 1, true],
    ["before and after everything else", 0x3c_fe, false],
  ])("judges by its address that a hook is called %s", async (_, flags, isPayoutUnproven) => {
    const hooks = numberToHex(flags | 0x10_00_00, { size: 20 });
    const at = openRecordedChain({ chain, calls: fixture.createV4Calls(hooks) });
    const query = { at, wallet: WALLET, holdings: [], transfers: [fixture.v4Transfer] };
    const { positions, warnings } = await reader.read(query, signal);
    const assets = positions.flatMap((position) => position.assets);
    expect(assets.map((asset) => asset.isPayoutUnproven ?? false)).toEqual([
      isPayoutUnproven,
      isPayoutUnproven,
    ]);
    expect(warnings).toEqual(
      isPayoutUnproven
        ? [
            "Uniswap v4 positions on Base with a hook that may reject a withdrawal or keep a part of it: 1. They have no value.",
          ]
        : [],
    );
  });

  it("names every contract in lower case, and a time of deployment in seconds", () => {
    for (const { manager, stateView, deployedAt } of [...UNISWAP_V4_MARKETS.values()].flat()) {
      for (const address of [manager, stateView]) expect(address).toMatch(/^0x[0-9a-f]{40}$/);
      expect(new Date(deployedAt * 1_000).getUTCFullYear()).toBe(2025);
    }
  });
});
