// Calls to contracts that anyone may have deployed, bundled by code of ours that caps the gas and the result of each.
import {
  cappedCallerAbi as abi,
  cappedCallerRuntimeBytecode as code,
} from "@sextant/contracts/generated/capped-caller";
import { decodeAggregate3 } from "../../chain/aggregate3.ts";
import { createFunctionCodec } from "../../lib/abi/codec.ts";
import { splitIntoChunks } from "../../lib/chunks.ts";
import type { Hex } from "../../lib/hex.ts";
import type { ContractRead, PinnedChain } from "../types.ts";
import type { CallResults } from "./reads.ts";

/** Names, addresses and amounts fit; what is longer counts as a revert. */
const RESULT_BYTES_MAX = 2_048;
/** Calls with a higher limit are few, and go to contracts that something vouches for. */
const CAPPED_GAS_MAX = 500_000;
/** Half a megabyte of results at most, and six rounds when all of them burn their gas. */
const CALLS_PER_BUNDLE_MAX = 250;

const callAll = createFunctionCodec(abi, "callAll");

/**
 * Without the cap, a call with gas for a name can return 200 kilobytes, and anyone can send hundreds of tokens to any
 * wallet. One request for hundreds of calls; if the node does not support state overrides, each call is sent by itself.
 */
export async function readWithCaps(
  at: Pick<PinnedChain, "read" | "callWithOverride">,
  calls: readonly ContractRead[],
  signal: AbortSignal,
): Promise<CallResults> {
  const capped = calls.filter(isCapped);
  if (capped.length < 2) return at.read(calls, signal);
  const [others, ...bundles] = await Promise.all([
    at.read(
      calls.filter((call) => !isCapped(call)),
      signal,
    ),
    ...splitIntoChunks(capped, CALLS_PER_BUNDLE_MAX).map((bundle) => readBundle(at, bundle, signal)),
  ]);
  const [otherResults, cappedResults] = [others.values(), bundles.flat().values()];
  return calls.map((call) => (isCapped(call) ? cappedResults : otherResults).next().value ?? null);
}

function isCapped({ gasMax }: ContractRead): boolean {
  return gasMax !== undefined && gasMax <= CAPPED_GAS_MAX;
}

async function readBundle(
  at: Pick<PinnedChain, "read" | "callWithOverride">,
  calls: readonly ContractRead[],
  signal: AbortSignal,
): Promise<CallResults> {
  const results: (Hex | null)[] = [];
  // As many rounds as the gas burners among the calls need.
  while (results.length < calls.length) {
    const left = calls.slice(results.length);
    const data = callAll.encodeCall([
      left.map(({ to, gasMax = 0, data: calldata }) => ({
        target: to,
        gasMax: BigInt(gasMax),
        data: calldata,
      })),
      BigInt(RESULT_BYTES_MAX),
    ]);
    const made = decodeResults(await at.callWithOverride({ code, data }, signal), left.length);
    if (made.length === 0) return [...results, ...(await at.read(left, signal))];
    results.push(...made);
  }
  return results;
}

const WORD_DIGITS = 64;

/** Results of the first calls; empty when the node made none, or returned something else. */
function decodeResults(returnData: Hex | null, countMax: number): CallResults {
  const length = returnData?.slice(2 + WORD_DIGITS, 2 + 2 * WORD_DIGITS) ?? "";
  const count = length === "" ? 0n : BigInt(`0x${length}`);
  if (returnData === null || count > BigInt(countMax)) return [];
  // The results have the form of Multicall3's.
  return decodeAggregate3(returnData, Number(count)) ?? [];
}
