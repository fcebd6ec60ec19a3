// Disputes: opening one over a receipt, and ending it.

import { commerceRegistryAbi } from "@sextant/contracts/generated/commerce-registry";
import { encodeFunctionData, type Hex } from "viem";
import { decodeReceiptEvent } from "../receipt-events.ts";
import type { Actor, World } from "../world.ts";

/** How a dispute ends, by the protocol's number. */
const DISPUTE_OUTCOME = { resolved: 1, rejected: 2 } as const;

/** Sent by the agent, the merchant's owner or the facilitator of the receipt. */
export async function openDispute(
  world: World,
  opener: Actor,
  receiptId: bigint,
  reasonHash: Hex,
): Promise<bigint> {
  const to = world.contracts.CommerceRegistry;
  const args = [receiptId, reasonHash] as const;
  const data = encodeFunctionData({ abi: commerceRegistryAbi, functionName: "openDispute", args });
  return decodeReceiptEvent(await opener.send({ to, data }), to, commerceRegistryAbi, "DisputeOpened")
    .disputeId;
}

/** Sent by the merchant's owner or the facilitator, once. */
export async function resolveDispute(
  world: World,
  provider: Actor,
  disputeId: bigint,
  outcome: keyof typeof DISPUTE_OUTCOME,
  resolutionHash: Hex,
): Promise<void> {
  const args = [disputeId, DISPUTE_OUTCOME[outcome], resolutionHash] as const;
  const data = encodeFunctionData({ abi: commerceRegistryAbi, functionName: "resolveDispute", args });
  await provider.send({ to: world.contracts.CommerceRegistry, data });
}
