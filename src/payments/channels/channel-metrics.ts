// Gauges of payment channels, read from the database when they are asked for.
import { Gauge, type Registry } from "prom-client";
import { formatAmount } from "../../lib/decimal.ts";
import type { Log } from "../../lib/log.ts";
import type { ChannelTotals } from "./claim-rows.ts";

const GAUGES = {
  sextant_channels_owing: "Payment channels with purchases that are not claimed.",
  sextant_channels_unclaimed: "Purchases by channel that are not claimed, in the payment token.",
  sextant_channels_covered_ratio:
    "Share of those worth a claim that their channels hold, also when pending withdrawals have ended; 1 without any.",
  sextant_channels_oldest_seconds: "Age of the oldest voucher that is worth a claim and not claimed.",
  sextant_channels_lost:
    "Unclaimed purchases whose channels hold nothing for them, until they are forgotten.",
  sextant_channels_keyless:
    "Unclaimed purchases that this process has no key to claim, in the payment token.",
  sextant_channels_elsewhere: "Channels that are not served because another database claims on them.",
} as const;

export function observeChannels(
  registry: Registry,
  { readTotals }: { readonly readTotals: () => Promise<ChannelTotals> },
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
  const add = (name: keyof typeof GAUGES) => {
    const gauge = new Gauge({ name, help: GAUGES[name], registers: [registry], collect });
    // Unknown until the first read: 0 would say that nothing is owed.
    gauge.set(Number.NaN);
    return gauge;
  };
  const gauges = {
    owing: add("sextant_channels_owing"),
    unclaimed: add("sextant_channels_unclaimed"),
    coveredRatio: add("sextant_channels_covered_ratio"),
    oldestSeconds: add("sextant_channels_oldest_seconds"),
    lost: add("sextant_channels_lost"),
    keyless: add("sextant_channels_keyless"),
    elsewhere: add("sextant_channels_elsewhere"),
  };
  const read = async () => {
    const totals = await readTotals();
    const { channels, unclaimed, due, covered, oldestSeconds, lost, keyless, elsewhere } = totals;
    const inToken = (units: bigint) => Number(formatAmount(units, decimals));
    gauges.owing.set(channels);
    gauges.unclaimed.set(inToken(unclaimed));
    gauges.coveredRatio.set(due === 0n ? 1 : Number((covered * 10_000n) / due) / 10_000);
    gauges.oldestSeconds.set(oldestSeconds);
    gauges.lost.set(inToken(lost));
    gauges.keyless.set(inToken(keyless.unclaimed));
    gauges.elsewhere.set(elsewhere);
  };
}
