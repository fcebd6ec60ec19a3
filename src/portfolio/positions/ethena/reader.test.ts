// USDe in cooldown: the shared suite.
import { describe } from "vitest";
import { describePositionReader } from "../../../../tests/support/portfolio/position-reader-suite.ts";
import { FIXTURE_WALLET } from "../fixture-chain.ts";
import { COOLDOWN_AMOUNT, COOLDOWNS_FUNCTION, ethenaChainConfig, STAKED_USDE, USDE } from "./fixture.ts";
import { ETHENA_MARKETS } from "./markets.ts";
import { createEthenaReader } from "./reader.ts";

const cooldownOf = (wallet: string, amount: bigint) => ({
  to: STAKED_USDE,
  function: COOLDOWNS_FUNCTION,
  args: [wallet],
  result: [amount === 0n ? 0n : 1_717_800_000n, amount],
});

describe("Ethena", () => {
  describePositionReader({
    reader: createEthenaReader(ETHENA_MARKETS),
    chain: ethenaChainConfig,
    wallet: FIXTURE_WALLET,
    holdings: [],
    calls: [cooldownOf(FIXTURE_WALLET, COOLDOWN_AMOUNT)],
    emptyCalls: [cooldownOf(`0x${"5e".repeat(20)}`, 0n)],
    expected: [
      {
        protocol: "ethena",
        kind: "staked",
        name: "Ethena: USDe in cooldown",
        contract: STAKED_USDE,
        assets: [{ ...USDE, rawBalance: COOLDOWN_AMOUNT }],
        receiptTokens: [],
      },
    ],
    roundsMax: 1,
    requestsMax: 1,
  });
});
