// rETH keeps its own price, with Rocket Pool's rate behind it: the shared suite, and wallets without it.
import { describe, expect, it } from "vitest";
import { openRecordedChain } from "../../../../tests/support/chain/recorded-chain.ts";
import { describePositionReader } from "../../../../tests/support/portfolio/position-reader-suite.ts";
import { FIXTURE_WALLET } from "../fixture-chain.ts";
import { createRateReader } from "../rate-reader.ts";
import { RETH, RETH_BALANCE, RETH_RATE, rocketPoolCalls, rocketPoolChainConfig } from "./fixture.ts";
import { ROCKET_POOL_TOKENS } from "./markets.ts";

const reader = createRateReader("rocket-pool", ROCKET_POOL_TOKENS);
const held = { ...RETH, rawBalance: RETH_BALANCE };
const ether = { contract: null, symbol: "ETH", name: "Ether", decimals: 18, logo: null };

describe("Rocket Pool", () => {
  describePositionReader({
    reader,
    chain: rocketPoolChainConfig,
    wallet: FIXTURE_WALLET,
    holdings: [held],
    calls: rocketPoolCalls,
    expected: [
      {
        protocol: "rocket-pool",
        kind: "staked",
        name: "Rocket Pool rETH",
        contract: RETH.contract,
        assets: [
          {
            ...held,
            marketRate: {
              per: ether,
              rate: { units: RETH_RATE, scale: 18 },
              source: "rocket-pool",
              contract: RETH.contract,
              timestamp: null,
            },
          },
        ],
        receiptTokens: [RETH.contract],
      },
    ],
    roundsMax: 1,
    requestsMax: 1,
  });

  it("sends no request when the wallet has none", async () => {
    const at = openRecordedChain({ chain: rocketPoolChainConfig, calls: [] });
    const query = { at, wallet: FIXTURE_WALLET, holdings: [] };
    expect(await reader.read(query, new AbortController().signal)).toEqual({ positions: [], warnings: [] });
    expect(at.rounds).toEqual([]);
  });
});
