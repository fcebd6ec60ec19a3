// Settlements: paying all parties of a quote in one transaction.

import { settlementAdapterAbi } from "@sextant/contracts/generated/settlement-adapter";
import type { SettlementLine } from "@sextant/contracts/hashes/settlement-hash";
import { type Address, encodeFunctionData, type Hex, zeroAddress } from "viem";
import { decodeReceiptEvent } from "../receipt-events.ts";
import type { Actor, World } from "../world.ts";

/** Kinds of lines in the order of the protocol's numbers. */
export const LINE_KINDS = [
  "merchant",
  "supplier",
  "tax",
  "tip",
  "shipping",
  "handling",
  "platform fee",
  "facilitator fee",
  "protocol fee",
  "escrow",
] as const;

export type SettlementPlan = {
  readonly quoteHash: Hex;
  readonly settlementPlanHash: Hex;
  /** The zero address for the native coin. */
  readonly token: Address;
  readonly deadline: bigint;
  readonly lines: readonly Omit<SettlementLine, "token">[];
};

/** A token must be approved for the adapter before. Returns the execution hash. */
export async function executeSettlement(world: World, payer: Actor, plan: SettlementPlan): Promise<Hex> {
  const to = world.contracts.SettlementAdapter;
  const grossAmount = plan.lines.reduce((sum, line) => sum + line.amount, 0n);
  const lines = plan.lines.map((line) => ({ ...line, token: plan.token }));
  const data = encodeFunctionData({
    abi: settlementAdapterAbi,
    functionName: "executeSettlement",
    args: [{ ...plan, payer: payer.address, grossAmount, lines }],
  });
  const receipt = await payer.send({ to, data, value: plan.token === zeroAddress ? grossAmount : 0n });
  return decodeReceiptEvent(receipt, to, settlementAdapterAbi, "SettlementExecuted").executionHash;
}
