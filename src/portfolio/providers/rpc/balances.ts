// Token balances, by the scanner contract where a node takes state overrides and by Multicall3 elsewhere.
import {
  balanceScannerAbi as abi,
  balanceScannerRuntimeBytecode as code,
} from "@sextant/contracts/generated/balance-scanner";
import { MULTICALL3 } from "../../../chain/aggregate3.ts";
import { createFunctionCodec } from "../../../lib/abi/codec.ts";
import { decodeFirstWord } from "../../../lib/abi/return-data.ts";
import { Fault } from "../../../lib/fault.ts";
import type { Hex } from "../../../lib/hex.ts";
import { readBySplitMulticall } from "../../split-multicall.ts";
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

/** Needs no state override. */
export async function readBalancesByMulticall(
  at: PinnedChain,
  { wallet, tokens, gasPerToken }: BalanceQuery,
  signal: AbortSignal,
): Promise<TokenBalances> {
  // The calldata is the same for every token, so it is encoded once.
  const { data } = erc20.balanceOf(MULTICALL3, [wallet]);
  const calls = tokens.map((to): ContractRead => ({ to, data }));
  const results = await readBySplitMulticall(at, { calls, gasPerCall: gasPerToken }, signal);
  const balances = tokens.map((token, i) => [token, decodeFirstWord(results[i])] as const);
  return {
    held: new Map(balances.flatMap(([token, balance]) => (balance ? [[token, balance]] : []))),
    failed: balances.filter(([, balance]) => balance === null).map(([token]) => token),
  };
}
