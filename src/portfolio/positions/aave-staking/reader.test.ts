// Aave's stakes on what Aave's own contracts returned: the shared suite, every state, and the data against the address book.
import { AaveSafetyModule, UmbrellaEthereum } from "@aave-dao/aave-address-book";
import { describe, expect, it } from "vitest";
import recording from "../../../../tests/fixtures/positions/aave-staking.json" with { type: "json" };
import { openRecordedChain, openRecordedMoment } from "../../../../tests/support/chain/recorded-chain.ts";
import { describePositionReader } from "../../../../tests/support/portfolio/position-reader-suite.ts";
import type { Hex } from "../../../lib/hex.ts";
import { AAVE_STAKE_TOKENS, type AaveStakeToken, createAaveStakingReader } from "./reader.ts";

const wallet = recording.wallet as Hex;
const tokens = recording.tokens as readonly AaveStakeToken[];
const reader = createAaveStakingReader(new Map([[31337, tokens]]));
const { cases } = recording;
const ASSETS = [
  { contract: recording.aave as Hex, symbol: "AAVE", decimals: 18 },
  { contract: recording.gho as Hex, symbol: "GHO", decimals: 18 },
  { contract: recording.usdc as Hex, symbol: "USDC", decimals: 6 },
];

const expectPositions = (views: Readonly<Record<"aave" | "gho" | "usdc", string>>) =>
  tokens.map(({ name, token }, index) => {
    const asset = ASSETS[index] as (typeof ASSETS)[number];
    const amount = BigInt([views.aave, views.gho, views.usdc][index] ?? 0);
    return {
      ...{ protocol: "aave-staking", kind: "staked" as const, name: `Aave ${name}`, contract: token },
      assets: [{ ...asset, name: asset.symbol, logo: null, rawBalance: amount }],
      receiptTokens: [token],
    };
  });

describe("Aave staking", () => {
  const moment = openRecordedMoment(cases.slashed);
  describePositionReader({
    ...{ reader, wallet, ...moment, emptyCalls: moment.calls },
    expected: expectPositions(cases.slashed.views),
    roundsMax: 3,
    requestsMax: 6,
  });

  const read = async (each: Parameters<typeof openRecordedMoment>[0]) => {
    const { holdings, ...record } = openRecordedMoment(each);
    const query = { at: openRecordedChain(record), wallet, holdings };
    return reader.read(query, new AbortController().signal);
  };
  it.each(["staked", "in cooldown", "slashed", "paused"] as const)(
    "counts with what a redemption would pay: %s",
    async (name) => {
      expect(await read(cases[name])).toEqual({
        positions: expectPositions(cases[name].views),
        warnings: [],
      });
    },
  );

  it("the recorded stakes are worth less after a slashing", () => {
    for (const asset of ["aave", "gho", "usdc"] as const)
      expect(BigInt(cases.slashed.views[asset])).toBeLessThan(BigInt(cases["in cooldown"].views[asset]));
  });

  it("finds nothing once everything was redeemed", async () => {
    expect(await read(cases.emptied)).toEqual({ positions: [], warnings: [] });
  });

  it("covers the stake tokens of the address book", () => {
    const { STK_AAVE: stkAave, STK_GHO, STK_ABPT, STK_AAVE_WSTETH_BPTV2 } = AaveSafetyModule;
    const umbrella = Object.values(UmbrellaEthereum.UMBRELLA_STAKE_ASSETS).map((stake) => stake.STAKE_TOKEN);
    expect(AAVE_STAKE_TOKENS.get(1)?.map(({ token }) => token)).toEqual(
      [stkAave, STK_GHO, STK_ABPT, STK_AAVE_WSTETH_BPTV2, ...umbrella].map((token) => token.toLowerCase()),
    );
  });
});
