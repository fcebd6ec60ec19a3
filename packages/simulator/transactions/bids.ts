// Bids: offering to fill an intent, choosing an offer, filling.

import { intentBookAbi } from "@sextant/contracts/generated/intent-book";
import { encodeFunctionData, type Hex } from "viem";
import { decodeReceiptEvent } from "../receipt-events.ts";
import type { Actor, World } from "../world.ts";

export type BidTerms = {
  readonly amountIn: bigint;
  readonly amountOut: bigint;
  readonly fee: bigint;
  readonly validUntil: bigint;
  readonly executionHash: Hex;
};

export type FillProof = {
  readonly executionData: Hex;
  readonly resultHash: Hex;
  readonly traceHash: Hex;
  /** 0 if the intent requires none. */
  readonly attestationId: bigint;
};

export async function submitBid(
  world: World,
  solver: Actor,
  intentId: bigint,
  { amountIn, amountOut, fee, validUntil, executionHash }: BidTerms,
): Promise<bigint> {
  const to = world.contracts.IntentBook;
  const data = encodeFunctionData({
    abi: intentBookAbi,
    functionName: "submitBid",
    args: [intentId, amountIn, amountOut, fee, validUntil, executionHash],
  });
  return decodeReceiptEvent(await solver.send({ to, data }), to, intentBookAbi, "SolverBidSubmitted").bidId;
}

/** Sent by the owner of the intent; a bid selected before is no longer selected. */
export async function selectBid(world: World, owner: Actor, intentId: bigint, bidId: bigint): Promise<void> {
  const data = encodeFunctionData({ abi: intentBookAbi, functionName: "selectBid", args: [intentId, bidId] });
  await owner.send({ to: world.contracts.IntentBook, data });
}

/** Sent by the solver of the selected bid, with exactly its amounts. */
export async function fillIntent(
  world: World,
  solver: Actor,
  intentId: bigint,
  { amountIn, amountOut }: Pick<BidTerms, "amountIn" | "amountOut">,
  proof: FillProof,
): Promise<void> {
  const data = encodeFunctionData({
    abi: intentBookAbi,
    functionName: "fillIntent",
    args: [intentId, { amountIn, amountOut, solver: solver.address, ...proof }],
  });
  await solver.send({ to: world.contracts.IntentBook, data });
}
