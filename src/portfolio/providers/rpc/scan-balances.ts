// Balances by the scanner, lent to an empty address: thousands of tokens in one call, each with its own gas.
import {
  balanceScannerAbi as abi,
  balanceScannerRuntimeBytecode as code,
} from "@sextant/contracts/generated/balance-scanner";
import { decodeFunctionResult, toFunctionSelector } from "viem";
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

const SELECTOR = toFunctionSelector("scan(address,address[],uint256)");

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
    const data = encode({ ...question, tokens: rest });
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

// By hand: an encoder that looks at every address again takes longer than the node takes to answer.
function encode({ wallet, tokens, gasPerToken }: BalanceQuery): Hex {
  const head = [wallet.slice(2), TOKENS_OFFSET, gasPerToken.toString(16), tokens.length.toString(16)];
  // No digit is an x: every 0x is the beginning of an address.
  return `${SELECTOR}${head.map(word).join("")}${tokens.join("").replaceAll("0x", ADDRESS_PADDING)}`;
}

// Three words in: after the wallet, this offset itself, and the gas.
const TOKENS_OFFSET = (3 * 32).toString(16);
const ADDRESS_PADDING = "0".repeat(24);

function word(digits: string): string {
  return digits.padStart(64, "0");
}

function decode(answer: Hex, asked: readonly Hex[]): TokenBalances & { readonly next: number } {
  let decoded: ReturnType<typeof decodeScan>;
  try {
    decoded = decodeScan(answer);
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

function decodeScan(data: Hex) {
  return decodeFunctionResult({ abi, functionName: "scan", data });
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
