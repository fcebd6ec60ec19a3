// Policy accounts: opening one, acting through it, and session keys that act for it.

import type { TransactionCall } from "@sextant/contracts/deploy/transaction";
import { policyAccountAbi, policyAccountBytecode } from "@sextant/contracts/generated/policy-account";
import { policyModuleAbi } from "@sextant/contracts/generated/policy-module";
import { sessionHash } from "@sextant/contracts/hashes/session-digest";
import { type Address, encodeDeployData, encodeFunctionData, type Hex } from "viem";
import { decodeReceiptEvents } from "../receipt-events.ts";
import type { Actor, Wallet, World } from "../world.ts";

/** Four fifths of it are the price of storing the code. */
const OPEN_GAS = 3_000_000n;

export async function openPolicyAccount(world: World, signer: Actor): Promise<Address> {
  const data = encodeDeployData({
    abi: policyAccountAbi,
    bytecode: policyAccountBytecode,
    args: [signer.address, world.contracts.PolicyModule],
  });
  const { contractAddress, transactionHash } = await signer.send({ data, gas: OPEN_GAS });
  if (contractAddress === null) throw new Error(`Transaction ${transactionHash} created no account`);
  return contractAddress;
}

/** The account as an actor: every call passes its policies. */
export function actThroughAccount(signer: Actor, account: Address): Actor {
  return {
    address: account,
    send: (call) => {
      if (call.to === undefined) throw new Error("A policy account creates no contracts");
      const args = [call.to, call.value ?? 0n, call.data ?? "0x"] as const;
      const data = encodeFunctionData({ abi: policyAccountAbi, functionName: "execute", args });
      return signer.send({ to: account, data });
    },
  };
}

export async function setAccountFrozen(signer: Actor, account: Address, frozen: boolean): Promise<void> {
  const data = encodeFunctionData({
    abi: policyAccountAbi,
    functionName: "setAccountFrozen",
    args: [frozen],
  });
  await signer.send({ to: account, data });
}

export async function setSessionKey(
  signer: Actor,
  account: Address,
  sessionKey: Address,
  expiresAt: bigint,
  active: boolean,
): Promise<void> {
  const args = [sessionKey, Number(expiresAt), active] as const;
  await signer.send({
    to: account,
    data: encodeFunctionData({ abi: policyAccountAbi, functionName: "setSessionKey", args }),
  });
}

export type SessionExecution = {
  readonly account: Address;
  readonly key: Wallet;
  readonly call: TransactionCall & { readonly to: Address };
  readonly deadline: bigint;
  readonly nonce: bigint;
};

export type RecordedSpend = { readonly token: Address; readonly amount: bigint; readonly dailyTotal: bigint };

/** Signed by the session key, sent by anyone. Returns the spends that the module recorded. */
export async function executeBySessionKey(
  world: World,
  relayer: Actor,
  { account, key, call, deadline, nonce }: SessionExecution,
): Promise<readonly RecordedSpend[]> {
  const { to: target, value = 0n, data: callData = "0x" } = call;
  const signed = { target, value, data: callData, deadline, nonce };
  const raw: Hex = sessionHash(signed, BigInt(world.chainId), account);
  const signature = await key.account.signMessage({ message: { raw } });
  const data = encodeFunctionData({
    abi: policyAccountAbi,
    functionName: "executeWithSessionKey",
    args: [target, value, callData, deadline, nonce, signature],
  });
  const receipt = await relayer.send({ to: account, data });
  return decodeReceiptEvents(receipt, world.contracts.PolicyModule, policyModuleAbi, "SpendRecorded");
}
