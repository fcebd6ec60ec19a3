// Policies: the rules an account sets for itself, directly or through a policy account.

import { policyModuleAbi } from "@sextant/contracts/generated/policy-module";
import { type Address, encodeFunctionData, type Hex } from "viem";
import type { Actor, World } from "../world.ts";

/** Who sets the rules, and the contract that takes them. */
export type PolicyHolder = { readonly sender: Actor; readonly at: Address };

/** A wallet's own rules, set at the module. */
export function policiesOfWallet(world: World, sender: Actor): PolicyHolder {
  return { sender, at: world.contracts.PolicyModule };
}

/** The rules of a policy account, set by its signer: the account offers the same functions and passes them on. */
export function policiesOfAccount(signer: Actor, account: Address): PolicyHolder {
  return { sender: signer, at: account };
}

export async function setSpendLimit(
  { sender, at }: PolicyHolder,
  token: Address,
  maxPerDay: bigint,
): Promise<void> {
  const args = [token, maxPerDay] as const;
  await sender.send({
    to: at,
    data: encodeFunctionData({ abi: policyModuleAbi, functionName: "setSpendLimit", args }),
  });
}

export async function setTargetAllowed(
  { sender, at }: PolicyHolder,
  target: Address,
  allowed: boolean,
): Promise<void> {
  const args = [target, allowed] as const;
  await sender.send({
    to: at,
    data: encodeFunctionData({ abi: policyModuleAbi, functionName: "setTargetAllowed", args }),
  });
}

export async function setFunctionAllowed(
  { sender, at }: PolicyHolder,
  target: Address,
  selector: Hex,
  allowed: boolean,
): Promise<void> {
  const args = [target, selector, allowed] as const;
  await sender.send({
    to: at,
    data: encodeFunctionData({ abi: policyModuleAbi, functionName: "setFunctionAllowed", args }),
  });
}

export async function setFunctionMode({ sender, at }: PolicyHolder, enabled: boolean): Promise<void> {
  const args = [enabled] as const;
  await sender.send({
    to: at,
    data: encodeFunctionData({ abi: policyModuleAbi, functionName: "setUseFunctionAllowlist", args }),
  });
}

export async function setGuardian({ sender, at }: PolicyHolder, guardian: Address): Promise<void> {
  const args = [guardian] as const;
  await sender.send({
    to: at,
    data: encodeFunctionData({ abi: policyModuleAbi, functionName: "setGuardian", args }),
  });
}

/** Sent by the account itself or its guardian. */
export async function setFrozen(
  world: World,
  sender: Actor,
  account: Address,
  frozen: boolean,
): Promise<void> {
  const args = [account, frozen] as const;
  const data = encodeFunctionData({ abi: policyModuleAbi, functionName: "setAccountFrozen", args });
  await sender.send({ to: world.contracts.PolicyModule, data });
}
