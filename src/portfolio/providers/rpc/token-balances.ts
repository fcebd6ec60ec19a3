// Token balances of one wallet, by the best way that the node allows.
import type { PinnedChain } from "../../types.ts";
import { readBalancesByMulticall } from "./multicall-balances.ts";
import { type BalanceQuery, readBalancesByScan, type TokenBalances } from "./scan-balances.ts";

/** Complete, or it rejects. */
export async function readTokenBalances(
  at: PinnedChain,
  question: BalanceQuery,
  signal: AbortSignal,
): Promise<TokenBalances> {
  if (question.tokens.length === 0) return { held: new Map(), failed: [] };
  return (
    (await readBalancesByScan(at, question, signal)) ?? (await readBalancesByMulticall(at, question, signal))
  );
}
