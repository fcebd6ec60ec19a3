// Morpho Blue: the shared suite on a recording of its own code, and its arithmetic at the edges.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { fixtureChainConfig } from "../../../../tests/fixtures/positions/fixture-chain.ts";
import { openRecordedChain, readChainRecord } from "../../../../tests/support/chain/recorded-chain.ts";
import { describePositionReader } from "../../../../tests/support/portfolio/position-reader-suite.ts";
import type { Hex } from "../../../lib/hex.ts";
import type { ListedToken } from "../../types.ts";
import { accrueInterest, type MarketState, toBorrowedAssets, toSuppliedAssets } from "./accrual.ts";
import { createMorphoBlueReader } from "./reader.ts";

/** `repayTakes` and `withdrawPays` are what the contract itself moves when all is repaid or withdrawn in that block. */
type Recording = {
  readonly [name in "wallet" | "morpho" | "marketId" | "oracle"]: Hex;
} & {
  readonly tokens: readonly [loan: ListedToken, collateral: ListedToken];
  readonly repayTakes: string;
  readonly withdrawPays: string;
};

const FILE = new URL("../../../../tests/fixtures/positions/morpho-blue.json", import.meta.url);
const CHAIN_ID = 31337;
const recording: Recording = JSON.parse(readFileSync(FILE, "utf8"));
const { wallet, morpho, marketId, oracle, tokens, repayTakes, withdrawPays } = recording;
const [usdc, btc] = tokens;
const chain = fixtureChainConfig(CHAIN_ID, "Local", tokens);
const record = { ...readChainRecord(FILE), chain };
const signal = new AbortController().signal;
const createReader = (ids: readonly Hex[]) =>
  createMorphoBlueReader(new Map([[CHAIN_ID, [{ morpho, ids }]]]));
const reader = createReader([marketId]);
const POSITION = "position(bytes32,address) view returns (uint256,uint128,uint128)";

describe("Morpho Blue", () => {
  describePositionReader({
    reader,
    chain,
    block: record.block,
    wallet,
    holdings: [],
    calls: record.calls,
    emptyCalls: [
      { to: morpho, function: POSITION, args: [marketId, `0x${"5e".repeat(20)}`], result: ["0", "0", "0"] },
    ],
    expected: [
      {
        protocol: "morpho-blue",
        kind: "supplied",
        name: "Morpho Blue cbBTC/USDC 86 %: collateral",
        contract: morpho,
        market: `morpho-blue:${marketId}`,
        assets: [
          {
            ...btc,
            rawBalance: 3_00000000n,
            // 98,765.43 USDC for a bitcoin.
            marketRate: {
              ...{ source: "morpho-blue", timestamp: null },
              per: usdc,
              rate: { units: 9_876_543n * 10n ** 32n, scale: 34 },
              contract: oracle,
            },
          },
        ],
        receiptTokens: [],
      },
      {
        protocol: "morpho-blue",
        kind: "supplied",
        name: "Morpho Blue cbBTC/USDC 86 %: supply",
        contract: morpho,
        market: null,
        assets: [{ ...usdc, rawBalance: BigInt(withdrawPays) }],
        receiptTokens: [],
      },
      {
        protocol: "morpho-blue",
        kind: "borrowed",
        name: "Morpho Blue cbBTC/USDC 86 %: debt",
        contract: morpho,
        market: `morpho-blue:${marketId}`,
        assets: [{ ...usdc, rawBalance: BigInt(repayTakes) }],
        receiptTokens: [],
      },
    ],
    roundsMax: 3,
    requestsMax: 4,
  });

  it("says how many markets could not be read", async () => {
    const other: Hex = `0x${"ab".repeat(32)}`;
    const at = openRecordedChain(record);
    const { positions, warnings } = await createReader([marketId, other]).read(
      { at, wallet, holdings: [] },
      signal,
    );
    expect(positions.length).toBe(3);
    expect(warnings).toEqual(["Morpho Blue markets on Local that could not be read and are missing: 1."]);
  });
});

describe("the arithmetic of Morpho Blue", () => {
  const market: MarketState = {
    supplyAssets: 1_000n,
    supplyShares: 1_000_000_000n,
    borrowAssets: 500n,
    borrowShares: 500_000_000n,
    lastUpdate: 100n,
    fee: 0n,
  };

  it("rounds what is owed up and what is supplied down", () => {
    const half = { ...market, borrowAssets: 501n, supplyAssets: 1_001n };
    expect(toBorrowedAssets(1n, half)).toBe(1n);
    expect(toSuppliedAssets(1n, half)).toBe(0n);
  });

  it("accrues nothing without time or debt, and never backwards", () => {
    expect(accrueInterest(market, 10n ** 12n, 100n)).toBe(market);
    expect(accrueInterest(market, 10n ** 12n, 99n)).toBe(market);
    const idle = { ...market, borrowAssets: 0n };
    expect(accrueInterest(idle, 10n ** 12n, 1_000n)).toBe(idle);
  });
});
