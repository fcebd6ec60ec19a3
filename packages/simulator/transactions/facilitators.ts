// Facilitators: who settles payments for others.

import { commerceRegistryAbi } from "@sextant/contracts/generated/commerce-registry";
import { type Address, encodeFunctionData, type Hex } from "viem";
import { decodeReceiptEvent } from "../receipt-events.ts";
import type { Actor, World } from "../world.ts";

export type FacilitatorProfile = { readonly metadataURI: string; readonly metadataHash: Hex };

/** Called by anyone the first time, later by the facilitator only; the id stays and the entry is active again. */
export async function registerFacilitator(
  world: World,
  sender: Actor,
  facilitator: Address,
  { metadataURI, metadataHash }: FacilitatorProfile,
): Promise<bigint> {
  const to = world.contracts.CommerceRegistry;
  const args = [facilitator, metadataURI, metadataHash] as const;
  const data = encodeFunctionData({ abi: commerceRegistryAbi, functionName: "registerFacilitator", args });
  const receipt = await sender.send({ to, data });
  return decodeReceiptEvent(receipt, to, commerceRegistryAbi, "FacilitatorRegistered").facilitatorId;
}

export async function updateFacilitator(
  world: World,
  facilitator: Actor,
  facilitatorId: bigint,
  { metadataURI, metadataHash }: FacilitatorProfile,
  active: boolean,
): Promise<void> {
  const args = [facilitatorId, metadataURI, metadataHash, active] as const;
  const data = encodeFunctionData({ abi: commerceRegistryAbi, functionName: "updateFacilitator", args });
  await facilitator.send({ to: world.contracts.CommerceRegistry, data });
}
