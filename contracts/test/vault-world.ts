// A policy account that holds vault shares and wrapped coin, and the calls that move them past transfer and approve.
import { type Address, encodeFunctionData, type Hex, parseAbi, zeroHash } from "viem";
import { multicall3Abi, multicall3Bytecode } from "../generated/multicall3.ts";
import { vault4626Abi, vault4626Bytecode } from "../generated/vault4626.ts";
import { wrappedEtherAbi, wrappedEtherBytecode } from "../generated/wrapped-ether.ts";
import { FUNDS, openAccountWorld, sessionKey } from "./account-world.ts";
import type { Evm } from "./evm.ts";

/** Functions of other tokens that move value and have no amount at the position that the policy module reads. */
const otherTokenAbi = parseAbi([
  "function increaseAllowance(address spender, uint256 addedValue) returns (bool)",
  "function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)",
  "function multicall(bytes[] data) returns (bytes[])",
]);

/** An account with FUNDS of shares, wrapped coin, plain token and native coin, and a session key without an end. */
export async function openVaultWorld(evm: Evm) {
  const world = await openAccountWorld(evm);
  const { account, token, signer } = world;
  const owner = evm.chain.accounts.owner.address;
  const vault = await evm.deploy(vault4626Abi, vault4626Bytecode, [token.address, "Share", "SHR"]);
  const weth = await evm.deploy(wrappedEtherAbi, wrappedEtherBytecode, []);
  const multicall = await evm.deploy(multicall3Abi, multicall3Bytecode, []);
  await token.send(owner, "mint", [owner, FUNDS]);
  await token.send(owner, "approve", [vault.address, FUNDS]);
  await vault.send(owner, "deposit", [FUNDS, account.address]);
  await weth.send(owner, "deposit", [], FUNDS);
  await weth.send(owner, "transfer", [account.address, FUNDS]);
  for (const { address } of [vault, weth, multicall]) {
    await account.send(signer, "setTargetAllowed", [address, true]);
  }
  await account.send(signer, "setSessionKey", [sessionKey.address, 2 ** 40, true]);
  return { ...world, vault, weth, multicall };
}

/** Calldata for a vault: the account pays, the sink receives. */
export function encodeVaultCalls({ account, sink }: { readonly account: Address; readonly sink: Address }) {
  const vault = (functionName: "redeem" | "withdraw", amount: bigint): Hex =>
    encodeFunctionData({ abi: vault4626Abi, functionName, args: [amount, sink, account] });
  const intoVault = (functionName: "deposit" | "mint", amount: bigint): Hex =>
    encodeFunctionData({ abi: vault4626Abi, functionName, args: [amount, sink] });
  return {
    redeem: (amount: bigint) => vault("redeem", amount),
    withdraw: (amount: bigint) => vault("withdraw", amount),
    deposit: (amount: bigint) => intoVault("deposit", amount),
    mint: (amount: bigint) => intoVault("mint", amount),
    approve: (amount: bigint, spender = sink): Hex =>
      encodeFunctionData({ abi: vault4626Abi, functionName: "approve", args: [spender, amount] }),
    transferFrom: (amount: bigint): Hex =>
      encodeFunctionData({ abi: vault4626Abi, functionName: "transferFrom", args: [account, sink, amount] }),
    increaseAllowance: (amount: bigint): Hex =>
      encodeFunctionData({ abi: otherTokenAbi, functionName: "increaseAllowance", args: [sink, amount] }),
    permit: (amount: bigint): Hex =>
      encodeFunctionData({
        abi: otherTokenAbi,
        functionName: "permit",
        args: [account, sink, amount, 2n ** 40n, 27, zeroHash, zeroHash],
      }),
    multicall: (calls: readonly Hex[]): Hex =>
      encodeFunctionData({ abi: otherTokenAbi, functionName: "multicall", args: [calls] }),
  };
}
