// Gauges of payment channels, read from the database when they are asked for.
import { Gauge, type Registry } from "prom-client";
import { formatAmount } from "../../lib/decimal.ts";
import type { Log } from "../../lib/log.ts";
import type { ChannelParts } from "./open-channels.ts";

const GAUGES = {
  sextant_channels_owing: "Payment channels with purchases that are not claimed.",
  sextant_channels_unclaimed: "Purchases by channel that are not claimed, in the payment token.",
  sextant_channels_covered_ratio:
    "Share of them that their channels hold, also when pending withdrawals have ended; 1 without any.",
  sextant_channels_oldest_seconds: "Age of the oldest voucher that is not claimed.",
  sextant_channels_elsewhere: "Channels that are not served because another database claims on them.",
} as const;

/** Without channels there is nothing to read. */
export const NO_CHANNELS = { channels: 0, unclaimed: 0n, covered: 0n, oldestSeconds: 0, elsewhere: 0 };

export function observeChannels(
  registry: Registry,
  { readTotals }: { readonly readTotals: () => ReturnType<ChannelParts["claimRows"]["readTotals"]> },
  { decimals, log }: { readonly decimals: number; readonly log: Log },
): void {
  let reading: Promise<void> | null = null;
  // One read for all of them; a database that is away must not hide the other metrics.
  const collect = () => {
    reading ??= read()
      .catch((err: unknown) =>
        log.debug({ component: "payments", event: "channels_unreadable", err }, "Channels could not be read"),
      )
      .finally(() => {
        reading = null;
      });
    return reading;
  };
  const add = (name: keyof typeof GAUGES) =>
    new Gauge({ name, help: GAUGES[name], registers: [registry], collect });
  const gauges = {
    owing: add("sextant_channels_owing"),
    unclaimed: add("sextant_channels_unclaimed"),
    coveredRatio: add("sextant_channels_covered_ratio"),
    oldestSeconds: add("sextant_channels_oldest_seconds"),
    elsewhere: add("sextant_channels_elsewhere"),
  };
  const read = async () => {
    const { channels, unclaimed, covered, oldestSeconds, elsewhere } = await readTotals();
    gauges.owing.set(channels);
    gauges.unclaimed.set(Number(formatAmount(unclaimed, decimals)));
    gauges.coveredRatio.set(unclaimed === 0n ? 1 : Number((covered * 10_000n) / unclaimed) / 10_000);
    gauges.oldestSeconds.set(oldestSeconds);
    gauges.elsewhere.set(elsewhere);
  };
}
