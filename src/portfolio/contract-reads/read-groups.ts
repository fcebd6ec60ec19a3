// Sends declared reads: those of known protocols together through Multicall3, those of untrusted contracts by themselves.
import { decodeAggregate3, encodeAggregate3, MULTICALL3 } from "../../chain/aggregate3.ts";
import { splitIntoChunks } from "../../lib/chunks.ts";
import type { Hex } from "../../lib/hex.ts";
import type { ContractRead, PinnedChain } from "../types.ts";
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

/**
 * Reads a whole group in one round trip, or in two if a multicall fails; a call that occurs twice is sent once:
 * `const { debts, price } = await readGroups(at, signal, { debts: tokens.map(debtOf), price: getPrice(oracle) })`.
 */
export function readGroups<const Group extends ReadGroup>(
  at: Pick<PinnedChain, "read">,
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
  at: Pick<PinnedChain, "read">,
  signal: AbortSignal,
  items: readonly Item[],
  declare: (item: Item) => Group,
): Promise<readonly (readonly [Item, ResultsOf<Group>])[]> {
  return readGroups(at, signal, joinEach(items, declare));
}

async function sendCalls(
  at: Pick<PinnedChain, "read">,
  calls: readonly ContractRead[],
  signal: AbortSignal,
): Promise<CallResults> {
  if (calls.length === 0) return [];
  const { trusted, untrusted, answers } = findDistinct(calls);
  const multicalls = splitIntoChunks(trusted, CALLS_PER_MULTICALL_MAX);
  const returned = await at.read(
    [...multicalls.map(encodeMulticall), ...untrusted.map(({ call }) => call)],
    signal,
  );
  for (const [index, answer] of untrusted.entries()) {
    answer.result = returned[multicalls.length + index] ?? null;
  }
  const failed: Answer[] = [];
  for (const [index, own] of multicalls.entries()) {
    // Multicall3 may be missing, may run out of gas, or another contract may be at its address: send its calls singly.
    const results = decodeAggregate3(returned[index] ?? "0x", own.length);
    if (results === null) failed.push(...own);
    else for (const [position, answer] of own.entries()) answer.result = results[position] ?? null;
  }
  const retried =
    failed.length > 0
      ? await at.read(
          failed.map(({ call }) => call),
          signal,
        )
      : [];
  for (const [index, answer] of failed.entries()) answer.result = retried[index] ?? null;
  return answers.map(({ result }) => result);
}

/** A call that is sent once, and its result, which every read of the same call shares. */
type Answer = { readonly call: ContractRead; result: Hex | null };

function findDistinct(calls: readonly ContractRead[]): {
  readonly trusted: readonly Answer[];
  readonly untrusted: readonly Answer[];
  /** The answer to each of the calls. */
  readonly answers: readonly Answer[];
} {
  const distinct = new Map<string, Answer>();
  const answers = calls.map((call) => {
    const key = `${call.to} ${call.data} ${call.gasMax ?? ""}`;
    const known = distinct.get(key) ?? { call, result: null };
    distinct.set(key, known);
    return known;
  });
  const [trusted, untrusted]: [Answer[], Answer[]] = [[], []];
  for (const answer of distinct.values()) {
    (answer.call.gasMax === undefined ? trusted : untrusted).push(answer);
  }
  return { trusted, untrusted, answers };
}

function encodeMulticall(answers: readonly Answer[]): ContractRead {
  return {
    to: MULTICALL3,
    data: encodeAggregate3(answers.map(({ call }) => call)),
    gasMax: MULTICALL_GAS_MAX,
  };
}
