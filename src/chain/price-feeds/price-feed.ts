// Describes one chain's price feeds: which feed prices which asset, and how often it must speak.
import type { Hex } from "../../lib/hex.ts";

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
