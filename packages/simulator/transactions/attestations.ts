// Attestations: vouching for something, and taking it back.

import { attestationRegistryAbi } from "@sextant/contracts/generated/attestation-registry";
import { encodeFunctionData, type Hex } from "viem";
import { decodeReceiptEvent } from "../receipt-events.ts";
import type { Actor, World } from "../world.ts";

export type AttestationInput = { readonly schema: Hex; readonly subject: Hex; readonly dataHash: Hex };

export async function submitAttestation(
  world: World,
  attester: Actor,
  { schema, subject, dataHash }: AttestationInput,
): Promise<bigint> {
  const to = world.contracts.AttestationRegistry;
  const data = encodeFunctionData({
    abi: attestationRegistryAbi,
    functionName: "submitAttestation",
    args: [schema, subject, dataHash],
  });
  return decodeReceiptEvent(
    await attester.send({ to, data }),
    to,
    attestationRegistryAbi,
    "AttestationSubmitted",
  ).id;
}

export async function revokeAttestation(world: World, attester: Actor, id: bigint): Promise<void> {
  const data = encodeFunctionData({
    abi: attestationRegistryAbi,
    functionName: "revokeAttestation",
    args: [id],
  });
  await attester.send({ to: world.contracts.AttestationRegistry, data });
}
