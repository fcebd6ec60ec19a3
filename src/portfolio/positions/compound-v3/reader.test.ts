// Compound v3: the shared suite, unreadable markets, and the market data.
import { describe, expect, it } from "vitest";
import recording from "../../../../tests/fixtures/positions/compound-v3.json" with { type: "json" };
import * as fixture from "../../../../tests/fixtures/positions/compound-v3.ts";
import { FIXTURE_WALLET } from "../../../../tests/fixtures/positions/fixture-chain.ts";
import { openRecordedChain, openRecordedMoment } from "../../../../tests/support/chain/recorded-chain.ts";
import {
  makeChainData,
  makePrices,
  makeSnapshot,
} from "../../../../tests/support/portfolio/portfolio-parts.ts";
import { describePositionReader } from "../../../../tests/support/portfolio/position-reader-suite.ts";
import { formatDecimal } from "../../../lib/decimal.ts";
import { COMPOUND_V3_MARKETS } from "./contracts.ts";
import { createCompoundV3Reader } from "./reader.ts";

const { NEW_COLLATERAL, COMET_USDC: USDC, USDC_COMET, COMET_WETH: WETH, WETH_COMET } = fixture;
const reader = createCompoundV3Reader(COMPOUND_V3_MARKETS);
const signal = new AbortController().signal;
const OTHER_WALLET = `0x${"5e".repeat(20)}` as const;
const markets = [...fixture.otherComets, USDC_COMET, WETH_COMET];
const common = { protocol: "compound-v3", receiptTokens: [] } as const;

describe("Compound v3", () => {
  describePositionReader({
    reader,
    chain: fixture.cometChainConfig,
    wallet: FIXTURE_WALLET,
    holdings: [],
    calls: fixture.cometCalls,
    expected: [
      {
        ...common,
        kind: "borrowed",
        name: "Compound v3 USDC: USDC",
        contract: USDC_COMET,
        market: USDC_COMET,
        assets: [{ ...USDC, rawBalance: 2_000_123456n }],
      },
      {
        ...common,
        kind: "supplied",
        name: "Compound v3 WETH: WETH",
        contract: WETH_COMET,
        market: WETH_COMET,
        assets: [{ ...WETH, rawBalance: 4_000000000000000007n }],
        receiptTokens: [WETH_COMET],
      },
      {
        ...common,
        kind: "supplied",
        name: "Compound v3 USDC: WETH",
        contract: USDC_COMET,
        market: USDC_COMET,
        assets: [{ ...WETH, rawBalance: 1_500000000000000000n }],
      },
      {
        ...common,
        kind: "supplied",
        name: "Compound v3 USDC: NEW",
        contract: USDC_COMET,
        market: USDC_COMET,
        assets: [
          {
            contract: NEW_COLLATERAL,
            symbol: "NEW",
            name: "New Collateral",
            decimals: 18,
            logo: null,
            rawBalance: 250000000000000001n,
            marketRate: fixture.newCollateralRate,
          },
        ],
      },
    ],
    emptyCalls: markets.flatMap((comet) => fixture.emptyAccountCalls(comet, OTHER_WALLET)),
    roundsMax: 3,
    requestsMax: 6,
  });

  it("warns about a market that could not be read and returns the others", async () => {
    const spoil = (call: { to: string }, result: `0x${string}` | null) =>
      call.to === USDC_COMET ? null : result;
    const at = openRecordedChain({ chain: fixture.cometChainConfig, calls: fixture.cometCalls, spoil });
    const { positions, warnings } = await reader.read({ at, wallet: FIXTURE_WALLET, holdings: [] }, signal);
    expect(positions.map(({ contract }) => contract)).toEqual([WETH_COMET]);
    expect(warnings).toEqual(["Balances in the Compound v3 market USDC on Base could not be read."]);
  });

  it("lists each market once", () => {
    for (const [, comets] of COMPOUND_V3_MARKETS) {
      const addresses = comets.map(({ comet }) => comet);
      expect(new Set(addresses).size).toBe(addresses.length);
      expect(addresses.every((address) => /^0x[0-9a-f]{40}$/.test(address))).toBe(true);
    }
  });
});

describe("Compound v3 by its own code", () => {
  const { base, collateral } = recording;
  const { views } = recording.cases.borrowed;
  const comet = recording.comet as `0x${string}`;
  const record = openRecordedMoment(recording.cases.borrowed);
  const { chain } = record;
  const read = (isInDollars: boolean, at = openRecordedChain(record)) =>
    createCompoundV3Reader(new Map([[31337, [{ name: "Test", comet, isInDollars }]]])).read(
      { at, wallet: recording.wallet as `0x${string}`, holdings: [] },
      signal,
    );
  const valueAccount = async (isInDollars: boolean, prices: Parameters<typeof makePrices>[0]) => {
    const { positions } = await read(isInDollars);
    const more = { positions, prices: makePrices(prices) };
    return makeSnapshot(makeChainData(chain, more)).summary.totalValueUsd;
  };
  /** In dollars with 8 decimals, rounded to 6. */
  const owned = (BigInt(views.collateral) * BigInt(views.collateralPrice)) / 10n ** 18n;
  const owed = (BigInt(views.borrowed) * BigInt(views.basePrice)) / 10n ** 6n;

  it("returns what the market's own views return", async () => {
    const { positions, warnings } = await read(true);
    expect(warnings).toEqual([]);
    expect(positions.map(({ kind, market, assets: [asset] }) => [kind, market, asset?.contract])).toEqual([
      ["borrowed", comet, base],
      ["supplied", comet, collateral],
    ]);
    expect(positions.map(({ assets: [asset] }) => asset?.rawBalance)).toEqual([
      BigInt(views.borrowed),
      BigInt(views.collateral),
    ]);
  });

  it("values the account by the feeds of the market when no source knows a price", async () => {
    expect(await valueAccount(true, {})).toBe(
      formatDecimal({ units: (owned - owed + 50n) / 100n, scale: 6 }),
    );
  });

  it("prices a collateral in the base asset, whatever the market counts in", async () => {
    const doubled = BigInt(views.basePrice) * 2n;
    const usd = formatDecimal({ units: doubled, scale: 8 });
    expect(await valueAccount(false, {})).toBeNull();
    const total = await valueAccount(false, { [base as `0x${string}`]: usd });
    expect(Number(total)).toBeCloseTo(Number(2n * (owned - owed)) / 1e8, 4);
  });
});
