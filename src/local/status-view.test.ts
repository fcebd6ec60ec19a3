// The banner of a local run fits a terminal, except commands and URLs that are copied whole.
import { expect, it } from "vitest";
import { formatLocalBanner } from "./status-view.ts";

it("fits the sentences of the banner into 80 columns", () => {
  const url = "http://127.0.0.1:3001";
  const run = {
    urls: { api: url, portfolio: url, facilitator: url },
    simulation: {
      rpcUrl: url,
      deployment: { chainId: 31_337, contracts: { IntentBook: `0x${"11".repeat(20)}` } },
      accounts: { payer: { address: `0x${"22".repeat(20)}` } },
    },
    markets: [{ slug: "ethereum", rpcUrl: url, chainId: 1 }],
    offer: { amount: 10_000n, decimals: 6 },
    file: ".sextant/local.json",
  } as unknown as Parameters<typeof formatLocalBanner>[0];
  const lines = formatLocalBanner(run).split("\n");
  expect(lines.length).toBeGreaterThan(30);
  const sentences = lines.filter((line) => !/^ {4}(?:curl|node|http)/.test(line));
  expect(sentences.filter((line) => line.length > 80)).toEqual([]);
});
