// Acts as a caller without rights: calls every state-changing function with anything, and compares the state before and after.
import fc from "fast-check";
import {
  type Abi,
  type AbiFunction,
  type AbiParameter,
  type Address,
  encodeFunctionData,
  type Hex,
} from "viem";
import { expect } from "vitest";
import { type Contract, type Evm, RevertedError } from "./evm.ts";

/** Values worth trying: random ones alone would never hit a record that exists. */
export type ArgumentPool = {
  readonly numbers: readonly bigint[];
  readonly addresses: readonly Address[];
  readonly words: readonly Hex[];
};

export type PermissionlessSearchOptions = {
  readonly evm: Evm;
  readonly contract: Pick<Contract<Abi>, "abi" | "address">;
  readonly outsiders: readonly Address[];
  readonly pool: ArgumentPool;
  /** Reads everything that belongs to others. */
  readonly world: () => Promise<unknown>;
  /** Per function. */
  readonly numRuns: number;
};

/**
 * Fails when a call by an unrelated account changes the world; returns the functions that accepted one, in the order of
 * the ABI.
 */
export async function findPermissionlessFunctions(
  options: PermissionlessSearchOptions,
): Promise<readonly string[]> {
  const { evm, contract, outsiders, pool, world, numRuns } = options;
  const before = await world();
  const open = new Set<string>();
  for (const item of contract.abi.filter(isWrite)) {
    const payable = item.stateMutability === "payable";
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...outsiders),
        fc.tuple(...item.inputs.map((input) => argument(input, pool))),
        fc.constantFrom(...(payable ? [0n, 1n] : [0n])),
        async (from, args, value) => {
          const data = encodeFunctionData({ abi: [item], args });
          // Most calls are rejected, and a simulation needs no snapshot.
          if (!(await accepts(evm.callRaw(from, contract.address, data, value)))) return;
          open.add(item.name);
          await evm.undone(async () => {
            await evm.sendRaw(from, contract.address, data, value);
            expect(await world()).toEqual(before);
          });
        },
      ),
      { numRuns },
    );
  }
  return [...open];
}

async function accepts(sent: Promise<unknown>): Promise<boolean> {
  try {
    await sent;
    return true;
  } catch (error) {
    if (error instanceof RevertedError) return false;
    throw error;
  }
}

function isWrite(item: Abi[number]): item is AbiFunction {
  return item.type === "function" && item.stateMutability !== "view" && item.stateMutability !== "pure";
}

function argument(parameter: AbiParameter, pool: ArgumentPool): fc.Arbitrary<unknown> {
  const { type } = parameter;
  if ("components" in parameter) {
    return fc.record(
      Object.fromEntries(
        parameter.components.map((component) => [component.name ?? "", argument(component, pool)]),
      ),
    );
  }
  // One above the largest enum value as well: the calldata check has to catch it.
  if (type === "uint8") return fc.integer({ min: 0, max: 4 });
  if (type === "uint16") return fc.integer({ min: 0, max: 10_001 });
  if (type === "uint48") return fc.constantFrom(0, 2 ** 48 - 1);
  if (type === "uint256") return fc.constantFrom(...pool.numbers);
  if (type === "address") return fc.constantFrom(...pool.addresses);
  if (type === "bytes4") return fc.constantFrom("0x00000000", "0xdeadbeef");
  if (type === "bytes32") return fc.constantFrom(...pool.words);
  if (type === "bytes") return fc.constantFrom("0x", "0x0102");
  if (type === "string") return fc.constantFrom("", "ipfs://changed");
  if (type === "bool") return fc.boolean();
  throw new Error(`No values for ${type}`);
}
