// The dollar price of the coin that gas is paid in, from a price feed on the payment chain.
import { type PublicClient, parseAbi } from "viem";
import type { Clock } from "../../../lib/clock.ts";
import type { Hex } from "../../../lib/hex.ts";
import type { Log } from "../../../lib/log.ts";

export type NativePriceFeed = {
  readonly feed: Hex;
  /** The feed publishes at least this often. */
  readonly heartbeatSeconds: number;
};

/** Dollars per coin as a whole number with `scale` decimal places. */
export type NativePrice = { readonly usdPerCoin: bigint; readonly scale: number };

const ABI = parseAbi([
  "function latestRoundData() view returns (uint80, int256, uint256, uint256, uint80)",
  "function decimals() view returns (uint8)",
]);

// The bound on gas needs no fresher price, and every payment would read it otherwise.
const CACHE_MS = 60_000;
// Each heartbeat is a transaction of its own, which may wait for a block.
const LATE_SECONDS_MAX = 300;

/** Returns null where no price can be read or the feed is late. */
export function createNativePriceReader(options: {
  readonly client: PublicClient;
  readonly feed: NativePriceFeed;
  readonly clock: Clock;
  readonly log: Log;
}): () => Promise<NativePrice | null> {
  const { client, feed, clock, log } = options;
  let read: { readonly price: Promise<NativePrice | null>; readonly atMs: number } | null = null;

  async function readPrice(): Promise<NativePrice | null> {
    try {
      const [[, usdPerCoin, , updatedAt], scale] = await Promise.all([
        client.readContract({ address: feed.feed, abi: ABI, functionName: "latestRoundData" }),
        client.readContract({ address: feed.feed, abi: ABI, functionName: "decimals" }),
      ]);
      const ageSeconds = clock.nowMs() / 1_000 - Number(updatedAt);
      if (usdPerCoin > 0n && ageSeconds <= feed.heartbeatSeconds + LATE_SECONDS_MAX)
        return { usdPerCoin, scale };
      log.warn({ event: "native-price-late", feed: feed.feed, ageSeconds }, "Native price feed is late");
    } catch (err) {
      log.warn({ event: "native-price-failed", err, feed: feed.feed }, "Reading the native price failed");
    }
    return null;
  }

  return () => {
    const nowMs = clock.nowMs();
    if (read === null || nowMs - read.atMs > CACHE_MS) read = { price: readPrice(), atMs: nowMs };
    return read.price;
  };
}
