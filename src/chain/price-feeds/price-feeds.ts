// Every chain whose Chainlink feeds are known, by chain id.
import { arbitrumFeeds } from "./arbitrum.ts";
import { baseFeeds } from "./base.ts";
import { ethereumFeeds } from "./ethereum.ts";
import { optimismFeeds } from "./optimism.ts";
import { polygonFeeds } from "./polygon.ts";
import type { ChainPriceFeeds } from "./price-feed.ts";

export const CHAINLINK_FEEDS: ReadonlyMap<number, ChainPriceFeeds> = new Map([
  [1, ethereumFeeds],
  [10, optimismFeeds],
  [137, polygonFeeds],
  [8453, baseFeeds],
  [42161, arbitrumFeeds],
]);
