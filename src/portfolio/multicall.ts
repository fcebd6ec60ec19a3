// Batches contract reads: calls to known protocols go through Multicall3, calls to untrusted contracts are sent alone.
import { decodeAggregate3, encodeAggregate3, MULTICALL3 } from "../chain/aggregate3.ts";
import { splitIntoChunks } from "../lib/chunks.ts";
import type { Hex } from "../lib/hex.ts";
import { defineRead } from "./contract-reads/reads.ts";
import type { ContractRead, PinnedChain } from "./types.ts";

export function createCallEncoder(signature: string) {
  return defineRead(signature, (data) => data);
}

/** About 6 million gas with the most expensive calls: balances that accrue interest. */
const CALLS_PER_MULTICALL_MAX = 200;
const MULTICALL_GAS_MAX = 30_000_000;

/** In the order of the calls; null for a call that failed. */
export type CallResults = readonly (Hex | null)[];

/**
 * Reads all calls in one round trip, or in two when a multicall fails. A call with its own gas limit is never part of
 * a multicall: it could burn the gas of the others.
 */
export async function readByMulticall(
  at: PinnedChain,
  calls: readonly ContractRead[],
  signal: AbortSignal,
): Promise<CallResults> {
  if (calls.length === 0) return [];
  const trusted = calls.filter(({ gasMax }) => gasMax === undefined);
  const untrusted = calls.filter(({ gasMax }) => gasMax !== undefined);
  const groups = splitIntoChunks(trusted, CALLS_PER_MULTICALL_MAX);
  const results = await at.read([...groups.map(multicall), ...untrusted], signal);

  const resultOf = new Map<ContractRead, Hex | null>();
  const failedCalls: ContractRead[] = [];
  for (const [index, group] of groups.entries()) {
    // Multicall3 may be missing, may run out of gas, or another contract may be at its address: send its calls singly.
    const decoded = decodeAggregate3(results[index] ?? "0x", group.length);
    if (decoded === null) failedCalls.push(...group);
    else for (const [position, call] of group.entries()) resultOf.set(call, decoded[position] ?? null);
  }
  const singleResults = failedCalls.length > 0 ? await at.read(failedCalls, signal) : [];
  for (const [index, call] of failedCalls.entries()) resultOf.set(call, singleResults[index] ?? null);
  for (const [index, call] of untrusted.entries()) resultOf.set(call, results[groups.length + index] ?? null);
  return calls.map((call) => resultOf.get(call) ?? null);
}

function multicall(calls: readonly ContractRead[]): ContractRead {
  return { to: MULTICALL3, data: encodeAggregate3(calls), gasMax: MULTICALL_GAS_MAX };
}
