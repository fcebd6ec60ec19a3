// Work on channels without a request: their rows follow the chain, vouchers are claimed, old responses go.
import type { Log } from "../../lib/log.ts";
import type { GateLimits } from "../paywall/limits.ts";
import type { ChannelClaims } from "./channel-claims.ts";
import { carryOutInstructions } from "./channel-instructions.ts";
import type { ChannelParts } from "./open-channels.ts";

const PRUNE_EVERY_MS = 600_000;
// A week of claims to look at after trouble.
const TRANSACTION_RETENTION_MS = 7 * 86_400_000;
// As many as all channels that are allowed become idle within a day.
const IDLE_PER_RUN = 1_000;
// More than a process sells between two runs.
const RESPONSES_PER_RUN = 2_000;

/** To be called every few seconds, in any number of processes. */
export function createChannelMaintenance({
  limits,
  log,
  ...parts
}: ChannelParts & { readonly claims: ChannelClaims; readonly limits: GateLimits; readonly log: Log }): (
  signal?: AbortSignal,
) => Promise<void> {
  const { mirror, claims, claimRows, claimRules } = parts;
  let prunedMs = Number.NEGATIVE_INFINITY;
  return async (signal) => {
    const [followed] = await Promise.allSettled([mirror.follow(signal)]);
    // Also if our node shows nothing: just then a payer may withdraw. Fees that are too high stop neither of them.
    const [claimed] = await Promise.allSettled([claims.claimDue(claimRules)]);
    await claims.resumeRefunds();
    await carryOutInstructions(parts);
    await claimRows.dropResponses(RESPONSES_PER_RUN);
    if (followed.status === "rejected") throw followed.reason;
    if (claimed.status === "rejected") throw claimed.reason;
    if (performance.now() - prunedMs < PRUNE_EVERY_MS) return;
    prunedMs = performance.now();
    await claimRows.prune(limits.responseRetentionMs, TRANSACTION_RETENTION_MS);
    const dropped = await claimRows.dropIdle(limits.responseRetentionMs, IDLE_PER_RUN);
    if (dropped.lost === 0n) return;
    log.warn(
      { component: "payments", event: "channels_lost", units: dropped.lost.toString() },
      "Channels that were forgotten hold nothing of what they owe",
    );
  };
}
