// sUSDS where it is no vault: the shared suite.
import { describe } from "vitest";
import { describePositionReader } from "../../../../tests/support/portfolio/position-reader-suite.ts";
import { FIXTURE_WALLET } from "../fixture-chain.ts";
import { createRateReader } from "../rate-reader.ts";
import { SSR_ORACLE, SSR_RATE, SUSDS, skyCalls, skyChainConfig, USDS } from "./fixture.ts";
import { SKY_TOKENS } from "./markets.ts";

const held = { ...SUSDS, rawBalance: 1_234_567890123456789012n };

describe("Sky savings", () => {
  describePositionReader({
    reader: createRateReader("sky", SKY_TOKENS),
    chain: skyChainConfig,
    wallet: FIXTURE_WALLET,
    holdings: [held],
    calls: skyCalls,
    expected: [
      {
        protocol: "sky",
        kind: "vault",
        name: "Sky sUSDS",
        contract: SUSDS.contract,
        assets: [
          {
            ...held,
            marketRate: {
              per: USDS,
              rate: { units: SSR_RATE, scale: 27 },
              source: "sky",
              contract: SSR_ORACLE,
              timestamp: null,
            },
          },
        ],
        receiptTokens: [SUSDS.contract],
      },
    ],
    roundsMax: 1,
    requestsMax: 4,
  });
});
