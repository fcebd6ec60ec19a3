// Solvers: registering with a bond, changing the entry, moving the bond.

import { solverRegistryAbi } from "@sextant/contracts/generated/solver-registry";
import { encodeFunctionData, type Hex } from "viem";
import { decodeReceiptEvent } from "../receipt-events.ts";
import type { Actor, World } from "../world.ts";

export type SolverProfile = { readonly metadataURI: string; readonly capabilitiesHash: Hex };

export async function registerSolver(
  world: World,
  operator: Actor,
  { metadataURI, capabilitiesHash }: SolverProfile,
  bond: bigint,
): Promise<bigint> {
  const to = world.contracts.SolverRegistry;
  const data = encodeFunctionData({
    abi: solverRegistryAbi,
    functionName: "registerSolver",
    args: [metadataURI, capabilitiesHash],
  });
  const receipt = await operator.send({ to, data, value: bond });
  return decodeReceiptEvent(receipt, to, solverRegistryAbi, "SolverRegistered").solverId;
}

export async function updateSolver(
  world: World,
  operator: Actor,
  solverId: bigint,
  { metadataURI, capabilitiesHash }: SolverProfile,
  active: boolean,
): Promise<void> {
  const args = [solverId, metadataURI, capabilitiesHash, active] as const;
  const data = encodeFunctionData({ abi: solverRegistryAbi, functionName: "updateSolver", args });
  await operator.send({ to: world.contracts.SolverRegistry, data });
}

/** Returns the whole bond. */
export async function addBond(
  world: World,
  operator: Actor,
  solverId: bigint,
  amount: bigint,
): Promise<bigint> {
  const to = world.contracts.SolverRegistry;
  const data = encodeFunctionData({ abi: solverRegistryAbi, functionName: "addBond", args: [solverId] });
  const receipt = await operator.send({ to, data, value: amount });
  return decodeReceiptEvent(receipt, to, solverRegistryAbi, "SolverBondChanged").bond;
}

/** Only while the solver is inactive. Returns what is left of the bond. */
export async function withdrawBond(
  world: World,
  operator: Actor,
  solverId: bigint,
  amount: bigint,
): Promise<bigint> {
  const to = world.contracts.SolverRegistry;
  const args = [solverId, amount] as const;
  const data = encodeFunctionData({ abi: solverRegistryAbi, functionName: "withdrawBond", args });
  return decodeReceiptEvent(await operator.send({ to, data }), to, solverRegistryAbi, "SolverBondChanged")
    .bond;
}
