// A funded policy account with a token, a target and a puppet around it, for tests of the account and its session keys.

import { type LocalAccount, localAccount } from "@sextant/local-chain/accounts";
import { type Address, encodeFunctionData, type Hex, hashMessage } from "viem";
import { sign } from "viem/accounts";
import { demoTargetAbi, demoTargetBytecode } from "../generated/demo-target.ts";
import { plainTokenAbi, plainTokenBytecode } from "../generated/plain-token.ts";
import { policyAccountAbi, policyAccountBytecode } from "../generated/policy-account.ts";
import { policyModuleAbi, policyModuleBytecode } from "../generated/policy-module.ts";
import { type SessionCall, sessionHash } from "../hashes/session-digest.ts";
import { actorBytecode, puppetAbi } from "./actor-contracts.ts";
import { EVM_CHAIN_ID, type Evm } from "./evm.ts";

/** The address at which every policy account expects the entry point of ERC-4337 version 0.9. */
export const ENTRY_POINT: Address = "0x433709009B8330FDa32311DF1C2AFA402eD8D009";

/** Enough that no test runs dry, whatever it spends. */
export const FUNDS = 1_000_000n;

/** Errors and events that can come out of a call to the account. */
export const worldAbi = [
  ...policyAccountAbi,
  ...policyModuleAbi.filter(({ type }) => type === "error" || type === "event"),
  ...plainTokenAbi.filter(({ type }) => type === "event"),
] as const;

export const sessionKey = localAccount(20);
export const otherSessionKey = localAccount(21);

export type AccountWorld = Awaited<ReturnType<typeof openAccountWorld>>;

export async function openAccountWorld(evm: Evm) {
  const signer = evm.chain.accounts.agent;
  const module = await evm.deploy(policyModuleAbi, policyModuleBytecode, []);
  const account = await evm.deploy(policyAccountAbi, policyAccountBytecode, [signer.address, module.address]);
  const token = await evm.deploy(plainTokenAbi, plainTokenBytecode, ["Plain", "PLN", 6]);
  const target = await evm.deploy(demoTargetAbi, demoTargetBytecode, []);
  const puppet = await evm.deploy(puppetAbi, actorBytecode("Puppet"), []);
  await token.send(evm.chain.accounts.owner.address, "mint", [account.address, FUNDS]);
  await evm.sendRaw(evm.chain.accounts.owner.address, account.address, "0x", FUNDS);
  for (const { address } of [token, target, puppet]) {
    await account.send(signer.address, "setTargetAllowed", [address, true]);
  }
  return { evm, signer: signer.address, module, account, token, target, puppet };
}

export async function signSession(
  key: LocalAccount,
  call: SessionCall,
  account: Address,
  chainId = BigInt(EVM_CHAIN_ID),
): Promise<Hex> {
  const hash = hashMessage({ raw: sessionHash(call, chainId, account) });
  return sign({ hash, privateKey: key.privateKey, to: "hex" });
}

export function sessionArgs(call: SessionCall, signature: Hex) {
  return [call.target, call.value, call.data, call.deadline, call.nonce, signature] as const;
}

export function setValue(value: bigint): Hex {
  return encodeFunctionData({ abi: demoTargetAbi, functionName: "setValue", args: [value] });
}

export function transferData(to: Address, amount: bigint): Hex {
  return encodeFunctionData({ abi: plainTokenAbi, functionName: "transfer", args: [to, amount] });
}
