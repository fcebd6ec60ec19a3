// The gauges of a voter in which a wallet has staked something: all gauges are asked, in a few calls, whenever it staked.
import {
  gaugeScannerAbi as abi,
  gaugeScannerRuntimeBytecode as code,
} from "@sextant/contracts/generated/gauge-scanner";
import { createFunctionCodec } from "../../lib/abi/codec.ts";
import { nullIfMalformed } from "../../lib/abi/words.ts";
import type { Hex } from "../../lib/hex.ts";
import type { PinnedChain, WalletQuery } from "../types.ts";

/** A gauge takes about 13,000 gas: two thirds of what every node gives a call. */
const GAUGES_PER_CALL = 1_500;
/** Sent before the number of gauges is known: enough for most voters, so that they take one round trip. */
const FIRST_CALLS = 2;
/** Ten calls: several times what voters have. A warning states how many gauges were not asked. */
const GAUGES_MAX = 15_000;
/** A call that runs low on gas is continued; a node that gives less than a tenth of it is not worth the time. */
const CONTINUATIONS_MAX = 10;

/** Far beyond any voter, and exact as a number. */
const LENGTH_MAX = 1_000_000n;

type StakedGauge = {
  readonly pool: Hex;
  readonly gauge: Hex;
  /** Whether it holds liquidity NFTs instead of the pool's tokens. */
  readonly holdsNfts: boolean;
};
type GaugeScan = {
  readonly gauges: readonly StakedGauge[];
  /** How many gauges the voter has beyond our limit. */
  readonly unasked: number;
};
type Part = { readonly gauges: readonly StakedGauge[]; readonly next: number; readonly length: number };

const scan = createFunctionCodec(abi, "scan");

// Two readers of one snapshot share the gauges of a voter. A pinned chain lives as long as its snapshot.
const scansOf = new WeakMap<PinnedChain, Map<string, Promise<GaugeScan | null>>>();

/**
 * Null if the node does not run our code, or the address is not a voter: stakes are unknown. A reader that shared the
 * search of a failed one searches again.
 */
export async function findStakedGauges(
  { at, wallet }: WalletQuery,
  voter: Hex,
  signal: AbortSignal,
): Promise<GaugeScan | null> {
  const scans = scansOf.get(at) ?? new Map<string, Promise<GaugeScan | null>>();
  scansOf.set(at, scans);
  const key = `${voter} ${wallet}`;
  for (;;) {
    const shared = scans.get(key);
    const own = shared ?? scanVoter(at, { voter, wallet }, signal);
    scans.set(key, own);
    try {
      return await own;
    } catch (error) {
      if (scans.get(key) === own) scans.delete(key);
      if (shared === undefined || signal.aborted) throw error;
    }
  }
}

type ScanQuery = { readonly voter: Hex; readonly wallet: Hex };

async function scanVoter(at: PinnedChain, query: ScanQuery, signal: AbortSignal): Promise<GaugeScan | null> {
  const scanAll = (starts: readonly number[]) =>
    Promise.all(starts.map((from) => scanPart(at, query, from, signal)));
  const first = await scanAll(listStarts(0, FIRST_CALLS * GAUGES_PER_CALL));
  const length = first[0]?.length ?? 0;
  const asked = Math.min(length, GAUGES_MAX);
  const rest = await scanAll(listStarts(FIRST_CALLS * GAUGES_PER_CALL, asked));
  const parts = [...first, ...rest];
  const complete = parts.filter((part) => part !== null);
  if (complete.length < parts.length) return null;
  return { gauges: complete.flatMap(({ gauges }) => gauges), unasked: length - asked };
}

function listStarts(from: number, to: number): readonly number[] {
  const count = Math.max(0, Math.ceil((to - from) / GAUGES_PER_CALL));
  return Array.from({ length: count }, (_, index) => from + index * GAUGES_PER_CALL);
}

/** The gauges from a position on, in as many calls as the node's gas makes necessary. */
async function scanPart(
  at: PinnedChain,
  { voter, wallet }: ScanQuery,
  start: number,
  signal: AbortSignal,
): Promise<Part | null> {
  const gauges: StakedGauge[] = [];
  let from = start;
  for (let calls = 0; calls <= CONTINUATIONS_MAX; calls += 1) {
    const count = start + GAUGES_PER_CALL - from;
    const data = scan.encodeCall([voter, wallet, BigInt(from), BigInt(count)]);
    const part = decodePart(await at.callWithOverride({ code, data }, signal), { from, count });
    if (part === null) return null;
    gauges.push(...part.gauges);
    if (part.next >= Math.min(start + GAUGES_PER_CALL, part.length)) return { ...part, gauges };
    if (part.next === from) return null;
    from = part.next;
  }
  return null;
}

/** Null for anything that the scanner could not return. */
function decodePart(
  returnData: Hex | null,
  { from, count }: { readonly from: number; readonly count: number },
): Part | null {
  const result = returnData && nullIfMalformed(() => scan.decodeResult(returnData));
  if (!result) return null;
  const [gauges, next, length] = result;
  const isPlausible = length <= LENGTH_MAX && next <= length && next <= BigInt(from + count);
  if (!isPlausible || gauges.length > count) return null;
  return { gauges: [...gauges], next: Number(next), length: Number(length) };
}

/** A warning about what a scan has left out; null when nothing. */
export function describeGap(scan: GaugeScan | null, protocol: string, chain: string): string | null {
  if (scan === null) {
    return `Liquidity staked in gauges of ${protocol} on ${chain} may be missing: no node could search all gauges, so that only recent transfers show them.`;
  }
  if (scan.unasked === 0) return null;
  return `The newest ${scan.unasked} gauges of ${protocol} on ${chain} were not searched for staked liquidity.`;
}
