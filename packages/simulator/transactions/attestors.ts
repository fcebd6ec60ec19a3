// Attestors: registering to vouch, and changing the entry.

import { attestorRegistryAbi } from "@sextant/contracts/generated/attestor-registry";
import { encodeFunctionData, type Hex } from "viem";
import { decodeReceiptEvent } from "../receipt-events.ts";
import type { Actor, World } from "../world.ts";

export type AttestorProfile = { readonly metadataURI: string; readonly schemasHash: Hex };

export async function registerAttestor(
  world: World,
  operator: Actor,
  { metadataURI, schemasHash }: AttestorProfile,
): Promise<bigint> {
  const to = world.contracts.AttestorRegistry;
  const args = [metadataURI, schemasHash] as const;
  const data = encodeFunctionData({ abi: attestorRegistryAbi, functionName: "registerAttestor", args });
  return decodeReceiptEvent(await operator.send({ to, data }), to, attestorRegistryAbi, "AttestorRegistered")
    .attestorId;
}

export async function updateAttestor(
  world: World,
  operator: Actor,
  attestorId: bigint,
  { metadataURI, schemasHash }: AttestorProfile,
  active: boolean,
): Promise<void> {
  const args = [attestorId, metadataURI, schemasHash, active] as const;
  const data = encodeFunctionData({ abi: attestorRegistryAbi, functionName: "updateAttestor", args });
  await operator.send({ to: world.contracts.AttestorRegistry, data });
}
