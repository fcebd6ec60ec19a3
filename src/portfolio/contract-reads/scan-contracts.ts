// Calls to contracts that anyone may have deployed, bundled by code of ours that caps the gas and the result of each.

import {
  cappedCallerAbi as abi,
  cappedCallerRuntimeBytecode as code,
} from "@sextant/contracts/generated/capped-caller";
import { decodeAggregate3, encodeAggregate3, MULTICALL3 } from "../../chain/aggregate3.ts";
import { createFunctionCodec } from "../../lib/abi/codec.ts";
import { decodeFirstWord } from "../../lib/abi/return-data.ts";
import { splitIntoChunks } from "../../lib/chunks.ts";
import { Fault } from "../../lib/fault.ts";
import type { Hex } from "../../lib/hex.ts";
import type { ContractRead, PinnedChain } from "../types.ts";
import type { CallResults } from "./reads.ts";

/** The result of a scan for the first `next` items: those with a value that is not zero, and those that failed. */
type ScannedPart<Value> = readonly [
  found: readonly (Value & { readonly index: bigint })[],
  failed: readonly bigint[],
  next: bigint,
];

/** Items to read, by code of ours in one call, or by a call for each. */
type ContractScan<Item, Value> = {
  readonly items: readonly Item[];
  /** Items beyond it go into concurrent calls, so that a longer list takes no longer. */
  readonly itemsPerCall: number;
  /** Calls one after another for these; only an endless row of gas burners comes near it. */
  readonly callsMax: number;
  /** Our code, which a node with state overrides places for the call. */
  readonly code: Hex;
  encode(items: readonly Item[]): Hex;
  /** May throw. */
  decode(returnData: Hex): ScannedPart<Value>;
  /** The call for one item, for nodes without state overrides. */
  callOf(item: Item): Pick<ContractRead, "to" | "data">;
  /** Reads the return data of that call, a word or more; null for zero. */
  decodeOne(returnData: Hex): Value | null;
  /** A contract that needs more has failed. */
  readonly gasPerItem: number;
  /** As errors name it. */
  readonly title: string;
};

/** An item in neither list has a value of zero. */
type Scanned<Item, Value> = {
  readonly found: readonly (readonly [Item, Value])[];
  readonly failed: readonly Item[];
};

/** A scan of a few contracts keeps no node busy, even if each burns its gas. */
const SMALL_GAS_MAX = 3_000_000;

/** Scans by our own code if the node supports state overrides; the rest is read by multicalls. */
export async function scanContracts<Item, Value>(
  at: PinnedChain,
  scan: ContractScan<Item, Value>,
  signal: AbortSignal,
): Promise<Scanned<Item, Value>> {
  const parts = await Promise.all(splitList(scan).map((part) => scanByOverride(at, scan, part, signal)));
  const left = parts.flatMap((part) => part.left);
  const rest = left.length > 0 ? [await scanByMulticall(at, scan, left, signal)] : [];
  return {
    found: [...parts, ...rest].flatMap(({ found }) => found),
    failed: [...parts, ...rest].flatMap(({ failed }) => failed),
  };
}

/** The parts of a list that every wallet is scanned for stay the same, and with them what is made of each part. */
const partsOf = new WeakMap<readonly unknown[], readonly (readonly unknown[])[]>();

function splitList<Item>({ items, itemsPerCall }: ContractScan<Item, unknown>): readonly (readonly Item[])[] {
  if (items.length <= itemsPerCall) return [items];
  // Only this function keeps parts, and of each list always of the same size.
  const known = partsOf.get(items) as readonly (readonly Item[])[] | undefined;
  if (known !== undefined) return known;
  const parts = splitIntoChunks(items, Math.ceil(items.length / Math.ceil(items.length / itemsPerCall)));
  partsOf.set(items, parts);
  return parts;
}

async function scanByOverride<Item, Value>(
  at: PinnedChain,
  scan: ContractScan<Item, Value>,
  items: readonly Item[],
  signal: AbortSignal,
): Promise<Scanned<Item, Value> & { readonly left: readonly Item[] }> {
  const found: (readonly [Item, Value])[] = [];
  const failed: Item[] = [];
  let left = items;
  for (let calls = 0; left.length > 0 && calls < scan.callsMax; calls += 1) {
    const isSmall = left.length * scan.gasPerItem <= SMALL_GAS_MAX;
    const call = { code: scan.code, data: scan.encode(left), isSmall };
    const returnData = await at.callWithOverride(call, signal);
    if (returnData === null) break;
    const [findings, failures, next] = decodePart(scan, returnData);
    const itemAt = (index: bigint): Item => {
      const item = index < next ? left[Number(index)] : undefined;
      if (item === undefined) throw invalidScan(scan);
      return item;
    };
    if (next > BigInt(left.length)) throw invalidScan(scan);
    found.push(...findings.map((finding) => [itemAt(finding.index), finding] as const));
    failed.push(...failures.map(itemAt));
    // Not even one item fits into the gas that this node allows a call.
    if (next === 0n) break;
    left = left.slice(Number(next));
  }
  return { found, failed, left };
}

function decodePart<Value>(
  scan: Pick<ContractScan<unknown, Value>, "decode" | "title">,
  returnData: Hex,
): ScannedPart<Value> {
  try {
    return scan.decode(returnData);
  } catch (cause) {
    throw invalidScan(scan, cause);
  }
}

function invalidScan({ title }: Pick<ContractScan<unknown, unknown>, "title">, cause?: unknown): Fault {
  return new Fault("NODE_UNAVAILABLE", `A node returned invalid data for ${title}.`, { cause });
}

async function scanByMulticall<Item, Value>(
  at: PinnedChain,
  { callOf, decodeOne, gasPerItem }: ContractScan<Item, Value>,
  items: readonly Item[],
  signal: AbortSignal,
): Promise<Scanned<Item, Value>> {
  const results = await readInSplitGroups(at, items.map(callOf), gasPerItem, signal);
  const resultOf = new Map(items.map((item, index) => [item, results[index] ?? null]));
  return {
    found: [...resultOf].flatMap(([item, result]) => {
      const value = result === null ? null : decodeOne(result);
      return value === null ? [] : [[item, value] as const];
    }),
    failed: items.filter((item) => resultOf.get(item) === null),
  };
}

// About 6 million gas with ordinary tokens, a fifth of what every node allows a call.
const GROUP_CALLS_MAX = 500;
const CALL_GAS_MAX = 30_000_000;
// 500, 63, 8, single: the calls of a round share one request, so more parts are faster than more rounds.
const SPLIT_PARTS = 8;
const SINGLE_CALLS_BELOW = 8;
// The cost of a call before the contract gets any gas: 21,000 and its calldata.
const INTRINSIC_GAS = 25_000;

/** Splits groups that fail. In the order of the calls; null for one that failed or returned less than a word. */
async function readInSplitGroups(
  at: PinnedChain,
  calls: readonly Pick<ContractRead, "to" | "data">[],
  gasPerCall: number,
  signal: AbortSignal,
): Promise<CallResults> {
  const results: (Hex | null)[] = calls.map(() => null);
  const singles: number[] = [];
  let groups = splitIntoChunks([...calls.keys()], GROUP_CALLS_MAX);
  const callsOf = (group: readonly number[]) => group.flatMap((index) => calls[index] ?? []);
  /** Returns the calls without a result. */
  const store = (group: readonly number[], returned: CallResults) =>
    group.filter((index, i) => {
      const result = returned[i] ?? null;
      if (decodeFirstWord(result) === null) return true;
      results[index] = result;
      return false;
    });
  while (groups.length > 0) {
    const returned = await at.read(
      groups.map((group) => ({
        to: MULTICALL3,
        data: encodeAggregate3(callsOf(group)),
        // The sum of its calls' limits: smaller groups of gas burners then cost the node less in every round.
        gasMax: Math.min(CALL_GAS_MAX, INTRINSIC_GAS + group.length * gasPerCall),
      })),
      signal,
    );
    const failedGroups: (readonly number[])[] = [];
    for (const [i, group] of groups.entries()) {
      const returnData = returned[i] ?? null;
      // A gas burner may leave an honest contract in its group with too little gas, so failed calls are retried alone.
      if (returnData !== null) singles.push(...store(group, decodeOrThrow(at, returnData, group.length)));
      else if (group.length <= SINGLE_CALLS_BELOW) singles.push(...group);
      else failedGroups.push(...splitIntoChunks(group, Math.ceil(group.length / SPLIT_PARTS)));
    }
    groups = failedGroups;
  }
  const gasMax = INTRINSIC_GAS + gasPerCall;
  const alone = callsOf(singles).map((call) => ({ ...call, gasMax }));
  store(singles, await at.read(alone, signal));
  return results;
}

function decodeOrThrow(at: PinnedChain, returnData: Hex, count: number): CallResults {
  // A call to an account without code succeeds with empty return data.
  if (returnData === "0x") {
    const message = `The node of ${at.chain.name} does not support state overrides, and Multicall3 is not deployed there.`;
    throw new Fault("NODE_REFUSED", message);
  }
  const results = decodeAggregate3(returnData, count);
  if (results !== null) return results;
  throw new Fault("NODE_UNAVAILABLE", "A node returned invalid data for Multicall3.");
}

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
