// Sends declared reads: those of known protocols together through Multicall3, others by themselves, each once for a block.
import { decodeAggregate3, encodeAggregate3, MULTICALL3 } from "../../chain/aggregate3.ts";
import { splitIntoChunks } from "../../lib/chunks.ts";
import type { Hex } from "../../lib/hex.ts";
import { LruMap } from "../../lib/lru-map.ts";
import type { ContractRead, KnownResults, PinnedChain } from "../types.ts";
import {
  type CallResults,
  joinEach,
  joinReads,
  type ReadGroup,
  type Reads,
  type ResultsOf,
} from "./reads.ts";

/** About 6 million gas with the most expensive calls: balances that accrue interest. */
const CALLS_PER_MULTICALL_MAX = 200;
const MULTICALL_GAS_MAX = 30_000_000;

type CallReader = Pick<PinnedChain, "read" | "results" | "early">;

/**
 * Reads a whole group in one round trip, or in two if a multicall fails; a call that occurs twice is sent once:
 * `const { debts, price } = await readGroups(at, signal, { debts: tokens.map(debtOf), price: getPrice(oracle) })`.
 */
export function readGroups<const Group extends ReadGroup>(
  at: CallReader,
  signal: AbortSignal,
  group: Group,
): Promise<ResultsOf<Group>> {
  const reads: Reads<unknown> = joinReads(group);
  // The compiler cannot follow a recursive type through a promise.
  return sendCalls(at, reads.calls, signal).then((results) => reads.decode(results)) as Promise<
    ResultsOf<Group>
  >;
}

/** Reads the same of each item: `await readEach(at, signal, tokens, (token) => erc20.balanceOf(token, [wallet]))`. */
export function readEach<Item, const Group extends ReadGroup>(
  at: CallReader,
  signal: AbortSignal,
  items: readonly Item[],
  declare: (item: Item) => Group,
): Promise<readonly (readonly [Item, ResultsOf<Group>])[]> {
  return readGroups(at, signal, joinEach(items, declare));
}

/** Equal calls are sent once, and those not at all whose results the block has for all wallets, or were sent early. */
async function sendCalls(
  at: CallReader,
  calls: readonly ContractRead[],
  signal: AbortSignal,
): Promise<CallResults> {
  if (calls.length === 0) return [];
  const keyed = calls.map((call) => ({ key: keyOfCall(call), call }));
  const early = at.early && (await at.early(keyed));
  const results: (Hex | null)[] = [];
  const open: ContractRead[] = [];
  const positionOf = new Map<string, number>();
  /** The place in `open` of each call that the block does not know, in the order of the calls. */
  const waiting: (readonly [index: number, position: number])[] = [];
  for (const [index, { key, call }] of keyed.entries()) {
    const shared = at.results?.find(key);
    const known = shared === undefined ? early?.get(key) : shared;
    if (shared === undefined && known !== undefined) at.results?.keep(key, call, known);
    results.push(known ?? null);
    if (known !== undefined) continue;
    let position = positionOf.get(key);
    if (position === undefined) {
      position = open.push(call) - 1;
      positionOf.set(key, position);
    }
    waiting.push([index, position]);
  }
  const fetched = await fetchCalls(at, open, signal);
  for (const [key, position] of positionOf) {
    const call = open[position];
    if (call !== undefined) at.results?.keep(key, call, fetched[position] ?? null);
  }
  for (const [index, position] of waiting) results[index] = fetched[position] ?? null;
  return results;
}

/** In the order of the calls, which are distinct. */
export async function fetchCalls(
  at: CallReader,
  calls: readonly ContractRead[],
  signal: AbortSignal,
): Promise<CallResults> {
  if (calls.length === 0) return [];
  const trusted = calls.filter(({ gasMax }) => gasMax === undefined);
  const untrusted = calls.filter(({ gasMax }) => gasMax !== undefined);
  const multicalls = splitIntoChunks(trusted, CALLS_PER_MULTICALL_MAX);
  const returned = await at.read([...multicalls.map(encodeMulticall), ...untrusted], signal);
  // Multicall3 may be missing, may run out of gas, or another contract may be at its address: send its calls singly.
  const decoded = multicalls.map((own, index) => decodeAggregate3(returned[index] ?? "0x", own.length));
  const failed = multicalls.filter((_, index) => decoded[index] === null).flat();
  const single = (failed.length > 0 ? await at.read(failed, signal) : []).values();
  const trustedResults = multicalls
    .flatMap((own, index) => decoded[index] ?? own.map(() => single.next().value ?? null))
    .values();
  const untrustedResults = returned.slice(multicalls.length).values();
  return calls.map(
    ({ gasMax }) => (gasMax === undefined ? trustedResults : untrustedResults).next().value ?? null,
  );
}

function encodeMulticall(calls: readonly ContractRead[]): ContractRead {
  return { to: MULTICALL3, data: encodeAggregate3(calls), gasMax: MULTICALL_GAS_MAX };
}

/** Yields what it needs next and receives the results: `const { owner } = yield* ask({ owner: ownerOf(vault) })`. */
export type ReadRoutine<Outcome> = Generator<Reads<unknown>, Outcome, unknown>;

/** One step of a routine. */
export function* ask<const Group extends ReadGroup>(group: Group): ReadRoutine<ResultsOf<Group>> {
  // `runRoutines` continues each routine with the decoded results of its own reads.
  return (yield joinReads(group)) as ResultsOf<Group>;
}

/** Takes as many round trips as the longest routine has steps. Outcomes are in the order of the routines. */
export async function runRoutines<Outcome>(
  at: PinnedChain,
  routines: readonly ReadRoutine<Outcome>[],
  signal: AbortSignal,
): Promise<readonly Outcome[]> {
  let steps = routines.map((routine) => routine.next());
  while (steps.some(({ done }) => !done)) {
    const results = await readGroups(
      at,
      signal,
      steps.map((step) => (step.done ? null : step.value)),
    );
    steps = steps.map((step, index) => (step.done ? step : (routines[index]?.next(results[index]) ?? step)));
  }
  return steps.flatMap((step) => (step.done ? [step.value] : []));
}

/** Snapshots that run at the same time are of a few neighbouring blocks. */
const BLOCKS_MAX = 4;
/** A chain without new blocks is read again: what a node returned once does not last. */
const AGE_MS_MAX = 30_000;

/** Prices, rates and reserves of every protocol of a chain are some hundred results of a few hundred characters. */
const TRUSTED_CHARS_MAX = 2_000_000;
/** Contracts of anyone have their own part: junk that is sent to wallets pushes out only its like. */
const UNTRUSTED_CHARS_MAX = 500_000;
/** A longer result is rare, and nothing that many wallets need. */
const RESULT_CHARS_MAX = 20_000;
/** Beyond the characters: the entry itself. */
const CHARS_PER_ENTRY = 100;

/** Sub-accounts differ from their wallet in the last byte. */
const WALLET_DIGITS = 38;

/** Identifies equal calls. */
export function keyOfCall({ to, data, gasMax }: ContractRead): string {
  return gasMax === undefined ? `${to} ${data}` : `${to} ${data} ${gasMax}`;
}

/** A block is named by its hash: another one of the same height shares nothing. */
export class ResultsByBlock {
  readonly #blocks = new LruMap<Hex, BlockResults>(BLOCKS_MAX);
  readonly #nowMs: () => number;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  at(blockHash: Hex): BlockResults {
    const nowMs = this.#nowMs();
    const known = this.#blocks.get(blockHash);
    if (known !== undefined && nowMs - known.sinceMs < AGE_MS_MAX) return known;
    const results = new BlockResults(nowMs);
    this.#blocks.set(blockHash, results);
    return results;
  }
}

export class BlockResults {
  readonly sinceMs: number;
  readonly #results = new Map<string, Hex | null>();
  #trustedLeft = TRUSTED_CHARS_MAX;
  #untrustedLeft = UNTRUSTED_CHARS_MAX;

  constructor(sinceMs: number) {
    this.sinceMs = sinceMs;
  }

  of(wallet: Hex): KnownResults {
    const digits = wallet.slice(2, 2 + WALLET_DIGITS).toLowerCase();
    return {
      find: (key) => this.#results.get(key),
      keep: (key, call, result) => {
        if (!key.includes(digits)) this.#keep(key, call, result);
      },
    };
  }

  #keep(key: string, { gasMax }: ContractRead, result: Hex | null): void {
    // Without gas of its own a call fails for what its neighbours in a multicall use up, and a node may know no code.
    const isTrusted = gasMax === undefined;
    if (isTrusted && (result === null || result === "0x")) return;
    const length = result?.length ?? 0;
    const chars = key.length + length + CHARS_PER_ENTRY;
    if (length > RESULT_CHARS_MAX || chars > (isTrusted ? this.#trustedLeft : this.#untrustedLeft)) return;
    if (this.#results.has(key)) return;
    if (isTrusted) this.#trustedLeft -= chars;
    else this.#untrustedLeft -= chars;
    this.#results.set(copyText(key), result === null ? null : copyText(result));
  }
}

/** A part of a text keeps the whole alive: here a response of any size. */
export function copyText<T extends string>(text: T): T {
  return Buffer.from(text, "latin1").toString("latin1") as T;
}
