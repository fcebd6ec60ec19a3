// What is known of one chain's price feeds: which feed prices which asset, and how often it must speak.
import type { Hex } from "../../lib/hex.ts";

export type ChainlinkFeed = {
  readonly feed: Hex;
  /** The feed publishes at least this often, even when the price does not move. */
  readonly heartbeatSeconds: number;
  /** Another feed of the same pair, used while this one gives no price. */
  readonly fallback?: ChainlinkFeed;
};

/** A public copy of Chainlink's directory of feeds, which itself cannot be read without a network. */
type DirectoryCopy = {
  readonly repository: string;
  readonly commit: string;
  /** When the copy was made, as YYYY-MM-DD. */
  readonly date: string;
};

export type ChainPriceFeeds = {
  readonly native: ChainlinkFeed | null;
  /** The token that can always be exchanged one to one for the native coin. */
  readonly wrappedNative?: Hex;
  /** Says whether the chain's sequencer runs; null where there is no sequencer. */
  readonly sequencer: Hex | null;
  /** By lower-case token address. */
  readonly tokens: Readonly<Record<Hex, ChainlinkFeed>>;
  /** Where the heartbeats come from; a local chain has none. */
  readonly directory?: DirectoryCopy;
};
