// Work on channels without a request: their rows follow the chain, vouchers are claimed, old responses go.
import type { GateLimits } from "../paywall/limits.ts";
import type { ChannelClaims } from "./channel-claims.ts";
import type { ChannelParts } from "./open-channels.ts";

const PRUNE_EVERY_MS = 600_000;
// A week of claims to look at after trouble.
const TRANSACTION_RETENTION_MS = 7 * 86_400_000;

/** To be called every few seconds, in any number of processes. */
export function createChannelMaintenance({
  mirror,
  claims,
  claimRows,
  claimRules,
  limits,
}: ChannelParts & { readonly claims: ChannelClaims; readonly limits: GateLimits }): (
  signal?: AbortSignal,
) => Promise<void> {
  let prunedMs = Number.NEGATIVE_INFINITY;
  return async (signal) => {
    const [followed] = await Promise.allSettled([mirror.follow(signal)]);
    // Also if our node shows nothing: just then a payer may withdraw.
    await claims.claimDue(claimRules);
    await claims.resumeRefunds();
    if (followed.status === "rejected") throw followed.reason;
    if (performance.now() - prunedMs < PRUNE_EVERY_MS) return;
    prunedMs = performance.now();
    await claimRows.prune(limits.responseRetentionMs, TRANSACTION_RETENTION_MS);
  };
}
