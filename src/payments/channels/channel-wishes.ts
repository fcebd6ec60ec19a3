// Carries out what the operator wants of channels: claims and refunds, as a service that runs anyway.
import { randomUUID } from "node:crypto";
import type { Hex } from "../../lib/hex.ts";
import type { ChannelClaims } from "./channel-claims.ts";
import { openRefundOf } from "./channel-mirror.ts";
import type { ChannelParts } from "./open-channels.ts";

/** To be called every few seconds, in any number of processes. */
export async function carryOutWishes(
  parts: ChannelParts & { readonly claims: ChannelClaims },
): Promise<void> {
  const { wishes } = parts;
  for (const { channelId, wish } of await wishes.find()) {
    const result = await (wish.kind === "claim"
      ? claim(parts, channelId)
      : refund(parts, channelId, wish.amount)
    ).catch((error: unknown) => `Not done: ${error instanceof Error ? error.message : String(error)}`);
    // Null: another request has the channel at the moment.
    if (result !== null) await wishes.finish(channelId, result);
  }
}

async function claim({ claims }: { readonly claims: ChannelClaims }, channelId: Hex): Promise<string> {
  const { claimed, transaction, rejected } = await claims.claimNow([channelId]);
  if (rejected.length > 0) return "The contract rejects the claim.";
  if (claimed === 0) return transaction === null ? "Nothing to claim now." : `Sent: ${transaction}.`;
  return `Claimed: ${transaction}.`;
}

async function refund(
  { rows, mirror, claims }: ChannelParts & { readonly claims: ChannelClaims },
  channelId: Hex,
  wanted: bigint | null,
): Promise<string | null> {
  const owner = randomUUID();
  if (!(await rows.take(channelId, owner))) return null;
  try {
    await mirror.refresh(channelId);
    const known = await rows.find(channelId);
    if (known === null) return "The channel is no longer known.";
    const { row } = known;
    const free = row.balance - row.charged;
    const open = openRefundOf(row);
    const amount = open > 0n ? open : (wanted ?? free);
    if (amount <= 0n || amount > free) return `Not done: ${free} units are free.`;
    if (open === 0n && !(await rows.recordRefund(row, amount, owner)))
      return "Not done: it has changed; try again.";
    const { kind, transaction } = await claims.sendRefund(row, amount);
    return kind === "mined" ? `Refunded ${amount} units: ${transaction}.` : `Sent: ${transaction}.`;
  } finally {
    await rows.release(channelId, owner, { hasFailed: false });
  }
}
