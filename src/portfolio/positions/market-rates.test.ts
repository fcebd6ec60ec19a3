// What readers say beside positions reaches the valuation: rates against priced assets, and shares that no market trades.
import { describe, expect, it } from "vitest";
import {
  ETHER_ASSET,
  makeChainAccess,
  makeChainConfig,
  makeHolding,
  makeListedToken,
  makePosition,
  makeSnapshot,
  numberedContract,
  TEST_WALLET,
} from "../../../tests/support/portfolio/portfolio-parts.ts";
import { readChainData } from "../snapshot.ts";
import { type Asset, getAssetKey, type Holding, type PositionResult, quotePrice } from "../types.ts";

const signal = new AbortController().signal;
const staked = makeListedToken(1, "rETH");
const chain = makeChainConfig("base", 8453, [staked]);
const oracle = numberedContract(9);

async function readWith(
  result: Partial<PositionResult>,
  priced: readonly Asset[],
  holdings: readonly Holding[],
) {
  const prices = new Map(
    priced.map((asset) => [getAssetKey(asset), quotePrice({ units: 3_000n, scale: 0 }, { timestamp: 5 })]),
  );
  return readChainData(
    {
      provider: { name: "double", read: async () => ({ holdings, activity: [], warnings: [] }) },
      positionReaders: [
        { protocol: "Stake", read: async () => ({ positions: [], warnings: [], ...result }) },
      ],
      priceSources: [[{ name: "feed", read: async () => ({ prices, warnings: [] }) }]],
    },
    makeChainAccess(chain),
    TEST_WALLET,
    signal,
  );
}

describe("a rate of a protocol", () => {
  const rate = { units: 115n, scale: 2 };
  const positions = [
    makePosition({
      protocol: "Stake",
      assets: [
        { ...makeHolding(staked, 10n ** 18n), marketRate: { asset: ETHER_ASSET, rate, contract: oracle } },
      ],
    }),
  ];

  it("becomes the market price when the other asset has a price, though the wallet holds none of it", async () => {
    const data = await readWith({ positions }, [ETHER_ASSET], []);
    expect(data.positions[0]?.assets[0]?.marketPrice).toEqual({
      usd: { units: 345_000n, scale: 2 },
      contract: oracle,
      timestamp: null,
      payableUsdMax: null,
      provesToken: false,
      source: "Stake",
    });
  });

  it("says nothing when the other asset has none", async () => {
    const data = await readWith({ positions }, [], []);
    expect(data.positions[0]?.assets[0]?.marketPrice).toBeUndefined();
  });
});

describe("a share of a vault that nothing vouches for", () => {
  const share = { ...makeListedToken(7, "vUSDC"), name: "Vault shares" };
  const holdings = [makeHolding(share, 10n ** 18n)];

  it("has no value and is not spam", async () => {
    const data = await readWith({ unmarketedTokens: new Set([share.contract]) }, [], holdings);
    expect(makeSnapshot(data).tokens).toMatchObject([{ symbol: "vUSDC", valueUsd: null, spam: false }]);
  });

  it("is spam when its name is a lure", async () => {
    const lure = { ...share, name: "Claim at vault.com" };
    const data = await readWith({ unmarketedTokens: new Set([share.contract]) }, [], [makeHolding(lure, 1n)]);
    expect(makeSnapshot(data).tokens).toMatchObject([{ spam: true }]);
  });

  it("is spam like every unlisted token without a price when it is no share", async () => {
    const data = await readWith({}, [], holdings);
    expect(makeSnapshot(data).tokens).toMatchObject([{ spam: true }]);
  });
});
