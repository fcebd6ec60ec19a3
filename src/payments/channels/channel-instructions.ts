// Carries out what the operator wants of channels: claims and refunds, as a service that runs anyway.
import { randomUUID } from "node:crypto";
import type { Hex } from "../../lib/hex.ts";
import type { ChannelClaims } from "./channel-claims.ts";
import { openRefundOf } from "./channel-mirror.ts";
import { isLastRefundOpen } from "./channel-refund.ts";
import type { ChannelRow } from "./channel-row.ts";
import type { ChannelParts } from "./open-channels.ts";
import type { InstructedChannel } from "./operator-rows.ts";

/** To be called every few seconds, in any number of processes. */
export async function carryOutInstructions(
  parts: ChannelParts & { readonly claims: ChannelClaims },
): Promise<void> {
  const { instructions } = parts;
  for (const instructed of await instructions.find()) {
    const { channelId, instruction } = instructed;
    const result = await (instruction.kind === "claim"
      ? claim(parts, channelId)
      : refund(parts, instructed, instruction.amount)
    ).catch((error: unknown) => `Not done: ${error instanceof Error ? error.message : String(error)}`);
    // Null: another request has the channel at the moment, or another process has carried it out.
    if (result !== null) await instructions.finish(instructed, result);
  }
}

async function claim(
  { claims, rows, authorizers }: ChannelParts & { readonly claims: ChannelClaims },
  channelId: Hex,
): Promise<string> {
  const { claimed, transaction, rejected } = await claims.claimNow([channelId]);
  if (rejected.length > 0) return "The contract rejects the claim.";
  if (transaction !== null) return `${claimed === 0 ? "Sent" : "Claimed"}: ${transaction}.`;
  const found = await rows.find(channelId);
  if (found === null) return "The channel is no longer known.";
  const { charged, totalClaimed, balance, config } = found.row;
  if (charged <= totalClaimed) return "All is claimed.";
  if (!authorizers.has(config.receiverAuthorizer)) return describeKeyless(config);
  if (balance <= totalClaimed) return "Not done: its payer has taken back what the channel held.";
  return UNFINISHED;
}

const UNFINISHED =
  "Not done: a transaction for it is not finished, or its claim was rejected lately; try again in ten minutes.";

function describeKeyless({ receiverAuthorizer }: ChannelRow["config"]): string {
  return `Not done: the service does not have the key of ${receiverAuthorizer}; add it to PAYMENT_CHANNEL_OLD_KEYS.`;
}

async function refund(
  { rows, mirror, claims, authorizers, instructions }: ChannelParts & { readonly claims: ChannelClaims },
  instructed: InstructedChannel,
  wanted: bigint | null,
): Promise<string | null> {
  const { channelId, instructedAt } = instructed;
  const owner = randomUUID();
  if (!(await rows.take(channelId, owner))) return null;
  try {
    const standing = await instructions.read(instructed);
    if (standing === null) return null;
    await mirror.refresh(channelId);
    const known = await rows.find(channelId);
    if (known === null) return "The channel is no longer known.";
    const { row } = known;
    if (!authorizers.has(row.config.receiverAuthorizer)) return describeKeyless(row.config);
    const free = row.balance - row.charged;
    const open = openRefundOf(row);
    if (open === 0n && standing.signed !== null) return standing.signed;
    const amount = open > 0n ? open : (wanted ?? free);
    if (amount <= 0n || amount > free) return `Not done: ${free} units are free.`;
    if (open === 0n && isLastRefundOpen(known))
      return "Not done: the last refund is not final yet; try later.";
    const signed = { instructedAt, result: `Refunded ${amount} units.` };
    if (open === 0n && !(await rows.recordRefund(row, amount, owner, signed)))
      return "Not done: it has changed; try again.";
    const { kind, transaction } = await claims.sendRefund(row, amount);
    return kind === "mined" ? `Refunded ${amount} units: ${transaction}.` : `Sent: ${transaction}.`;
  } finally {
    await rows.release(channelId, owner, { hasFailed: false });
  }
}
