// Debts of channels to a process that sells: its metrics, and the debts that it has no key to claim.
import type { Registry } from "prom-client";
import { formatAmount } from "../lib/decimal.ts";
import type { Log } from "../lib/log.ts";
import { observeChannels } from "../payments/channels/channel-metrics.ts";
import type { ConfiguredGate } from "../payments/configured-gate.ts";

type Observed = { readonly registry: Registry; readonly decimals: number; readonly log: Log };

export async function observeDebts(
  { channels, channelTotals }: Pick<ConfiguredGate, "channels" | "channelTotals">,
  { registry, decimals, log }: Observed,
): Promise<void> {
  observeChannels(registry, { readTotals: channelTotals }, { decimals, log });
  const { keyless } = await channelTotals();
  if (keyless.channels > 0) {
    const owed = formatAmount(keyless.unclaimed, decimals);
    log.warn(
      { component: "cli", event: "channels_keyless", channels: keyless.channels, owed },
      "Channels owe what this process does not claim: set PAYMENT_CHANNELS=true and their keys, PAYMENT_CHANNEL_KEY or PAYMENT_CHANNEL_OLD_KEYS",
    );
  }
  if (channels === null) return;
  const [receiverAuthorizer] = channels.authorizers.keys();
  log.info(
    { component: "cli", event: "channels_offered", receiverAuthorizer },
    "Payments by channel are taken",
  );
}
