// Batches contract reads: calls to known protocols go through Multicall3, calls to untrusted contracts are sent alone.
import { type AbiFunction, concatHex, encodeAbiParameters, parseAbi, toFunctionSelector } from "viem";
import { splitIntoChunks } from "../lib/chunks.ts";
import type { Hex } from "../lib/hex.ts";
import type { ContractRead, PinnedChain } from "./types.ts";

type CallEncoder = (to: Hex, args?: readonly unknown[], gasMax?: number) => ContractRead;

/** Parses and hashes the signature once, on first use: a wallet needs hundreds of calls of a few functions. */
export function createCallEncoder(signature: string): CallEncoder {
  let prepared: { readonly selector: Hex; readonly inputs: AbiFunction["inputs"] } | undefined;
  const prepare = () => {
    const [item] = parseAbi([signature] as readonly string[]) as readonly AbiFunction[];
    if (!item) throw new Error(`Not a function: ${signature}`);
    return { selector: toFunctionSelector(item), inputs: item.inputs };
  };
  return (to, args = [], gasMax) => {
    prepared ??= prepare();
    const { selector, inputs } = prepared;
    const data = args.length === 0 ? selector : concatHex([selector, encodeAbiParameters(inputs, args)]);
    return gasMax === undefined ? { to, data } : { to, data, gasMax };
  };
}

// Multicall3's aggregate3 encoded by hand: a general encoder validates every address and byte again, hundreds of times.

/** The same address on every chain. */
export const MULTICALL3: Hex = "0xca11bde05977b3631167028862be2a173976ca11";

const AGGREGATE3 = "0x82ad56cb";
const WORD = 64;
const word = (value: number) => value.toString(16).padStart(WORD, "0");
const ARRAY_OFFSET = word(32);
const ALLOW_FAILURE = word(1);
/** Offset of a call's data within its tuple: after target, allowFailure and this offset. */
const CALL_DATA_OFFSET = word(3 * 32);
const ADDRESS_PADDING = "0".repeat(24);

/** Every call may fail without failing the others. */
export function encodeAggregate3(calls: readonly Pick<ContractRead, "to" | "data">[]): Hex {
  const offsets: string[] = [];
  const tuples: string[] = [];
  let offset = calls.length * 32;
  for (const { to, data } of calls) {
    const digits = data.slice(2);
    const padded = digits.padEnd(Math.ceil(digits.length / WORD) * WORD, "0");
    offsets.push(word(offset));
    tuples.push(
      ADDRESS_PADDING,
      to.slice(2),
      ALLOW_FAILURE,
      CALL_DATA_OFFSET,
      word(digits.length / 2),
      padded,
    );
    offset += 4 * 32 + padded.length / 2;
  }
  return `${AGGREGATE3}${ARRAY_OFFSET}${word(calls.length)}${offsets.join("")}${tuples.join("")}`;
}

/** Null for each call that failed; null as a whole when the data is not the result of `count` calls. */
export function decodeAggregate3(returnData: Hex, count: number): readonly (Hex | null)[] | null {
  const digits = returnData.slice(2);
  /** Reads a small number such as an offset; NaN for a larger one. */
  const at = (position: number): number => {
    const text = digits.slice(position, position + WORD);
    return text.length === WORD && /^0{56}/.test(text) ? Number.parseInt(text, 16) : Number.NaN;
  };
  const list = at(0) * 2;
  if (at(list) !== count) return null;
  const base = list + WORD;
  const results: (Hex | null)[] = [];
  for (let index = 0; index < count; index += 1) {
    const tuple = base + at(base + index * WORD) * 2;
    const succeeded = at(tuple);
    const bytes = tuple + at(tuple + WORD) * 2;
    const from = bytes + WORD;
    const to = from + at(bytes) * 2;
    if (!(succeeded === 0 || succeeded === 1) || !(to <= digits.length)) return null;
    results.push(succeeded === 1 ? `0x${digits.slice(from, to)}` : null);
  }
  return results;
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
