// What is known of one chain's price feeds: which feed prices which asset, and how often it must speak.
import type { Hex } from "../../lib/hex.ts";

export type ChainlinkFeed = {
  readonly feed: Hex;
  /** The feed publishes at least this often, even when the price does not move. */
  readonly heartbeatSeconds: number;
};

export type ChainPriceFeeds = {
  readonly native: ChainlinkFeed | null;
  /** Says whether the chain's sequencer runs; null where there is no sequencer. */
  readonly sequencer: Hex | null;
  /** By lower-case token address. */
  readonly tokens: Readonly<Record<Hex, ChainlinkFeed>>;
};

export const twentyMinuteFeed = (feed: Hex): ChainlinkFeed => ({ feed, heartbeatSeconds: 1_200 });
export const hourlyFeed = (feed: Hex): ChainlinkFeed => ({ feed, heartbeatSeconds: 3_600 });
/** The longest heartbeat a dollar feed has; also for feeds whose shorter one is not beyond doubt. */
export const dailyFeed = (feed: Hex): ChainlinkFeed => ({ feed, heartbeatSeconds: 86_400 });
