// eETH counts as the weETH that it can be wrapped into, and weETH keeps its own price: the shared suite.
import { describe } from "vitest";
import { describePositionReader } from "../../../../tests/support/portfolio/position-reader-suite.ts";
import { FIXTURE_WALLET } from "../fixture-chain.ts";
import { createRateReader } from "../rate-reader.ts";
import { EETH, EETH_RATE, etherFiCalls, etherFiChainConfig, WEETH, WEETH_RATE } from "./fixture.ts";
import { ETHER_FI_TOKENS } from "./markets.ts";

const ether = { contract: null, symbol: "ETH", name: "Ether", decimals: 18, logo: null };
const eEth = { ...EETH, rawBalance: 5_000000000000000001n };
const weEth = { ...WEETH, rawBalance: 3n };

describe("ether.fi", () => {
  describePositionReader({
    reader: createRateReader("ether-fi", ETHER_FI_TOKENS),
    chain: etherFiChainConfig,
    wallet: FIXTURE_WALLET,
    holdings: [eEth, weEth],
    calls: etherFiCalls,
    expected: [
      {
        protocol: "ether-fi",
        kind: "staked",
        name: "ether.fi weETH",
        contract: WEETH.contract,
        assets: [
          {
            ...weEth,
            marketRate: {
              per: ether,
              rate: { units: WEETH_RATE, scale: 18 },
              source: "ether-fi",
              contract: WEETH.contract,
              timestamp: null,
            },
          },
        ],
        receiptTokens: [WEETH.contract],
      },
      {
        protocol: "ether-fi",
        kind: "staked",
        name: "ether.fi eETH",
        contract: EETH.contract,
        assets: [
          {
            ...eEth,
            marketRate: {
              ...{ source: "ether-fi", timestamp: null },
              per: {
                contract: WEETH.contract,
                symbol: "weETH",
                name: "Wrapped eETH",
                decimals: 18,
                logo: null,
              },
              rate: { units: EETH_RATE, scale: 18 },
              contract: WEETH.contract,
            },
          },
        ],
        receiptTokens: [EETH.contract],
      },
    ],
    roundsMax: 1,
    requestsMax: 1,
  });
});
