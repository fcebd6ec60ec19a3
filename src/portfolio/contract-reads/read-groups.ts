// Sends declared reads: those of known protocols together through Multicall3, those of untrusted contracts by themselves.
import { decodeAggregate3, encodeAggregate3, MULTICALL3 } from "../../chain/aggregate3.ts";
import { splitIntoChunks } from "../../lib/chunks.ts";
import type { Hex } from "../../lib/hex.ts";
import type { ContractRead, PinnedChain } from "../types.ts";
import { keyOfCall } from "./block-results.ts";
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

type CallReader = Pick<PinnedChain, "read" | "results">;

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

/** Equal calls are sent once, and those not at all whose results the block has for all wallets. */
async function sendCalls(
  at: CallReader,
  calls: readonly ContractRead[],
  signal: AbortSignal,
): Promise<CallResults> {
  if (calls.length === 0) return [];
  const keys = calls.map(keyOfCall);
  const results = new Map<string, Hex | null>();
  const open = new Map<string, ContractRead>();
  for (const [index, call] of calls.entries()) {
    const key = keys[index] ?? "";
    if (results.has(key) || open.has(key)) continue;
    const known = at.results?.find(key);
    if (known === undefined) open.set(key, call);
    else results.set(key, known);
  }
  const fetched = await fetchCalls(at, [...open.values()], signal);
  let next = 0;
  for (const [key, call] of open) {
    const result = fetched[next] ?? null;
    next += 1;
    results.set(key, result);
    at.results?.keep(key, call, result);
  }
  return keys.map((key) => results.get(key) ?? null);
}

/** In the order of the calls, which are distinct. */
async function fetchCalls(
  at: CallReader,
  calls: readonly ContractRead[],
  signal: AbortSignal,
): Promise<CallResults> {
  if (calls.length === 0) return [];
  const trusted = calls.filter(({ gasMax }) => gasMax === undefined);
  const untrusted = calls.filter(({ gasMax }) => gasMax !== undefined);
  const multicalls = splitIntoChunks(trusted, CALLS_PER_MULTICALL_MAX);
  const returned = await at.read([...multicalls.map(encodeMulticall), ...untrusted], signal);
  const resultOf = new Map<ContractRead, Hex | null>();
  const store = (own: readonly ContractRead[], results: CallResults) => {
    for (const [index, call] of own.entries()) resultOf.set(call, results[index] ?? null);
  };
  store(untrusted, returned.slice(multicalls.length));
  const failed: ContractRead[] = [];
  for (const [index, own] of multicalls.entries()) {
    // Multicall3 may be missing, may run out of gas, or another contract may be at its address: send its calls singly.
    const results = decodeAggregate3(returned[index] ?? "0x", own.length);
    if (results === null) failed.push(...own);
    else store(own, results);
  }
  if (failed.length > 0) store(failed, await at.read(failed, signal));
  return calls.map((call) => resultOf.get(call) ?? null);
}

function encodeMulticall(calls: readonly ContractRead[]): ContractRead {
  return { to: MULTICALL3, data: encodeAggregate3(calls), gasMax: MULTICALL_GAS_MAX };
}
