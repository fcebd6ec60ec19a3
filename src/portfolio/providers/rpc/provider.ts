// The provider that needs nothing but a node: balances by scan, unlisted tokens and activity from transfer logs.

import type { Hex } from "../../../lib/hex.ts";
import { isPseudoNative } from "../../tokens/pseudo-native.ts";
import type {
  ChainConfig,
  ChainHoldings,
  Holding,
  HoldingsProvider,
  PinnedChain,
  WalletQuery,
} from "../../types.ts";
import { readBalancesByMulticall } from "./multicall-balances.ts";
import { readRecentTransfers, type TransferHistory } from "./recent-transfers.ts";
import { type BalanceQuery, readBalancesByScan, type TokenBalances } from "./scan-balances.ts";
import { compareNewestFirst, readTransferActivity } from "./transfer-activity.ts";
import { describeFailedTokens, describeHistoryGaps, describeSkippedTokens } from "./warnings.ts";

// Token balances of one wallet, by the best way that the node allows.

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

// Rebasing tokens behind two proxies need about 60,000; somebody chose these tokens, so they may take their time.
const LISTED_GAS = 300_000;

// Anyone can send a token to a wallet: these get less, and only so many are looked at, the newest first.
const UNLISTED_GAS = 100_000;
const UNLISTED_MAX = 300;

export const rpcHoldingsProvider: HoldingsProvider = {
  name: "rpc",
  async read(question, signal) {
    // What still runs when one part has failed would only keep the node busy.
    const ending = new AbortController();
    try {
      return await readHoldings(question, AbortSignal.any([signal, ending.signal]));
    } finally {
      ending.abort();
    }
  },
};

async function readHoldings({ at, wallet }: WalletQuery, signal: AbortSignal): Promise<ChainHoldings> {
  const { chain } = at;
  const listed = { wallet, tokens: [...chain.tokens.keys()], gasPerToken: LISTED_GAS };
  const [native, balances, sent, received] = await Promise.all([
    at.nativeBalance(wallet, signal),
    readTokenBalances(at, listed, signal),
    historyOrNull(at, wallet, "from", signal),
    historyOrNull(at, wallet, "to", signal),
  ]);
  const unlisted = unlistedTokens(at, received);
  const asked = unlisted.slice(0, UNLISTED_MAX);
  const logs = [...(sent?.logs ?? []), ...(received?.logs ?? [])];
  const [found, recent] = await Promise.all([
    readTokenBalances(at, { wallet, tokens: asked, gasPerToken: UNLISTED_GAS }, signal),
    readTransferActivity(at, logs, signal),
  ]);
  return {
    holdings: [
      ...(native > 0n ? [nativeHolding(chain, native)] : []),
      ...[...balances.held, ...found.held].map(([contract, amount]) => tokenHolding(chain, contract, amount)),
    ],
    activity: recent.activity,
    warnings: [
      ...describeFailedTokens(chain, balances.failed),
      ...describeFailedTokens(chain, found.failed),
      ...describeSkippedTokens(chain, unlisted.length, asked.length),
      ...describeHistoryGaps(chain, sent, received),
      ...recent.warnings,
    ],
  };
}

async function historyOrNull(
  at: PinnedChain,
  wallet: Hex,
  side: "from" | "to",
  signal: AbortSignal,
): Promise<TransferHistory | null> {
  try {
    return await readRecentTransfers(at, wallet, side, signal);
  } catch (error) {
    // Whoever gave up wants no answer; any other failure is told in the warnings.
    if (signal.aborted) throw error;
    return null;
  }
}

/** Contracts that sent the wallet something lately and are on no list, newest first. */
function unlistedTokens({ chain }: PinnedChain, received: TransferHistory | null): readonly Hex[] {
  const contracts = (received?.logs ?? [])
    .filter(({ isErc721: unique }) => unique !== true)
    .sort(compareNewestFirst)
    .map(({ contract }) => contract)
    .filter((contract) => !chain.tokens.has(contract) && !isPseudoNative(chain.chainId, contract));
  return [...new Set(contracts)];
}

/** As the lists know it; the contracts themselves are asked later, and only those of held tokens. */
function tokenHolding(chain: ChainConfig, contract: Hex, rawBalance: bigint): Holding {
  const unknown = { symbol: null, name: null, decimals: null, logo: null };
  return { ...unknown, ...chain.tokens.get(contract), contract, rawBalance };
}

function nativeHolding({ native }: ChainConfig, rawBalance: bigint): Holding {
  const { symbol, name, decimals } = native;
  return { contract: null, symbol, name, decimals, logo: null, rawBalance };
}
