// Balances by the scanner, lent to an empty address: thousands of tokens in one call, each with its own gas.
import {
  balanceScannerAbi as abi,
  balanceScannerRuntimeBytecode as code,
} from "@sextant/contracts/generated/balance-scanner";
import { createFunctionCodec } from "../../../lib/abi/codec.ts";
import { Fault } from "../../../lib/fault.ts";
import type { Hex } from "../../../lib/hex.ts";
import type { PinnedChain } from "../../types.ts";

export type BalanceQuery = {
  readonly wallet: Hex;
  /** Distinct. */
  readonly tokens: readonly Hex[];
  /** A token that needs more is one that failed. */
  readonly gasPerToken: number;
};

/** Every token is held, failed, or not held. */
export type TokenBalances = { readonly held: ReadonlyMap<Hex, bigint>; readonly failed: readonly Hex[] };

// Twelve thousand gas for each, twice what most tokens need, within what every node gives one call. A longer list is
// asked for in several calls at the same time, so that it takes no longer.
const TOKENS_PER_CALL_MAX = 2_500;

// Every call asks dozens of tokens at the very least; only an endless row of gas burners comes near this.
const CALLS_MAX = 200;

const scan = createFunctionCodec(abi, "scan");

/** Null where the node does not lend. */
export async function readBalancesByScan(
  at: PinnedChain,
  question: BalanceQuery,
  signal: AbortSignal,
): Promise<TokenBalances | null> {
  const { tokens } = question;
  const size = Math.ceil(tokens.length / Math.ceil(tokens.length / TOKENS_PER_CALL_MAX));
  const parts: Promise<TokenBalances | null>[] = [];
  for (let from = 0; from < tokens.length; from += size) {
    parts.push(scanPart(at, { ...question, tokens: tokens.slice(from, from + size) }, signal));
  }
  const found = await Promise.all(parts);
  const lent = found.filter((part) => part !== null);
  if (lent.length < found.length) return null;
  return {
    held: new Map(lent.flatMap(({ held }) => [...held])),
    failed: lent.flatMap(({ failed }) => failed),
  };
}

async function scanPart(
  at: PinnedChain,
  question: BalanceQuery,
  signal: AbortSignal,
): Promise<TokenBalances | null> {
  const held = new Map<Hex, bigint>();
  const failed: Hex[] = [];
  let rest = question.tokens;
  for (let calls = 0; rest.length > 0; calls += 1) {
    const data = scan.encodeCall([question.wallet, rest, BigInt(question.gasPerToken)]);
    const answer = await at.callWithOverride({ code, data }, signal);
    if (answer === null) return null;
    const found = decode(answer, rest);
    // Not one token fits into the gas that this node gives a call.
    if (found.next === 0 || calls === CALLS_MAX) return null;
    for (const [token, balance] of found.held) held.set(token, balance);
    failed.push(...found.failed);
    rest = rest.slice(found.next);
  }
  return { held, failed };
}

function decode(answer: Hex, asked: readonly Hex[]): TokenBalances & { readonly next: number } {
  let decoded: ReturnType<typeof scan.decodeResult>;
  try {
    decoded = scan.decodeResult(answer);
  } catch (cause) {
    throw untrue(cause);
  }
  const [holdings, failed, next] = decoded;
  const known = (index: bigint): Hex => {
    const token = index < next ? asked[Number(index)] : undefined;
    if (token === undefined) throw untrue();
    return token;
  };
  if (next > BigInt(asked.length)) throw untrue();
  return {
    held: new Map(holdings.map(({ index, balance }) => [known(index), balance])),
    failed: failed.map(known),
    next: Number(next),
  };
}

function untrue(cause?: unknown): Fault {
  return new Fault(
    "NODE_UNAVAILABLE",
    "A node answered a scan of balances with something that can not be true.",
    {
      cause,
    },
  );
}
