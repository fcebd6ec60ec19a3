// The pinned feeds: well-formed, believed for no longer than Chainlink's directory says, and from a copy that is not too old.
import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { findChainById } from "../chains/chains.ts";
import { readDataFile } from "../data-file.ts";
import { CHAINLINK_FEEDS, type ChainlinkFeed } from "./price-feeds.ts";

type PriceFeedsFile = { readonly chainlink: { readonly sources: readonly string[]; readonly date: string } };

const DAY_SECONDS = 86_400;
// Chainlink changes a heartbeat about once a year and retires feeds after months of notice.
const COPY_AGE_DAYS_MAX = 365;

const chains = [...CHAINLINK_FEEDS];

describe("the feed lists", () => {
  it("names each feed and token by a lower-case address", () => {
    for (const [, { native, sequencer, tokens, wrappedNative }] of chains) {
      const feeds = [native, native?.fallback, ...Object.values(tokens)].map((each) => each?.feed);
      for (const address of [...feeds, sequencer, wrappedNative, ...Object.keys(tokens)]) {
        if (address) expect(address).toMatch(/^0x[0-9a-f]{40}$/);
      }
    }
    expect(chains.map(([id]) => id)).toEqual([1, 10, 137, 8453, 42161]);
    expect(chains.filter(([, { sequencer }]) => sequencer !== null).map(([id]) => id)).toEqual([
      10, 8453, 42161,
    ]);
  });

  it.each(chains)("prices the wrapped coin of chain %i by the feed of its native coin", (_, feeds) => {
    expect(feeds.wrappedNative && feeds.tokens[feeds.wrappedNative]).toBe(feeds.native);
  });

  it.each(chains)("believes no feed of chain %i for more than a day", (_, { native, tokens }) => {
    const seconds = [native, ...Object.values(tokens)].map((each) => each?.heartbeatSeconds);
    for (const each of seconds) expect(each).toSatisfy((value) => value > 0 && value <= DAY_SECONDS);
  });

  it("takes heartbeats below a day from the directory", () => {
    const heartbeat = (chainId: number, feed: string) =>
      Object.values<ChainlinkFeed>(CHAINLINK_FEEDS.get(chainId)?.tokens ?? {}).find(
        (each) => each.feed === feed,
      )?.heartbeatSeconds;
    // ETH / USD and USDC / USD on Arbitrum, POL / USD on Polygon, OP / USD on Optimism, cbBTC / USD on Base.
    expect(heartbeat(42161, "0x639fe6ab55c921f74e7fac1ee960c0b6293ba612")).toBe(1_755);
    expect(heartbeat(42161, "0x50834f3163758fcc1df9973b6e91f0f0f0434ad3")).toBe(255);
    expect(heartbeat(137, "0xab594600376ec9fd91f8e885dadf0ce036862de0")).toBe(27);
    expect(heartbeat(10, "0x0d276fc14719f9292d5c1ea2198673d1f4269246")).toBe(1_200);
    expect(heartbeat(8453, "0x07da0e54543a844a80abe69c8a12f22b3aa59f9d")).toBe(1_200);
  });

  it("copies feeds from a directory that was young enough at the newest commit", () => {
    // Compared with the commit and not with the clock: the same commit passes or fails on every day.
    const committed = execFileSync("git", ["log", "-1", "--format=%cI"], { encoding: "utf8" }).trim();
    for (const [chainId] of chains) {
      const slug = findChainById(chainId)?.slug;
      const { chainlink } = readDataFile(`${slug}/price-feeds.json`) as PriceFeedsFile;
      expect(chainlink.sources).toEqual([expect.stringMatching(/oracle-checks at [0-9a-f]{40}$/)]);
      const ageMs = Date.parse(committed) - Date.parse(chainlink.date);
      const why = `renew the feeds of ${slug} with npm run price-feeds`;
      expect(ageMs / (DAY_SECONDS * 1000), why).toBeLessThan(COPY_AGE_DAYS_MAX);
    }
  });
});
