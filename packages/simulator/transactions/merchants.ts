// Merchants and what they sell.

import { commerceRegistryAbi } from "@sextant/contracts/generated/commerce-registry";
import { type Address, encodeFunctionData, type Hex } from "viem";
import { decodeReceiptEvent } from "../receipt-events.ts";
import type { Actor, World } from "../world.ts";

export type MerchantProfile = {
  readonly payoutAddress: Address;
  readonly metadataURI: string;
  readonly metadataHash: Hex;
};

export type ServiceProfile = {
  readonly metadataURI: string;
  readonly metadataHash: Hex;
  readonly capabilityHash: Hex;
};

export async function registerMerchant(
  world: World,
  owner: Actor,
  { payoutAddress, metadataURI, metadataHash }: MerchantProfile,
): Promise<bigint> {
  const to = world.contracts.CommerceRegistry;
  const args = [payoutAddress, metadataURI, metadataHash] as const;
  const data = encodeFunctionData({ abi: commerceRegistryAbi, functionName: "registerMerchant", args });
  return decodeReceiptEvent(await owner.send({ to, data }), to, commerceRegistryAbi, "MerchantRegistered")
    .merchantId;
}

export async function updateMerchant(
  world: World,
  owner: Actor,
  merchantId: bigint,
  { payoutAddress, metadataURI, metadataHash }: MerchantProfile,
  active: boolean,
): Promise<void> {
  const args = [merchantId, payoutAddress, metadataURI, metadataHash, active] as const;
  const data = encodeFunctionData({ abi: commerceRegistryAbi, functionName: "updateMerchant", args });
  await owner.send({ to: world.contracts.CommerceRegistry, data });
}

/** A service id works once per merchant. */
export async function registerService(
  world: World,
  owner: Actor,
  merchantId: bigint,
  serviceId: string,
  { metadataURI, metadataHash, capabilityHash }: ServiceProfile,
): Promise<bigint> {
  const to = world.contracts.CommerceRegistry;
  const args = [merchantId, serviceId, metadataURI, metadataHash, capabilityHash] as const;
  const data = encodeFunctionData({ abi: commerceRegistryAbi, functionName: "registerService", args });
  return decodeReceiptEvent(await owner.send({ to, data }), to, commerceRegistryAbi, "ServiceRegistered")
    .serviceNumericId;
}

export async function updateService(
  world: World,
  owner: Actor,
  serviceNumericId: bigint,
  { metadataURI, metadataHash, capabilityHash }: ServiceProfile,
  active: boolean,
): Promise<void> {
  const args = [serviceNumericId, metadataURI, metadataHash, capabilityHash, active] as const;
  const data = encodeFunctionData({ abi: commerceRegistryAbi, functionName: "updateService", args });
  await owner.send({ to: world.contracts.CommerceRegistry, data });
}
