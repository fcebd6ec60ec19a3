// What is known of one chain's price feeds: which feed prices which asset, and how often it must speak.
import type { Hex } from "../../lib/hex.ts";

export type Feed = {
  readonly feed: Hex;
  /** The feed publishes at least this often, even when the price does not move. */
  readonly heartbeatSeconds: number;
};

export type ChainFeeds = {
  readonly native: Feed | null;
  /** Says whether the chain's sequencer runs; null where there is no sequencer. */
  readonly sequencer: Hex | null;
  /** By lower-case token address. */
  readonly tokens: Readonly<Record<Hex, Feed>>;
};

export const thriceHourly = (feed: Hex): Feed => ({ feed, heartbeatSeconds: 1_200 });
export const hourly = (feed: Hex): Feed => ({ feed, heartbeatSeconds: 3_600 });
/** The longest heartbeat a dollar feed has; also for feeds whose shorter one is not beyond doubt. */
export const daily = (feed: Hex): Feed => ({ feed, heartbeatSeconds: 86_400 });
