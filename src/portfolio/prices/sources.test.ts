// The order of trust: feeds and Aave together, then spot prices, and HTTP only when configured.
import { describe, expect, it } from "vitest";
import { openRecordedChain, readChainRecord } from "../../../tests/support/chain/recorded-chain.ts";
import { nativeAsset, priceTexts } from "../../../tests/support/portfolio/price-source-suite.ts";
import { createPriceSources } from "./sources.ts";

describe("the price sources", () => {
  it("groups price sources by decreasing trust", () => {
    const names = (groups: ReturnType<typeof createPriceSources>) =>
      groups.map((group) => group.map(({ name }) => name));
    expect(names(createPriceSources())).toEqual([["chainlink", "aave-oracle"], ["pools"]]);
    expect(names(createPriceSources({ defiLlama: {} })).at(-1)).toEqual(["defillama"]);
  });

  it("prices a local chain with its own feeds", async () => {
    const record = readChainRecord(
      new URL("../../../tests/fixtures/prices/handwritten/chainlink.json", import.meta.url),
    );
    const feed = { feed: "0x71041dddad3595f9ced3dccfbe3d1f4b0a16bb70", heartbeatSeconds: 3_600 } as const;
    const feeds = new Map([[31_337, { native: feed, sequencer: null, tokens: {} }]]);
    const chainlink = createPriceSources({ feeds, aaveMarkets: new Map(), spotMarkets: new Map() })[0]?.[0];
    const at = openRecordedChain({ ...record, chain: { ...record.chain, chainId: 31_337 } });
    const result = await chainlink?.read({ at, assets: [nativeAsset] }, new AbortController().signal);
    expect(result && priceTexts(result)).toEqual({ native: "3182.45713042" });
  });
});
