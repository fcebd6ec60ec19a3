// Intents: signing what is wanted, submitting it for the owner, taking it back.

import { intentBookAbi } from "@sextant/contracts/generated/intent-book";
import { type Intent, intentDomain, intentTypes } from "@sextant/contracts/hashes/intent-hash";
import { type Address, encodeFunctionData, type Hex, parseSignature, zeroAddress, zeroHash } from "viem";
import { decodeReceiptEvent } from "../receipt-events.ts";
import type { Actor, Wallet, World } from "../world.ts";

export type IntentInput = {
  readonly inputToken: Address;
  readonly outputToken: Address;
  readonly constraints: Intent["constraints"];
  readonly execution?: Partial<Intent["execution"]>;
  /** A random one by default: nonces work once, in any order. */
  readonly nonce?: bigint;
};

export type SignedIntentInput = { readonly intent: Intent; readonly signature: Hex };

const NONCE_MAX = 2n ** 64n - 1n;

const NO_REQUIREMENTS: Intent["execution"] = {
  target: zeroAddress,
  dataHash: zeroHash,
  requiredAttestationSubject: zeroHash,
  requiredAttestationSchema: zeroHash,
  metadataURIHash: zeroHash,
};

export function buildIntent(world: World, owner: Address, wish: IntentInput): Intent {
  return {
    owner,
    intentType: 0,
    constraints: wish.constraints,
    execution: { ...NO_REQUIREMENTS, ...wish.execution },
    inputToken: wish.inputToken,
    outputToken: wish.outputToken,
    nonce: wish.nonce ?? world.random.between(0n, NONCE_MAX),
  };
}

export async function signIntent(world: World, owner: Wallet, wish: IntentInput): Promise<SignedIntentInput> {
  const intent = buildIntent(world, owner.address, wish);
  const signature = await owner.account.signTypedData({
    domain: intentDomain(BigInt(world.chainId), world.contracts.IntentBook),
    types: intentTypes,
    primaryType: "Intent",
    message: intent,
  });
  return { intent, signature };
}

export function submitIntentData({ intent, signature }: SignedIntentInput): Hex {
  const { r, s, yParity } = parseSignature(signature);
  const args = [intent, 27 + yParity, r, s] as const;
  return encodeFunctionData({ abi: intentBookAbi, functionName: "submitIntent", args });
}

/** Sent by the owner or any relayer. */
export async function submitIntent(world: World, relayer: Actor, signed: SignedIntentInput): Promise<bigint> {
  const to = world.contracts.IntentBook;
  const data = submitIntentData(signed);
  return decodeReceiptEvent(await relayer.send({ to, data }), to, intentBookAbi, "IntentSubmitted").intentId;
}

export async function cancelIntent(world: World, owner: Actor, intentId: bigint): Promise<void> {
  const data = encodeFunctionData({ abi: intentBookAbi, functionName: "cancelIntent", args: [intentId] });
  await owner.send({ to: world.contracts.IntentBook, data });
}
