// Every chain whose Chainlink feeds are known, by chain id; scripts/price-feeds.ts writes their data files.

import type { Hex } from "../../lib/hex.ts";
import { shape } from "../../lib/json-shape.ts";
import { readChainData } from "../chain-data.ts";
import { findChainById } from "../chains/chains.ts";

export type ChainlinkFeed = {
  readonly feed: Hex;
  /** The feed publishes at least this often, even when the price does not move. */
  readonly heartbeatSeconds: number;
  /** Another feed of the same pair, used while this one gives no price. */
  readonly fallback?: ChainlinkFeed;
};

export type ChainPriceFeeds = {
  readonly native: ChainlinkFeed | null;
  /** The token that can always be exchanged one to one for the native coin. */
  readonly wrappedNative?: Hex;
  /** Says whether the chain's sequencer runs; null if the chain has none. */
  readonly sequencer: Hex | null;
  /** Feeds by lower-case token address. */
  readonly tokens: Readonly<Record<Hex, ChainlinkFeed>>;
};

const feed = { feed: shape.address, heartbeatSeconds: shape.integer };

const chainlinkFeeds = shape.object({
  native: shape.object({ ...feed, fallback: shape.optional(shape.object(feed)) }),
  sequencer: shape.nullable(shape.address),
  tokens: shape.list(
    shape.object({ symbol: shape.text, token: shape.address, ...feed }),
    ({ token }) => token,
  ),
});

export const CHAINLINK_FEEDS: ReadonlyMap<number, ChainPriceFeeds> = new Map(
  [...readChainData("price-feeds", "chainlink", chainlinkFeeds)].map(
    ([chainId, { native, sequencer, tokens }]): [number, ChainPriceFeeds] => {
      const wrappedNative = findChainById(chainId)?.wrappedNative;
      const priced = tokens.map(({ token, symbol: _, ...own }) => [token, own] as const);
      const wrapped = wrappedNative === undefined ? [] : [[wrappedNative, native] as const];
      return [
        chainId,
        {
          native,
          sequencer,
          tokens: Object.fromEntries([...wrapped, ...priced]),
          ...(wrappedNative && { wrappedNative }),
        },
      ];
    },
  ),
);
