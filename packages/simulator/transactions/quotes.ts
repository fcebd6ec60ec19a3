// Quotes and what follows: committing one, recording that it was paid, recording that it was fulfilled.

import { commerceRegistryAbi } from "@sextant/contracts/generated/commerce-registry";
import type { QuoteCommitment } from "@sextant/contracts/hashes/quote-hash";
import { encodeFunctionData, type Hex } from "viem";
import { decodeReceiptEvent } from "../receipt-events.ts";
import type { Actor, World } from "../world.ts";

/** How a quote is paid, by the protocol's number. */
export const PAYMENT_RAIL = { transfer: 0, swap: 1, facilitator: 2, x402: 3 } as const;

export async function commitQuote(world: World, merchant: Actor, quote: QuoteCommitment): Promise<Hex> {
  const to = world.contracts.CommerceRegistry;
  const data = encodeFunctionData({ abi: commerceRegistryAbi, functionName: "commitQuote", args: [quote] });
  return decodeReceiptEvent(await merchant.send({ to, data }), to, commerceRegistryAbi, "QuoteCommitted")
    .quoteHash;
}

/** Rails 0 and 1: by the merchant's owner or the agent; rails 2 and 3: by the facilitator. */
export async function recordReceipt(
  world: World,
  recorder: Actor,
  quoteHash: Hex,
  resultHash: Hex,
): Promise<bigint> {
  const to = world.contracts.CommerceRegistry;
  const args = [quoteHash, resultHash] as const;
  const data = encodeFunctionData({ abi: commerceRegistryAbi, functionName: "recordReceipt", args });
  return decodeReceiptEvent(await recorder.send({ to, data }), to, commerceRegistryAbi, "ReceiptRecorded")
    .receiptId;
}

/** Sent by the merchant's owner or the facilitator, as often as they like; the zero hash takes it back. */
export async function recordFulfillment(
  world: World,
  provider: Actor,
  receiptId: bigint,
  fulfillmentHash: Hex,
): Promise<void> {
  const args = [receiptId, fulfillmentHash] as const;
  const data = encodeFunctionData({ abi: commerceRegistryAbi, functionName: "recordFulfillment", args });
  await provider.send({ to: world.contracts.CommerceRegistry, data });
}
