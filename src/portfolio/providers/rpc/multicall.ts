// Balances through Multicall3, for nodes that do not lend: a batch that a hostile token ruins is asked in parts.
import { multicall3Abi as abi } from "@sextant/contracts/generated/multicall3";
import { decodeFunctionResult, encodeFunctionData, erc20Abi } from "viem";
import { Fault } from "../../../kit/fault.ts";
import type { Hex } from "../../../kit/hex.ts";
import type { ChainAt } from "../../ports.ts";
import type { BalanceQuestion, Balances } from "./scan.ts";

const MULTICALL3: Hex = "0xca11bde05977b3631167028862be2a173976ca11";

// About 6 million gas with ordinary tokens, a fifth of what any node gives a call.
const TOKENS_PER_CALL_MAX = 500;
const CALL_GAS_MAX = 30_000_000;

// 500, 63, 8, alone: calls of one round travel together, so more parts cost less time than more rounds.
const PARTS = 8;
const ALONE_BELOW = 8;

// What a call costs before the token sees any gas: 21,000 and its calldata.
const INTRINSIC_GAS = 25_000;

const ONE_WORD = 2 + 64;

export async function multicallBalances(
  at: ChainAt,
  { wallet, tokens, gasPerToken }: BalanceQuestion,
  signal: AbortSignal,
): Promise<Balances> {
  const balanceOf = encodeFunctionData({ abi: erc20Abi, functionName: "balanceOf", args: [wallet] });
  const balances = new Map<Hex, bigint>();
  const alone: Hex[] = [];
  let groups = chunks(tokens, TOKENS_PER_CALL_MAX);
  while (groups.length > 0) {
    const calls = groups.map((group) => ({
      to: MULTICALL3,
      data: encode(group, balanceOf),
      // No more than its tokens may use together, so that burning it all costs the node less in every round.
      gasMax: Math.min(CALL_GAS_MAX, INTRINSIC_GAS + group.length * gasPerToken),
    }));
    const answers = await at.read(calls, signal);
    const ruined: (readonly Hex[])[] = [];
    for (const [i, group] of groups.entries()) {
      const answer = answers[i] ?? null;
      if (answer !== null) note(decode(at, answer, group), group, balances, alone);
      else if (group.length <= ALONE_BELOW) alone.push(...group);
      else ruined.push(...chunks(group, Math.ceil(group.length / PARTS)));
    }
    groups = ruined;
  }
  const failed = await askAlone(at, alone, { data: balanceOf, gasPerToken }, balances, signal);
  return { held: new Map([...balances].filter(([, balance]) => balance > 0n)), failed };
}

// Beside a token that burns all gas an honest one may be left with too little, so whoever fails is asked once more.
function note(
  results: readonly (bigint | null)[],
  group: readonly Hex[],
  balances: Map<Hex, bigint>,
  alone: Hex[],
): void {
  for (const [i, token] of group.entries()) {
    const balance = results[i] ?? null;
    if (balance === null) alone.push(token);
    else balances.set(token, balance);
  }
}

async function askAlone(
  at: ChainAt,
  tokens: readonly Hex[],
  { data, gasPerToken }: { readonly data: Hex; readonly gasPerToken: number },
  balances: Map<Hex, bigint>,
  signal: AbortSignal,
): Promise<readonly Hex[]> {
  const calls = tokens.map((to) => ({ to, data, gasMax: INTRINSIC_GAS + gasPerToken }));
  const answers = await at.read(calls, signal);
  const failed: Hex[] = [];
  for (const [i, token] of tokens.entries()) {
    const balance = oneWord(answers[i] ?? null);
    if (balance === null) failed.push(token);
    else balances.set(token, balance);
  }
  return failed;
}

function encode(tokens: readonly Hex[], callData: Hex): Hex {
  const calls = tokens.map((target) => ({ target, allowFailure: true, callData }));
  return encodeFunctionData({ abi, functionName: "aggregate3", args: [calls] });
}

function decode(at: ChainAt, data: Hex, group: readonly Hex[]): readonly (bigint | null)[] {
  // A call to an account without code succeeds with nothing.
  if (data === "0x") {
    const message = `The node of ${at.chain.name} lends no code to a call, and Multicall3 is not there either.`;
    throw new Fault("NODE_REFUSED", message);
  }
  try {
    const results = decodeFunctionResult({ abi, functionName: "aggregate3", data });
    if (results.length !== group.length)
      throw new RangeError(`${results.length} results for ${group.length} calls`);
    return results.map(({ success, returnData }) => (success ? oneWord(returnData) : null));
  } catch (cause) {
    throw new Fault(
      "NODE_UNAVAILABLE",
      "A node answered for Multicall3 with something that can not be true.",
      {
        cause,
      },
    );
  }
}

function oneWord(answer: Hex | null): bigint | null {
  return answer?.length === ONE_WORD ? BigInt(answer) : null;
}

function chunks<T>(list: readonly T[], size: number): (readonly T[])[] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, i) =>
    list.slice(i * size, (i + 1) * size),
  );
}
