// Money of the local chain: making it, wrapping it, giving it away, letting others take it.

import { usdCoinAbi } from "@sextant/contracts/generated/usd-coin";
import { wrappedEtherAbi } from "@sextant/contracts/generated/wrapped-ether";
import { type Address, encodeFunctionData, erc20Abi } from "viem";
import type { Actor, World } from "../world.ts";
import { forwardCall } from "./multicall.ts";

/** A transfer to an account that did not exist costs 34,000 gas; the forwarding contract adds a little. */
const GAS_PER_RECIPIENT = 50_000n;
const GAS_BASE = 100_000n;

export async function sendEther(sender: Actor, to: Address, value: bigint): Promise<void> {
  await sender.send({ to, value });
}

/** The same amount for each, in one transaction. */
export async function sendEtherToMany(
  world: World,
  sender: Actor,
  recipients: readonly Address[],
  each: bigint,
): Promise<void> {
  const call = forwardCall(
    world,
    recipients.map((to) => ({ to, value: each })),
  );
  await sender.send({ ...call, gas: GAS_BASE + GAS_PER_RECIPIENT * BigInt(recipients.length) });
}

/** Sent by the token's owner. */
export async function allowMinter(world: World, owner: Actor, minter: Address): Promise<void> {
  const data = encodeFunctionData({ abi: usdCoinAbi, functionName: "setMinter", args: [minter, true] });
  await owner.send({ to: world.local.UsdCoin, data });
}

/** Sent by the token's owner or a minter, in millionths of a dollar. */
export async function mintUsd(world: World, minter: Actor, to: Address, amount: bigint): Promise<void> {
  const data = encodeFunctionData({ abi: usdCoinAbi, functionName: "mint", args: [to, amount] });
  await minter.send({ to: world.local.UsdCoin, data });
}

export async function wrapEther(world: World, holder: Actor, value: bigint): Promise<void> {
  const data = encodeFunctionData({ abi: wrappedEtherAbi, functionName: "deposit" });
  await holder.send({ to: world.local.WrappedEther, data, value });
}

export async function approveToken(
  holder: Actor,
  token: Address,
  spender: Address,
  amount: bigint,
): Promise<void> {
  const data = encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [spender, amount] });
  await holder.send({ to: token, data });
}
