// Aave v3: the shared suite, and reserves that the data files lack.
import { describe, expect, it } from "vitest";
import * as fixture from "../../../../tests/fixtures/positions/aave-v3.ts";
import { FIXTURE_WALLET } from "../../../../tests/fixtures/positions/fixture-chain.ts";
import { openRecordedChain } from "../../../../tests/support/chain/recorded-chain.ts";
import { describePositionReader } from "../../../../tests/support/portfolio/position-reader-suite.ts";
import { AAVE_V3_MARKETS } from "./markets.ts";
import { createAaveV3Reader } from "./reader.ts";

const { A_USDC, A_WETH, BASE_USDC, BASE_WETH, DEBT_USDC, NEW_A_TOKEN, NEW_UNDERLYING } = fixture;
const ZERO = `0x${"00".repeat(32)}` as const;
const signal = new AbortController().signal;
const reader = createAaveV3Reader(AAVE_V3_MARKETS);
const chain = fixture.aaveChainConfig;
const common = { protocol: "aave-v3", market: fixture.aaveBase.pool } as const;
const known = [
  {
    ...common,
    kind: "supplied",
    name: "Aave v3 Base: WETH",
    contract: A_WETH,
    assets: [{ ...BASE_WETH, rawBalance: 2_500000000000001234n }],
    receiptTokens: [A_WETH],
  },
  {
    ...common,
    kind: "supplied",
    name: "Aave v3 Base: USDC",
    contract: A_USDC,
    assets: [{ ...BASE_USDC, rawBalance: 1_000_000001n }],
    receiptTokens: [A_USDC],
  },
  {
    ...common,
    kind: "borrowed",
    name: "Aave v3 Base: USDC",
    contract: DEBT_USDC,
    assets: [{ ...BASE_USDC, rawBalance: 3_141_592653n }],
    receiptTokens: [DEBT_USDC],
  },
] as const;
const added = {
  ...common,
  kind: "supplied",
  name: "Aave v3 Base: NEW",
  contract: NEW_A_TOKEN,
  assets: [
    {
      contract: NEW_UNDERLYING,
      symbol: "NEW",
      name: "New Reserve",
      decimals: 8,
      logo: null,
      rawBalance: 777n,
      marketPrice: fixture.newMarketPrice,
    },
  ],
  receiptTokens: [NEW_A_TOKEN],
} as const;

describe("Aave v3", () => {
  describePositionReader({
    reader,
    chain,
    wallet: FIXTURE_WALLET,
    holdings: [],
    calls: fixture.aaveCalls,
    otherwise: ZERO,
    expected: [...known, added],
    emptyCalls: [fixture.knownReservesCall],
    roundsMax: 3,
    requestsMax: 6,
  });

  it("needs one round trip when the pool has no new reserve", async () => {
    const calls = [...fixture.knownPositionCalls, fixture.knownReservesCall];
    const at = openRecordedChain({ chain, calls, otherwise: ZERO });
    expect(await reader.read({ at, wallet: FIXTURE_WALLET, holdings: [] }, signal)).toEqual({
      positions: known,
      warnings: [],
    });
    expect(at.rounds.length).toBe(1);
  });

  it("prefers the metadata of a held token to the lists", async () => {
    const calls = [...fixture.knownPositionCalls, fixture.knownReservesCall];
    const at = openRecordedChain({ chain, calls, otherwise: ZERO });
    const holdings = [{ ...BASE_WETH, name: "Wrapped Ether from the chain", rawBalance: 1n }];
    const { positions } = await reader.read({ at, wallet: FIXTURE_WALLET, holdings }, signal);
    expect(positions[0]?.assets[0]?.name).toBe("Wrapped Ether from the chain");
  });

  it("returns the readable balances and counts the others in a warning", async () => {
    const calls = [...fixture.knownPositionCalls, fixture.knownReservesCall];
    const spoil = (call: { to: string }, result: `0x${string}` | null) =>
      call.to === A_WETH ? null : result;
    const at = openRecordedChain({ chain, calls, otherwise: ZERO, spoil });
    const { positions, warnings } = await reader.read({ at, wallet: FIXTURE_WALLET, holdings: [] }, signal);
    expect(positions).toEqual(known.slice(1).map((position) => ({ ...position, incomplete: true })));
    expect(warnings).toEqual(["Aave v3 balances on Base that could not be read and are missing: 1."]);
  });
});
