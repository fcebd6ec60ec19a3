// Many calls as few requests: what protocols answer goes through Multicall3, strangers' contracts are asked alone.
import { type AbiFunction, concatHex, encodeAbiParameters, parseAbi, toFunctionSelector } from "viem";
import { splitIntoChunks } from "../lib/chunks.ts";
import type { Hex } from "../lib/hex.ts";
import type { ContractRead, PinnedChain } from "./types.ts";

// One encoded contract call from a readable signature.

type CallEncoder = (to: Hex, args?: readonly unknown[], gasMax?: number) => ContractRead;

/** The signature is parsed and hashed once, at the first call: a wallet costs hundreds of calls of a few functions. */
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

// Multicall3's aggregate3, word by word: a general encoder looks at every address and byte again, hundreds of times.

/** Where it stands on every chain. */
export const MULTICALL3: Hex = "0xca11bde05977b3631167028862be2a173976ca11";

const AGGREGATE3 = "0x82ad56cb";
const WORD = 64;
const word = (value: number) => value.toString(16).padStart(WORD, "0");
const FIRST = word(32);
const YES = word(1);
/** Where a call's bytes begin: after target, permission to fail, and this offset. */
const CALL_BYTES = word(3 * 32);
const ADDRESS_PADDING = "0".repeat(24);

/** Each call may fail alone. */
export function encodeAggregate3(calls: readonly Pick<ContractRead, "to" | "data">[]): Hex {
  const offsets: string[] = [];
  const tuples: string[] = [];
  let offset = calls.length * 32;
  for (const { to, data } of calls) {
    const digits = data.slice(2);
    const padded = digits.padEnd(Math.ceil(digits.length / WORD) * WORD, "0");
    offsets.push(word(offset));
    tuples.push(ADDRESS_PADDING, to.slice(2), YES, CALL_BYTES, word(digits.length / 2), padded);
    offset += 4 * 32 + padded.length / 2;
  }
  return `${AGGREGATE3}${FIRST}${word(calls.length)}${offsets.join("")}${tuples.join("")}`;
}

/** Null for a call that failed; null for the whole where it is not the answer to so many calls. */
export function decodeAggregate3(answer: Hex, count: number): readonly (Hex | null)[] | null {
  const digits = answer.slice(2);
  /** A number that points into the answer; anything larger is none. */
  const at = (place: number): number => {
    const text = digits.slice(place, place + WORD);
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

/** About 6 million gas with the dearest of them, balances that accrue interest. */
const CALLS_PER_BUNDLE_MAX = 200;
const BUNDLE_GAS_MAX = 30_000_000;

type Answers = readonly (Hex | null)[];

/**
 * Answers in order, null for a revert, in one round trip; one more where the bundle can not be had. A call with a gas
 * limit of its own never travels with others: it could burn what they need.
 */
export async function readByMulticall(
  at: PinnedChain,
  calls: readonly ContractRead[],
  signal: AbortSignal,
): Promise<Answers> {
  if (calls.length === 0) return [];
  const trusted = calls.filter(({ gasMax }) => gasMax === undefined);
  const alone = calls.filter(({ gasMax }) => gasMax !== undefined);
  const bundles = splitIntoChunks(trusted, CALLS_PER_BUNDLE_MAX);
  const answers = await at.read([...bundles.map(bundled), ...alone], signal);

  const found = new Map<ContractRead, Hex | null>();
  const unopened: ContractRead[] = [];
  for (const [index, bundle] of bundles.entries()) {
    // Where Multicall3 is missing or gave out, or something else lives there, its calls have another way to go.
    const results = decodeAggregate3(answers[index] ?? "0x", bundle.length);
    if (results === null) unopened.push(...bundle);
    else for (const [place, call] of bundle.entries()) found.set(call, results[place] ?? null);
  }
  const again = unopened.length > 0 ? await at.read(unopened, signal) : [];
  for (const [index, call] of unopened.entries()) found.set(call, again[index] ?? null);
  for (const [index, call] of alone.entries()) found.set(call, answers[bundles.length + index] ?? null);
  return calls.map((call) => found.get(call) ?? null);
}

function bundled(calls: readonly ContractRead[]): ContractRead {
  return { to: MULTICALL3, data: encodeAggregate3(calls), gasMax: BUNDLE_GAS_MAX };
}
