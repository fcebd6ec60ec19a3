// Compound v2: the shared suite on what its own code returned, and markets that our data lacks or that are none.
import { describe, expect, it } from "vitest";
import recording from "../../../../tests/fixtures/positions/compound-v2.json" with { type: "json" };
import { fixtureChainConfig } from "../../../../tests/fixtures/positions/fixture-chain.ts";
import { listRecordedCalls, openRecordedChain } from "../../../../tests/support/chain/recorded-chain.ts";
import { describePositionReader } from "../../../../tests/support/portfolio/position-reader-suite.ts";
import type { Hex } from "../../../lib/hex.ts";
import { type ProtocolPosition, quotePrice } from "../../types.ts";
import type { CompoundV2Pool } from "./contracts.ts";
import { createCompoundV2Reader } from "./reader.ts";

const { views } = recording;
const pool = recording.pool as CompoundV2Pool;
const wallet = recording.wallet as Hex;
const chain = fixtureChainConfig(31337, "Local chain", []);
const calls = listRecordedCalls(recording.responses);
const readerOf = (...pools: readonly CompoundV2Pool[]) => createCompoundV2Reader(new Map([[31337, pools]]));
const signal = new AbortController().signal;

const [usdcMarket, etherMarket, collateralMarket] = pool.markets as [Hex, Hex, Hex];
const common = { protocol: "compound-v2", market: pool.comptroller };
const priced = (units: bigint, scale: number) => ({
  marketPrice: {
    ...quotePrice({ units, scale }, { contract: views.oracle as Hex }),
    source: "compound-v2",
  },
});
const token = (contract: string, symbol: string, decimals: number) => ({
  ...{ contract: contract as Hex, symbol, name: symbol, decimals, logo: null },
});
const debt: ProtocolPosition = {
  ...common,
  ...{ kind: "borrowed" as const, name: "Test: USDC", contract: usdcMarket, receiptTokens: [] },
  assets: [
    {
      ...token(views.baseToken, "USDC", 6),
      rawBalance: BigInt(views.borrowed),
      ...priced(9999n * 10n ** 26n, 30),
    },
  ],
};
// The oracle of the recording knows no price of ether.
const ether: ProtocolPosition = {
  ...common,
  ...{ kind: "supplied" as const, name: "Test: ETH", contract: etherMarket, receiptTokens: [etherMarket] },
  assets: [
    {
      ...{ contract: null, symbol: "ETH", name: "Ether", decimals: 18, logo: null },
      rawBalance: BigInt(views.ether),
    },
  ],
};
const collateral: ProtocolPosition = {
  ...common,
  ...{
    kind: "supplied" as const,
    name: "Test: COL",
    contract: collateralMarket,
    receiptTokens: [collateralMarket],
  },
  assets: [
    {
      ...token(views.collateralToken, "COL", 18),
      rawBalance: BigInt(views.collateral),
      ...priced(2_000n * 10n ** 18n, 18),
    },
  ],
};

describe("Compound v2", () => {
  describePositionReader({
    reader: readerOf(pool),
    ...{ chain, wallet, holdings: [], calls, emptyCalls: calls },
    expected: [debt, ether, collateral],
    roundsMax: 3,
    requestsMax: 12,
  });

  it("the recorded debt has interest since it was last stored", () => {
    expect(BigInt(views.borrowed)).toBeGreaterThan(BigInt(views.borrowedStored));
  });

  it("finds a market that is newer than the data", async () => {
    const older = { ...pool, markets: pool.markets.filter((market) => market !== collateralMarket) };
    const at = openRecordedChain({ chain, calls });
    expect(await readerOf(older).read({ at, wallet, holdings: [] }, signal)).toEqual({
      ...{ positions: [debt, ether, collateral], warnings: [] },
    });
    expect(at.rounds.length).toBe(3);
  });

  it("leaves out what the comptroller does not list, without a word", async () => {
    const wrong = { ...pool, markets: [...pool.markets, `0x${"ab".repeat(20)}` as const] };
    const at = openRecordedChain({ chain, calls });
    const { positions, warnings } = await readerOf(wrong).read({ at, wallet, holdings: [] }, signal);
    expect([positions.length, warnings]).toEqual([3, []]);
  });

  it("marks the account as incomplete when a market cannot be read", async () => {
    const spoil = (call: { to: string }, result: Hex | null) =>
      call.to === collateralMarket ? null : result;
    const at = openRecordedChain({ chain, calls, spoil });
    const { positions, warnings } = await readerOf(pool).read({ at, wallet, holdings: [] }, signal);
    expect(positions).toEqual([debt, ether].map((position) => ({ ...position, incomplete: true })));
    expect(warnings).toEqual([
      `Balances in the Compound v2 market ${collateralMarket} on Local chain could not be read.`,
    ]);
  });

  it("reports that a debt may be missing when the comptroller lists only new markets that cannot be read", async () => {
    const spoil = (call: { to: string }, result: Hex | null) =>
      pool.markets.some((market) => market === call.to) ? null : result;
    const at = openRecordedChain({ chain, calls, spoil });
    const result = await readerOf({ ...pool, markets: [] }).read({ at, wallet, holdings: [] }, signal);
    expect([result.positions, result.hasUnreadDebt]).toEqual([[], true]);
  });
});
