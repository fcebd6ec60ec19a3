// Balances by Multicall3, for nodes without state overrides: a group that a hostile token fails is split and retried.

import { decodeWord } from "../../../lib/abi/return-data.ts";
import { splitIntoChunks } from "../../../lib/chunks.ts";
import { Fault } from "../../../lib/fault.ts";
import type { Hex } from "../../../lib/hex.ts";
import { type CallResults, decodeAggregate3, encodeAggregate3, MULTICALL3 } from "../../multicall.ts";
import { erc20 } from "../../tokens/erc20.ts";
import type { ContractRead, PinnedChain } from "../../types.ts";
import type { BalanceQuery, TokenBalances } from "./scan-balances.ts";

// About 6 million gas with ordinary tokens, a fifth of what every node allows a call.
const TOKENS_PER_CALL_MAX = 500;
const CALL_GAS_MAX = 30_000_000;

// 500, 63, 8, single: the calls of a round share one request, so more parts are faster than more rounds.
const SPLIT_PARTS = 8;
const SINGLE_CALLS_BELOW = 8;

// The cost of a call before the token gets any gas: 21,000 and its calldata.
const INTRINSIC_GAS = 25_000;

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
    TOKENS_PER_CALL_MAX,
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
    const balance = decodeWord(results[i]);
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
