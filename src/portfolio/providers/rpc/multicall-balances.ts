// Balances through Multicall3, for nodes that do not lend: a batch that a hostile token ruins is asked in parts.

import { decodeWord } from "../../../lib/abi/return-data.ts";
import { splitIntoChunks } from "../../../lib/chunks.ts";
import { Fault } from "../../../lib/fault.ts";
import type { Hex } from "../../../lib/hex.ts";
import { createCallEncoder, decodeAggregate3, encodeAggregate3, MULTICALL3 } from "../../multicall.ts";
import type { ContractRead, PinnedChain } from "../../types.ts";
import type { BalanceQuery, TokenBalances } from "./scan-balances.ts";

const balanceOf = createCallEncoder("function balanceOf(address) view returns (uint256)");

// About 6 million gas with ordinary tokens, a fifth of what any node gives a call.
const TOKENS_PER_CALL_MAX = 500;
const CALL_GAS_MAX = 30_000_000;

// 500, 63, 8, alone: calls of one round travel together, so more parts cost less time than more rounds.
const PARTS = 8;
const ALONE_BELOW = 8;

// What a call costs before the token sees any gas: 21,000 and its calldata.
const INTRINSIC_GAS = 25_000;

export async function readBalancesByMulticall(
  at: PinnedChain,
  { wallet, tokens, gasPerToken }: BalanceQuery,
  signal: AbortSignal,
): Promise<TokenBalances> {
  const balances = new Map<Hex, bigint>();
  const alone: ContractRead[] = [];
  // Everyone is asked the same, so it is encoded once.
  const { data } = balanceOf(MULTICALL3, [wallet]);
  let groups = splitIntoChunks(
    tokens.map((to): ContractRead => ({ to, data })),
    TOKENS_PER_CALL_MAX,
  );
  while (groups.length > 0) {
    const calls = groups.map((group) => ({
      to: MULTICALL3,
      data: encodeAggregate3(group),
      // No more than its tokens may use together, so that burning it all costs the node less in every round.
      gasMax: Math.min(CALL_GAS_MAX, INTRINSIC_GAS + group.length * gasPerToken),
    }));
    const answers = await at.read(calls, signal);
    const ruined: (readonly ContractRead[])[] = [];
    for (const [i, group] of groups.entries()) {
      const answer = answers[i] ?? null;
      // Beside a token that burns all gas an honest one may be left with too little, so whoever fails is asked once more.
      if (answer !== null) alone.push(...note(opened(at, answer, group.length), group, balances));
      else if (group.length <= ALONE_BELOW) alone.push(...group);
      else ruined.push(...splitIntoChunks(group, Math.ceil(group.length / PARTS)));
    }
    groups = ruined;
  }
  const calls = alone.map((call) => ({ ...call, gasMax: INTRINSIC_GAS + gasPerToken }));
  const failed = note(await at.read(calls, signal), alone, balances);
  return {
    held: new Map([...balances].filter(([, balance]) => balance > 0n)),
    failed: failed.map(({ to }) => to),
  };
}

/** Keeps the balances that were answered, and gives back the calls that were not. */
function note(
  answers: readonly (Hex | null)[],
  calls: readonly ContractRead[],
  balances: Map<Hex, bigint>,
): readonly ContractRead[] {
  return calls.filter((call, i) => {
    const balance = decodeWord(answers[i]);
    if (balance !== null) balances.set(call.to, balance);
    return balance === null;
  });
}

function opened(at: PinnedChain, answer: Hex, count: number): readonly (Hex | null)[] {
  // A call to an account without code succeeds with nothing.
  if (answer === "0x") {
    const message = `The node of ${at.chain.name} lends no code to a call, and Multicall3 is not there either.`;
    throw new Fault("NODE_REFUSED", message);
  }
  const results = decodeAggregate3(answer, count);
  if (results !== null) return results;
  throw new Fault("NODE_UNAVAILABLE", "A node answered for Multicall3 with something that can not be true.");
}
