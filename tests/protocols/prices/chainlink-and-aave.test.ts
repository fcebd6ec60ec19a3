// Feeds and Aave's oracle by their own bytecode: no stale price comes back, and the native coin is worth its wrapped token.
import type { Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ChainPriceFeeds } from "../../../src/chain/price-feeds/price-feeds.ts";
import { type Artifact, compileSources } from "../support/artifacts.ts";
import {
  ageFeed,
  assetOf,
  collect,
  DAY_SECONDS,
  deployAaveOracle,
  deployFeed,
  type Feed,
  type LabSources,
  openPriceLab,
  type PriceLab,
} from "./price-lab.ts";

const ETHER = 3_123_45678901n;
const OTHER: Hex = `0x${"0e".repeat(20)}`;

let lab: PriceLab;
let weth: Hex;
beforeAll(async () => {
  lab = await openPriceLab();
  weth = (await lab.deployToken()).address;
});
afterAll(() => lab?.stop());

function feedsOf(
  feed: Feed | null,
  heartbeatSeconds: number,
  more: Partial<ChainPriceFeeds> = {},
): ChainPriceFeeds {
  const native = feed && { feed: feed.proxy, heartbeatSeconds };
  return { native, wrappedNative: weth, sequencer: null, tokens: native ? { [weth]: native } : {}, ...more };
}

async function read(sources: LabSources, assets = [assetOf(null), assetOf(weth)]) {
  return collect(await lab.pin(), sources, assets);
}

describe("a feed that Aave reads too", () => {
  it("a feed is not believed through Aave when it is 200 days old", async () => {
    const feed = await deployFeed(lab, ETHER);
    const oracle = await deployAaveOracle(lab, [[weth, feed.proxy]]);
    const sources = { feeds: feedsOf(feed, DAY_SECONDS), aave: { oracle, reserves: [weth] } };
    expect((await read(sources)).texts).toEqual(["3123.45678901 chainlink", "3123.45678901 chainlink"]);
    await ageFeed(lab, feed, ETHER, 200 * DAY_SECONDS);
    expect((await read(sources)).texts).toEqual([null, null]);
  });

  it("an old feed is not believed for an asset that only Aave prices, either", async () => {
    const feed = await deployFeed(lab, ETHER);
    const oracle = await deployAaveOracle(lab, [[OTHER, feed.proxy]]);
    const sources = { feeds: feedsOf(null, 0), aave: { oracle, reserves: [OTHER] } };
    const fresh = await read(sources, [assetOf(OTHER)]);
    expect(fresh.texts).toEqual(["3123.45678901 aave-oracle"]);
    expect(fresh.prices.get(OTHER)?.timestamp).toBeGreaterThan(0);
    await ageFeed(lab, feed, ETHER, DAY_SECONDS + 301);
    expect((await read(sources, [assetOf(OTHER)])).texts).toEqual([null]);
  });

  it("a feed from the future is not believed through Aave", async () => {
    const feed = await deployFeed(lab, ETHER);
    const oracle = await deployAaveOracle(lab, [[weth, feed.proxy]]);
    const sources = { feeds: feedsOf(feed, DAY_SECONDS), aave: { oracle, reserves: [weth] } };
    await ageFeed(lab, feed, ETHER, -3_600);
    expect((await read(sources)).texts).toEqual([null, null]);
  });
});

describe("the native coin", () => {
  it("takes the price of its wrapped token from a fresh source of Aave", async () => {
    const [ours, aaves] = [await deployFeed(lab, ETHER), await deployFeed(lab, 3_000_00000000n)];
    const oracle = await deployAaveOracle(lab, [[weth, aaves.proxy]]);
    await ageFeed(lab, ours, ETHER, 1_600);
    const sources = { feeds: feedsOf(ours, 1_200), aave: { oracle, reserves: [weth] } };
    expect((await read(sources)).texts).toEqual(["3000 aave-oracle", "3000 aave-oracle"]);
  });

  it("takes the feed of its wrapped token, and the other way round", async () => {
    const feed = await deployFeed(lab, ETHER);
    const own = { feed: feed.proxy, heartbeatSeconds: 1_200 };
    for (const more of [
      { native: null, tokens: { [weth]: own } },
      { native: own, tokens: {} },
    ]) {
      const { texts } = await read({ feeds: feedsOf(null, 0, more) });
      expect(texts).toEqual(["3123.45678901 chainlink", "3123.45678901 chainlink"]);
    }
  });

  it("falls back to a second feed of the pair, with 18 decimals", async () => {
    const [first, second] = [
      await deployFeed(lab, ETHER),
      await deployFeed(lab, 3_111_500000000000000001n, 18),
    ];
    await ageFeed(lab, first, ETHER, 1_600);
    const fallback = { feed: second.proxy, heartbeatSeconds: 1_200 };
    const native = { feed: first.proxy, heartbeatSeconds: 1_200, fallback };
    const { texts } = await read({ feeds: feedsOf(null, 0, { native }) });
    expect(texts[0]).toBe("3111.500000000000000001 chainlink");
  });
});

describe("an adapter of Aave", () => {
  const ADAPTERS = `pragma solidity ^0.8.0;
    contract Adapter { address public immutable BASE_TO_USD_AGGREGATOR; constructor(address base) { BASE_TO_USD_AGGREGATOR = base; }
      function latestAnswer() external pure returns (int256) { return 2_00000000; } }
    contract Plain { function latestAnswer() external pure returns (int256) { return 2_00000000; } }`;

  it("takes an adapter's age from the feed beneath it, and as unknown without one", async () => {
    const { Adapter, Plain } = await compileSources({ "adapters.sol": ADAPTERS });
    const feed = await deployFeed(lab, ETHER);
    const adapter = await lab.deployer.deploy(Adapter as Artifact, [feed.proxy]);
    const plain = await lab.deployer.deploy(Plain as Artifact);
    const [withBase, without] = [OTHER, `0x${"0f".repeat(20)}` as Hex];
    const oracle = await deployAaveOracle(lab, [
      [withBase, adapter.address],
      [without, plain.address],
      [weth, plain.address],
    ]);
    // Our own feed of the wrapped coin is stale: an age that cannot be seen does not replace it.
    const ours = await deployFeed(lab, ETHER);
    await ageFeed(lab, ours, ETHER, 1_600);
    const sources = {
      feeds: feedsOf(ours, 1_200),
      aave: { oracle, reserves: [withBase, without, weth] },
    };
    const assets = [assetOf(withBase), assetOf(without), assetOf(weth)];
    const fresh = await read(sources, assets);
    expect(fresh.texts).toEqual(["2 aave-oracle", "2 aave-oracle", null]);
    expect(fresh.prices.get(withBase)?.timestamp).toBeGreaterThan(0);
    expect(fresh.prices.get(without)?.timestamp).toBeNull();
    await ageFeed(lab, feed, ETHER, 200 * DAY_SECONDS);
    expect((await read(sources, assets)).texts).toEqual([null, "2 aave-oracle", null]);
  });
});

describe("an odd feed", () => {
  const ODD = `pragma solidity ^0.8.0;
    contract Reverting { fallback() external { revert("no access"); } }
    contract Huge { fallback() external { assembly { return(0, 1000000) } } }`;

  it.each([0n, -1n])("a feed that says %s has no price", async (answer) => {
    const feed = await deployFeed(lab, answer);
    const oracle = await deployAaveOracle(lab, [[weth, feed.proxy]]);
    const { texts } = await read({ feeds: feedsOf(feed, 1_200), aave: { oracle, reserves: [weth] } });
    expect(texts).toEqual([null, null]);
  });

  it.each(["Reverting", "Huge"])("a feed that is %s costs only its own price", async (name) => {
    const compiled = await compileSources({ "odd.sol": ODD });
    const odd = await lab.deployer.deploy(compiled[name] as Artifact);
    const feed = await deployFeed(lab, ETHER);
    const tokens = { [OTHER]: { feed: odd.address, heartbeatSeconds: 1_200 } };
    const oracle = await deployAaveOracle(lab, [
      [weth, feed.proxy],
      [OTHER, odd.address],
    ]);
    const sources = { feeds: feedsOf(feed, 1_200, { tokens }), aave: { oracle, reserves: [weth, OTHER] } };
    const { texts } = await read(sources, [assetOf(null), assetOf(OTHER)]);
    expect(texts).toEqual(["3123.45678901 chainlink", null]);
  });
});
