// wstETH as staked ether, and withdrawals: the shared suite for each, and wallets or results without a position.
import { describe, expect, it } from "vitest";
import { openRecordedChain } from "../../../../tests/support/chain/recorded-chain.ts";
import { describePositionReader } from "../../../../tests/support/portfolio/position-reader-suite.ts";
import type { Holding } from "../../types.ts";
import { FIXTURE_WALLET, fixtureChainConfig, fixtureToken } from "../fixture-chain.ts";
import {
  CLAIMABLE_AMOUNT,
  noWithdrawalCalls,
  ST_ETH_ADDRESS,
  ST_ETH_AMOUNT,
  WAITING_AMOUNT,
  WITHDRAWAL_QUEUE,
  WST_ETH_ADDRESS,
  WST_ETH_BALANCE,
  withdrawalCalls,
  wstEthCalls,
} from "./fixture.ts";
import { LIDO_MARKETS } from "./markets.ts";
import { createLidoReader } from "./reader.ts";

const wstEth = fixtureToken(WST_ETH_ADDRESS, "wstETH", 18, "Wrapped liquid staked Ether 2.0");
const chain = fixtureChainConfig(1, "Ethereum", [wstEth]);
const wallet = FIXTURE_WALLET;
const held: Holding = { ...wstEth, rawBalance: WST_ETH_BALANCE };
const signal = new AbortController().signal;
const reader = createLidoReader(LIDO_MARKETS);
const stEth = {
  contract: ST_ETH_ADDRESS,
  symbol: "stETH",
  name: "Liquid staked Ether 2.0",
  decimals: 18,
  logo: null,
};
const OTHER_WALLET = `0x${"5e".repeat(20)}` as const;

describe("wstETH", () => {
  describePositionReader({
    reader,
    chain,
    wallet,
    holdings: [held],
    calls: [...wstEthCalls, ...noWithdrawalCalls(wallet)],
    emptyCalls: noWithdrawalCalls(OTHER_WALLET),
    expected: [
      {
        protocol: "lido",
        kind: "staked",
        name: "Wrapped staked ether",
        contract: WST_ETH_ADDRESS,
        assets: [
          {
            contract: ST_ETH_ADDRESS,
            symbol: "stETH",
            name: "Liquid staked Ether 2.0",
            decimals: 18,
            logo: null,
            rawBalance: ST_ETH_AMOUNT,
          },
        ],
        receiptTokens: [WST_ETH_ADDRESS],
      },
    ],
    roundsMax: 1,
    requestsMax: 5,
  });

  it("rejects more stETH than its total supply", async () => {
    const supply = "totalSupply() view returns (uint256)";
    const calls = [...wstEthCalls, ...noWithdrawalCalls(wallet)].map((call) =>
      call.function === supply ? { ...call, result: ST_ETH_AMOUNT - 1n } : call,
    );
    const result = await reader.read(
      { at: openRecordedChain({ chain, calls }), wallet, holdings: [held] },
      signal,
    );
    expect(result.positions).toEqual([]);
    expect(result.warnings).toEqual([
      "The rate of wstETH on Ethereum could not be read; it is shown as a token.",
    ]);
  });
});

describe("withdrawals from Lido", () => {
  const waiting = (name: string, asset: Holding) => ({
    ...{ protocol: "lido", kind: "staked" as const, name, contract: WITHDRAWAL_QUEUE },
    ...{ assets: [asset], receiptTokens: [] },
  });
  describePositionReader({
    reader,
    chain,
    wallet,
    holdings: [],
    calls: [...wstEthCalls, ...withdrawalCalls(wallet)],
    emptyCalls: noWithdrawalCalls(OTHER_WALLET),
    expected: [
      waiting("Lido: ether to claim", {
        ...{ contract: null, symbol: "ETH", name: "Ether", decimals: 18, logo: null },
        rawBalance: CLAIMABLE_AMOUNT,
      }),
      waiting("Lido: withdrawal requested", { ...stEth, rawBalance: WAITING_AMOUNT }),
    ],
    roundsMax: 3,
    requestsMax: 7,
  });
});
