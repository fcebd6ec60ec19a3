// Many calls as few requests: what protocols answer goes through Multicall3, strangers' contracts are asked alone.
import { multicall3Abi } from "@sextant/contracts/generated/multicall3";
import { type Abi, parseAbi } from "viem";
import { createFunctionCodec, type FunctionCodec } from "../lib/abi/codec.ts";
import { MalformedAbiError } from "../lib/abi/words.ts";
import { splitIntoChunks } from "../lib/chunks.ts";
import type { Hex } from "../lib/hex.ts";
import type { ContractRead, PinnedChain } from "./types.ts";

type CallEncoder = (to: Hex, args?: readonly unknown[], gasMax?: number) => ContractRead;

/** Compiled at the first call: most chains and wallets use only some of the functions. */
export function createCallEncoder(signature: string): CallEncoder {
  let codec: FunctionCodec | undefined;
  return (to, args = [], gasMax) => {
    codec ??= compileSignature(signature);
    const data = codec.encodeCall(args);
    return gasMax === undefined ? { to, data } : { to, data, gasMax };
  };
}

function compileSignature(signature: string): FunctionCodec {
  const abi: Abi = parseAbi([signature] as readonly string[]);
  const [item] = abi;
  if (item?.type !== "function") throw new Error(`Not a function: ${signature}`);
  return createFunctionCodec(abi, item.name);
}

/** The same address on every chain. */
export const MULTICALL3: Hex = "0xca11bde05977b3631167028862be2a173976ca11";

const aggregate3 = createFunctionCodec(multicall3Abi, "aggregate3");

/** Each call may fail alone. */
export function encodeAggregate3(calls: readonly Pick<ContractRead, "to" | "data">[]): Hex {
  return aggregate3.encodeCall([
    calls.map(({ to, data }) => ({ target: to, allowFailure: true, callData: data })),
  ]);
}

/** Null for a call that failed; null for the whole where it is not the result of so many calls. */
export function decodeAggregate3(returnData: Hex, count: number): readonly (Hex | null)[] | null {
  try {
    const results = aggregate3.decodeResult(returnData);
    if (results.length !== count) return null;
    return results.map(({ success, returnData }) => (success ? returnData : null));
  } catch (error) {
    if (error instanceof MalformedAbiError) return null;
    throw error;
  }
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
