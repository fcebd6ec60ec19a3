// Aave's stakes: the shared suite, and the data against the published address book.
import { AaveSafetyModule, UmbrellaEthereum } from "@aave-dao/aave-address-book";
import { describe, expect, it } from "vitest";
import { describePositionReader } from "../../../../tests/support/portfolio/position-reader-suite.ts";
import { FIXTURE_WALLET } from "../fixture-chain.ts";
import * as fixture from "./fixture.ts";
import { AAVE_STAKE_TOKENS } from "./markets.ts";
import { createAaveStakingReader } from "./reader.ts";

const { AAVE, STK_AAVE, UMBRELLA_USDC, USDC } = fixture;
const common = { protocol: "aave-staking", kind: "staked" } as const;

describe("Aave staking", () => {
  describePositionReader({
    reader: createAaveStakingReader(AAVE_STAKE_TOKENS),
    chain: fixture.stakingChainConfig,
    wallet: FIXTURE_WALLET,
    holdings: [],
    calls: fixture.stakingCalls,
    otherwise: `0x${"00".repeat(32)}`,
    expected: [
      {
        ...{ ...common, name: "Aave stkAAVE", contract: STK_AAVE, receiptTokens: [STK_AAVE] },
        assets: [{ ...AAVE, rawBalance: 7n * 10n ** 18n }],
      },
      {
        ...{ ...common, name: "Aave Umbrella USDC", contract: UMBRELLA_USDC, receiptTokens: [UMBRELLA_USDC] },
        assets: [{ ...USDC, rawBalance: 1_138_500000n }],
      },
    ],
    roundsMax: 3,
    requestsMax: 6,
  });

  it("covers the stake tokens of the address book", () => {
    const { STK_AAVE: stkAave, STK_GHO, STK_ABPT, STK_AAVE_WSTETH_BPTV2 } = AaveSafetyModule;
    const umbrella = Object.values(UmbrellaEthereum.UMBRELLA_STAKE_ASSETS).map((stake) => stake.STAKE_TOKEN);
    expect(AAVE_STAKE_TOKENS.get(1)?.map(({ token }) => token)).toEqual(
      [stkAave, STK_GHO, STK_ABPT, STK_AAVE_WSTETH_BPTV2, ...umbrella].map((token) => token.toLowerCase()),
    );
  });
});
