// The holdings provider that needs only a node: balances by scan, unlisted tokens and activity from transfer logs.
import type { Hex } from "../../../lib/hex.ts";
import { VAULT_REGISTRIES } from "../../positions/erc4626/markets.ts";
import { isPseudoNative } from "../../tokens/token-list.ts";
import type {
  ChainConfig,
  ChainHoldings,
  Holding,
  HoldingsProvider,
  HoldingsQuery,
  PinnedChain,
  TransferLog,
} from "../../types.ts";
import { NO_ACTIVITY } from "../activity.ts";
import { readTokenBalances } from "./balances.ts";
import { compareNewestFirst, readRecentTransfers, type TransferHistory } from "./recent-transfers.ts";
import { isRealTransfer, readTransferActivity } from "./transfer-activity.ts";

// Rebasing tokens behind two proxies need about 60,000; listed tokens are trusted with more.
const LISTED_GAS = 300_000;

// Anyone can send a token to a wallet: these get less gas, and only the newest ones are read.
const UNLISTED_GAS = 100_000;
const UNLISTED_MAX = 300;

export const rpcHoldingsProvider: HoldingsProvider = {
  name: "rpc",
  async read(query, signal) {
    // When one part fails, stop the others instead of keeping the node busy.
    const finished = new AbortController();
    try {
      return await readHoldings(query, AbortSignal.any([signal, finished.signal]));
    } finally {
      finished.abort();
    }
  },
};

async function readHoldings(
  { at, wallet, withoutActivity }: HoldingsQuery,
  signal: AbortSignal,
): Promise<ChainHoldings> {
  const { chain } = at;
  const known = listKnownTokens(chain);
  const listed = { wallet, tokens: [...known], gasPerToken: LISTED_GAS };
  const [native, listedBalances, sent, received] = await Promise.all([
    at.nativeBalance(wallet, signal),
    readTokenBalances(at, listed, signal),
    historyOrNull(at, wallet, "from", signal),
    historyOrNull(at, wallet, "to", signal),
  ]);
  const logs = [...(sent?.logs ?? []), ...(received?.logs ?? [])];
  const unlisted = findUnlistedTokens(chain, { wallet, known }, logs);
  const newest = unlisted.slice(0, UNLISTED_MAX);
  const [unlistedBalances, recent] = await Promise.all([
    readTokenBalances(at, { wallet, tokens: newest, gasPerToken: UNLISTED_GAS }, signal),
    withoutActivity ? NO_ACTIVITY : readTransferActivity(at, { wallet, logs }, signal),
  ]);
  return {
    holdings: [
      ...(native > 0n ? [nativeHolding(chain, native)] : []),
      ...[...listedBalances.held, ...unlistedBalances.held].map(([contract, amount]) =>
        tokenHolding(chain, contract, amount),
      ),
    ],
    activity: recent.activity,
    transfers: logs,
    warnings: [
      // Only the shares of a vault that is known by address matter: a vault that returns none is gone.
      ...describeFailedTokens(
        chain,
        listedBalances.failed.filter((contract) => chain.tokens.has(contract)),
      ),
      ...describeFailedTokens(chain, unlistedBalances.failed),
      ...describeSkippedTokens(chain, unlisted.length, newest.length),
      ...describeHistory(at, sent, received),
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
    // Only an abort fails the read; any other failure becomes a warning.
    if (signal.aborted) throw error;
    return null;
  }
}

/** Every listed token, and vaults that are known by address: their shares are on no list of tokens. */
function listKnownTokens({ chainId, tokens }: ChainConfig): ReadonlySet<Hex> {
  return new Set([...tokens.keys(), ...(VAULT_REGISTRIES.get(chainId)?.vaults ?? [])]);
}

/**
 * Unlisted tokens that the wallet received or sent recently, newest first: of what it sent, some may be left. Those
 * that moved in a transaction in which it paid come before all others: a third party can send any number of tokens, but
 * not make the wallet pay.
 */
function findUnlistedTokens(
  chain: ChainConfig,
  { wallet, known }: { readonly wallet: Hex; readonly known: ReadonlySet<Hex> },
  logs: readonly TransferLog[],
): readonly Hex[] {
  const paid = new Set(
    logs
      .filter((log) => log.from === wallet && isRealTransfer(chain, log))
      .map(({ transactionHash }) => transactionHash),
  );
  const isUnlisted = (contract: Hex) => !known.has(contract) && !isPseudoNative(chain.chainId, contract);
  const unlisted = logs
    .filter(({ isErc721 }) => isErc721 !== true)
    .filter(({ contract }) => contract !== null && isUnlisted(contract))
    .toSorted(compareNewestFirst);
  const isPaidFor = ({ transactionHash }: TransferLog) => paid.has(transactionHash);
  const ordered = [...unlisted.filter(isPaidFor), ...unlisted];
  return [...new Set(ordered.flatMap(({ contract }) => contract ?? []))];
}

/** Described by the lists; the contracts' own metadata is read later, for held tokens only. */
function tokenHolding(chain: ChainConfig, contract: Hex, rawBalance: bigint): Holding {
  const unknown = { symbol: null, name: null, decimals: null, logo: null };
  return { ...unknown, ...chain.tokens.get(contract), contract, rawBalance };
}

function nativeHolding({ native }: ChainConfig, rawBalance: bigint): Holding {
  const { symbol, name, decimals } = native;
  return { contract: null, symbol, name, decimals, logo: null, rawBalance };
}

// Enough to investigate; a hundred names would bury every other warning.
const NAMED_MAX = 3;

function describeFailedTokens(chain: ChainConfig, failed: readonly Hex[]): readonly string[] {
  if (failed.length === 0) return [];
  const names = failed.slice(0, NAMED_MAX);
  const remaining = failed.length - names.length;
  const list = remaining > 0 ? `${names.join(", ")} and ${remaining} more` : names.join(", ");
  const [first] = failed;
  const kind = first !== undefined && chain.tokens.has(first) ? "listed" : "unlisted";
  const count = failed.length === 1 ? `1 ${kind} token` : `${failed.length} ${kind} tokens`;
  return [
    `${chain.name}: ${count} returned no balance and ${failed.length === 1 ? "is" : "are"} left out: ${list}.`,
  ];
}

function describeSkippedTokens(chain: ChainConfig, found: number, read: number): readonly string[] {
  if (found <= read) return [];
  return [`${chain.name}: ${found} unlisted tokens moved recently; only the newest ${read} were read.`];
}

/** How far back the transfers go, and what they cannot show. */
function describeHistory(
  { chain, block }: PinnedChain,
  sent: TransferHistory | null,
  received: TransferHistory | null,
): readonly string[] {
  const warnings: string[] = [];
  if (sent === null) {
    warnings.push(`${chain.name}: outgoing token transfers could not be read; recent activity lacks them.`);
  }
  if (received === null) {
    warnings.push(
      `${chain.name}: incoming token transfers could not be read; recent activity lacks them, and unlisted tokens may be missing.`,
    );
  }
  const fromBlocks = [sent, received].flatMap((history) => (history ? [history.fromBlock] : []));
  if (fromBlocks.length > 0) {
    const fromBlock = Math.max(...fromBlocks);
    const duration = describeDuration((block.number - fromBlock + 1) * chain.blockTimeMs);
    const found = `${chain.name}: recent activity and unlisted tokens are found by token transfers since block ${fromBlock} (about ${duration})`;
    const logsNative = [sent, received].some((history) =>
      history?.logs.some(({ contract }) => contract === null),
    );
    warnings.push(
      logsNative
        ? `${found}, and transfers of ${chain.native.symbol} itself as far as the chain logs them.`
        : `${found}; transfers of ${chain.native.symbol} itself leave no log and are not shown.`,
    );
  }
  return warnings;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

function describeDuration(ms: number): string {
  const [unit, name] =
    ms >= 2 * DAY_MS ? [DAY_MS, "day"] : ms >= 2 * HOUR_MS ? [HOUR_MS, "hour"] : [MINUTE_MS, "minute"];
  const count = Math.max(1, Math.round(ms / unit));
  return `${count} ${name}${count === 1 ? "" : "s"}`;
}
