// Token balances, by the scanner contract where a node takes state overrides and by Multicall3 elsewhere.
import {
  balanceScannerAbi as abi,
  balanceScannerRuntimeBytecode as code,
} from "@sextant/contracts/generated/balance-scanner";
import { createFunctionCodec } from "../../../lib/abi/codec.ts";
import { decodeFirstWord } from "../../../lib/abi/return-data.ts";
import { splitIntoChunks } from "../../../lib/chunks.ts";
import { Fault } from "../../../lib/fault.ts";
import type { Hex } from "../../../lib/hex.ts";
import { type CallResults, decodeAggregate3, encodeAggregate3, MULTICALL3 } from "../../multicall.ts";
import { erc20 } from "../../tokens/erc20.ts";
import type { ContractRead, PinnedChain } from "../../types.ts";

export type BalanceQuery = {
  readonly wallet: Hex;
  /** Distinct. */
  readonly tokens: readonly Hex[];
  /** A token that needs more counts as failed. */
  readonly gasPerToken: number;
};

/** A token in neither has a balance of zero. */
export type TokenBalances = { readonly held: ReadonlyMap<Hex, bigint>; readonly failed: readonly Hex[] };

// Twelve thousand gas per token, twice what most need, within what every node allows a call. A longer list is split
// into concurrent calls, so that it takes no longer.
const TOKENS_PER_CALL_MAX = 2_500;

// Every call reads dozens of tokens at least; only an endless row of gas burners comes near this.
const CALLS_MAX = 200;

const scan = createFunctionCodec(abi, "scan");

/** Null when the node does not support state overrides. */
export async function readBalancesByScan(
  at: PinnedChain,
  query: BalanceQuery,
  signal: AbortSignal,
): Promise<TokenBalances | null> {
  const { tokens } = query;
  const size = Math.ceil(tokens.length / Math.ceil(tokens.length / TOKENS_PER_CALL_MAX));
  const parts: Promise<TokenBalances | null>[] = [];
  for (let from = 0; from < tokens.length; from += size) {
    parts.push(scanPart(at, { ...query, tokens: tokens.slice(from, from + size) }, signal));
  }
  const results = await Promise.all(parts);
  const supported = results.filter((result) => result !== null);
  if (supported.length < results.length) return null;
  return {
    held: new Map(supported.flatMap(({ held }) => [...held])),
    failed: supported.flatMap(({ failed }) => failed),
  };
}

async function scanPart(
  at: PinnedChain,
  query: BalanceQuery,
  signal: AbortSignal,
): Promise<TokenBalances | null> {
  const held = new Map<Hex, bigint>();
  const failed: Hex[] = [];
  let remaining = query.tokens;
  for (let calls = 0; remaining.length > 0; calls += 1) {
    const data = scan.encodeCall([query.wallet, remaining, BigInt(query.gasPerToken)]);
    const returnData = await at.callWithOverride({ code, data }, signal);
    if (returnData === null) return null;
    const scanned = decodeScan(returnData, remaining);
    // Not even one token fits into the gas that this node allows a call.
    if (scanned.next === 0 || calls === CALLS_MAX) return null;
    for (const [token, balance] of scanned.held) held.set(token, balance);
    failed.push(...scanned.failed);
    remaining = remaining.slice(scanned.next);
  }
  return { held, failed };
}

function decodeScan(returnData: Hex, tokens: readonly Hex[]): TokenBalances & { readonly next: number } {
  const [holdings, failed, next] = decodeResult(returnData);
  const tokenAt = (index: bigint): Hex => {
    const token = index < next ? tokens[Number(index)] : undefined;
    if (token === undefined) throw invalidScan();
    return token;
  };
  if (next > BigInt(tokens.length)) throw invalidScan();
  return {
    held: new Map(holdings.map(({ index, balance }) => [tokenAt(index), balance])),
    failed: failed.map(tokenAt),
    next: Number(next),
  };
}

function decodeResult(data: Hex) {
  try {
    return scan.decodeResult(data);
  } catch (cause) {
    throw invalidScan(cause);
  }
}

function invalidScan(cause?: unknown): Fault {
  return new Fault("NODE_UNAVAILABLE", "A node returned invalid data for a balance scan.", { cause });
}

// About 6 million gas with ordinary tokens, a fifth of what every node allows a call.
const MULTICALL_TOKENS_MAX = 500;
const CALL_GAS_MAX = 30_000_000;

// 500, 63, 8, single: the calls of a round share one request, so more parts are faster than more rounds.
const SPLIT_PARTS = 8;
const SINGLE_CALLS_BELOW = 8;

// The cost of a call before the token gets any gas: 21,000 and its calldata.
const INTRINSIC_GAS = 25_000;

/** Needs no state override. A group that a hostile token fails is split and retried. */
export async function readBalancesByMulticall(
  at: PinnedChain,
  { wallet, tokens, gasPerToken }: BalanceQuery,
  signal: AbortSignal,
): Promise<TokenBalances> {
  const balances = new Map<Hex, bigint>();
  const singles: ContractRead[] = [];
  // The calldata is the same for every token, so it is encoded once.
  const { data } = erc20.balanceOf(MULTICALL3, [wallet]);
  let groups = splitIntoChunks(
    tokens.map((to): ContractRead => ({ to, data })),
    MULTICALL_TOKENS_MAX,
  );
  while (groups.length > 0) {
    const calls = groups.map((group) => ({
      to: MULTICALL3,
      data: encodeAggregate3(group),
      // The sum of its tokens' limits: smaller groups of gas burners then cost the node less in every round.
      gasMax: Math.min(CALL_GAS_MAX, INTRINSIC_GAS + group.length * gasPerToken),
    }));
    const results = await at.read(calls, signal);
    const failedGroups: (readonly ContractRead[])[] = [];
    for (const [i, group] of groups.entries()) {
      const returnData = results[i] ?? null;
      if (returnData !== null) {
        // A gas burner may leave an honest token in its group with too little gas, so failed calls are retried alone.
        const decoded = decodeOrThrow(at, returnData, group.length);
        singles.push(...storeBalances(decoded, group, balances));
      } else if (group.length <= SINGLE_CALLS_BELOW) singles.push(...group);
      else failedGroups.push(...splitIntoChunks(group, Math.ceil(group.length / SPLIT_PARTS)));
    }
    groups = failedGroups;
  }
  const calls = singles.map((call) => ({ ...call, gasMax: INTRINSIC_GAS + gasPerToken }));
  const failed = storeBalances(await at.read(calls, signal), singles, balances);
  return {
    held: new Map([...balances].filter(([, balance]) => balance > 0n)),
    failed: failed.map(({ to }) => to),
  };
}

/** Stores the balances that could be read, and returns the calls that failed. */
function storeBalances(
  results: CallResults,
  calls: readonly ContractRead[],
  balances: Map<Hex, bigint>,
): readonly ContractRead[] {
  return calls.filter((call, i) => {
    const balance = decodeFirstWord(results[i]);
    if (balance !== null) balances.set(call.to, balance);
    return balance === null;
  });
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
