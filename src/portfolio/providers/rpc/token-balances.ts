// Token balances of one wallet, by the best way that the node allows.
import type { ChainAt } from "../../types.ts";
import { multicallBalances } from "./multicall-balances.ts";
import { type BalanceQuestion, type Balances, scanBalances } from "./scan-balances.ts";

/** Complete, or it rejects. */
export async function readBalances(
  at: ChainAt,
  question: BalanceQuestion,
  signal: AbortSignal,
): Promise<Balances> {
  if (question.tokens.length === 0) return { held: new Map(), failed: [] };
  return (await scanBalances(at, question, signal)) ?? (await multicallBalances(at, question, signal));
}
