// Finds forwarded calls inside a transaction's input and matches them with its events.
import { assertDefined } from "../../lib/assert-defined.ts";
import type { Hex } from "../../lib/hex.ts";

// Eight times the transaction size that public mempools accept.
const INPUT_BYTES_MAX = 1024 * 1024;
// A registration costs 100,000 gas, so even a block of 100 million has no more of them.
const CALLS_MAX = 1_000;
// Calls may overlap, and each may claim the rest of the input, so the limit counts bytes and not calls. At most a
// quarter of a second: a long call takes 4 ns per byte.
const DECODED_BYTES_MAX = 4 * 1024 * 1024;
// A short call takes 16 µs, however short it is.
const CALL_BYTES_MIN = 256;

const WORD_DIGITS = 64;
const SELECTOR_DIGITS = 8;
// A length of more digits than this is larger than any input.
const LENGTH_DIGITS = 8;

/**
 * The calls of a function inside an input, in order. Every wrapper (an account's execute, handleOps, a multicall, a
 * Safe's multiSend) forwards a call as bytes with their length in the word before. Searching for that at any offset and
 * in any nesting needs no list of wrappers. Empty if the input is too large to search.
 */
export function findForwardedCalls(input: Hex, selector: Hex): Hex[] {
  const calls: Hex[] = [];
  if (input.length > 2 + INPUT_BYTES_MAX * 2) return calls;
  const digits = selector.slice(2);
  for (let at = input.indexOf(digits, 2); at !== -1; at = input.indexOf(digits, at + 1)) {
    const call = at % 2 === 0 ? callAt(input, at) : null;
    if (call === null) continue;
    if (calls.length === CALLS_MAX) return [];
    calls.push(call);
  }
  return calls;
}

function callAt(input: Hex, at: number): Hex | null {
  const lengthAt = at - WORD_DIGITS;
  if (lengthAt < 2) return null;
  const zeros = input.slice(lengthAt, at - LENGTH_DIGITS);
  if (/[^0]/.test(zeros)) return null;
  const digits = Number.parseInt(input.slice(at - LENGTH_DIGITS, at), 16) * 2;
  if (digits < SELECTOR_DIGITS || at + digits > input.length) return null;
  return `0x${input.slice(at, at + digits)}`;
}

/**
 * Matches calls with events one to one: in order if each fits, otherwise only if a single call fits an event and was
 * forwarded at least as often as there are such events. An ambiguous event gets no call; no event gets one if matching
 * would decode too much.
 */
export function matchCallsToEvents<E>(
  events: readonly E[],
  calls: readonly Hex[],
  fits: (call: Hex, event: E) => boolean,
): ReadonlyMap<E, Hex> {
  const bytes = calls.reduce((sum, call) => sum + Math.max(CALL_BYTES_MIN, call.length / 2), 0);
  if (bytes > DECODED_BYTES_MAX) return new Map();
  if (calls.length === events.length) {
    const inOrder = new Map(
      events.map((event, index) => [event, assertDefined(calls[index], "the call of an event")] as const),
    );
    if ([...inOrder].every(([event, call]) => fits(call, event))) return inOrder;
  }
  if (bytes * events.length > DECODED_BYTES_MAX) return new Map();
  const choices = new Map(
    events.map((event) => [event, new Set(calls.filter((call) => fits(call, event)))] as const),
  );
  const matched = new Map<E, Hex>();
  for (const [event, choice] of choices) {
    const [call, another] = choice;
    if (call === undefined || another !== undefined) continue;
    const wanted = [...choices.values()].filter((each) => each.has(call)).length;
    if (calls.filter((each) => each === call).length >= wanted) matched.set(event, call);
  }
  return matched;
}
