// The holdings provider that needs only a node: balances by scan, unlisted tokens and activity from transfer logs.

import {
  balanceScannerAbi as abi,
  balanceScannerRuntimeBytecode as code,
} from "@sextant/contracts/generated/balance-scanner";
import { MULTICALL3 } from "../../../chain/aggregate3.ts";
import { createFunctionCodec } from "../../../lib/abi/codec.ts";
import { decodeFirstWord } from "../../../lib/abi/return-data.ts";
import { addressToTopic } from "../../../lib/abi/words.ts";
import { Deadline } from "../../../lib/deadline.ts";
import type { Hex } from "../../../lib/hex.ts";
import { keepPresent, nameFirst } from "../../../lib/lists.ts";
import { scanContracts } from "../../contract-reads/scan-contracts.ts";
import { findRememberedLogs } from "../../log-memory.ts";
import { VAULT_REGISTRIES } from "../../positions/erc4626/registries.ts";
import type { LogHistory } from "../../recent-logs.ts";
import { CHAIN_MS_MAX } from "../../time-budgets.ts";
import { erc20 } from "../../tokens/erc20.ts";
import { readMetadata } from "../../tokens/metadata.ts";
import { describeByLists, isPseudoNative } from "../../tokens/token-list.ts";
import type {
  ChainConfig,
  ChainHoldings,
  HoldingsProvider,
  HoldingsQuery,
  LogRange,
  PinnedChain,
  TransferLog,
} from "../../types.ts";
import { NO_ACTIVITY } from "../activity.ts";
import { compareNewestFirst, isRealTransfer, readTransferActivity } from "./transfer-activity.ts";

// Rebasing tokens behind two proxies need about 60,000; listed tokens are trusted with more.
const LISTED_GAS = 300_000;

// Anyone can send a token to a wallet: these get less gas, and only the newest ones are read.
const UNLISTED_GAS = 100_000;
const UNLISTED_MAX = 300;

// Asked for their metadata before it is known whether the wallet has any of them: three calls each.
const DESCRIBED_MAX = 30;

export const rpcHoldingsProvider: HoldingsProvider = {
  name: "rpc",
  async read(query, signal) {
    const deadline = new Deadline(CHAIN_MS_MAX, signal);
    try {
      const holdings = await readHoldings(query, deadline.signal);
      deadline.end();
      return holdings;
    } catch (error) {
      // When one part fails, stop the others instead of keeping the node busy.
      deadline.end(error);
      throw error;
    }
  },
};

async function readHoldings(
  { at, wallet, withoutActivity, withMetadata, onHeld, onTokens }: HoldingsQuery,
  signal: AbortSignal,
): Promise<ChainHoldings> {
  const { chain } = at;
  const known = listKnownTokens(chain);
  const listed = { wallet, tokens: known.list, gasPerToken: LISTED_GAS };
  const findTransfers = (side: "from" | "to") => {
    const readRange = (range: LogRange, stop: AbortSignal) => at.transfers({ wallet, side, ...range }, stop);
    return findRememberedLogs(at, { wallet, kind: side, readRange }, signal);
  };
  const [native, listedBalances, sent, received] = await Promise.all([
    at.nativeBalance(wallet, signal),
    readTokenBalances(at, listed, signal),
    findTransfers("from"),
    findTransfers("to"),
  ]);
  const logs = [...(sent?.logs ?? []), ...(received?.logs ?? [])];
  const unlisted = findUnlistedTokens(chain, { wallet, known: known.set }, logs);
  const newest = unlisted.slice(0, UNLISTED_MAX);
  const isDescribed = withMetadata && newest.length <= DESCRIBED_MAX;
  onHeld?.([...listedBalances.held.keys(), ...(isDescribed ? newest : [])]);
  const readTokens = async () => {
    const [unlistedBalances, metadata] = await Promise.all([
      readTokenBalances(at, { wallet, tokens: newest, gasPerToken: UNLISTED_GAS }, signal),
      isDescribed ? readMetadata(at, [...listedBalances.held.keys(), ...newest], signal) : undefined,
    ]);
    const held = [...listedBalances.held, ...unlistedBalances.held];
    const holdings = [
      ...(native > 0n ? [describeByLists(chain, null, native)] : []),
      ...held.map(([contract, amount]) => describeByLists(chain, contract, amount)),
    ];
    const tokens = { holdings, ...(metadata && { metadata }), transfers: logs };
    onTokens?.(tokens);
    return { tokens, failed: unlistedBalances.failed };
  };
  const [unlistedRead, recent] = await Promise.all([
    readTokens(),
    withoutActivity ? NO_ACTIVITY : readTransferActivity(at, { wallet, logs }, signal),
  ]);
  return {
    ...unlistedRead.tokens,
    activity: recent.activity,
    warnings: [
      // Only the shares of a vault that is known by address matter: a vault that returns none is gone.
      ...describeFailedTokens(
        chain,
        listedBalances.failed.filter((contract) => chain.tokens.has(contract)),
      ),
      ...describeFailedTokens(chain, unlistedRead.failed),
      ...describeSkippedTokens(chain, unlisted.length, newest.length),
      ...describeHistory(at, sent, received),
      ...recent.warnings,
    ],
  };
}

type KnownTokens = { readonly set: ReadonlySet<Hex>; readonly list: readonly Hex[] };

const knownTokensOf = new WeakMap<ChainConfig, KnownTokens>();

/** Every listed token, and vaults that are known by address: their shares are on no list of tokens. */
function listKnownTokens(chain: ChainConfig): KnownTokens {
  const known = knownTokensOf.get(chain);
  if (known !== undefined) return known;
  const set = new Set([...chain.tokens.keys(), ...(VAULT_REGISTRIES.get(chain.chainId)?.vaults ?? [])]);
  const tokens = { set, list: [...set] };
  knownTokensOf.set(chain, tokens);
  return tokens;
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

// Enough to investigate; a hundred names would bury every other warning.
const NAMED_MAX = 3;

function describeFailedTokens(chain: ChainConfig, failed: readonly Hex[]): readonly string[] {
  if (failed.length === 0) return [];
  const [first] = failed;
  const kind = first !== undefined && chain.tokens.has(first) ? "listed" : "unlisted";
  const count = failed.length === 1 ? `1 ${kind} token` : `${failed.length} ${kind} tokens`;
  return [
    `${chain.name}: ${count} returned no balance and ${failed.length === 1 ? "is" : "are"} left out: ${nameFirst(failed, NAMED_MAX)}.`,
  ];
}

function describeSkippedTokens(chain: ChainConfig, found: number, read: number): readonly string[] {
  if (found <= read) return [];
  return [`${chain.name}: ${found} unlisted tokens moved recently; only the newest ${read} were read.`];
}

/** How far back the transfers go, and what they cannot show. */
function describeHistory(
  { chain, block }: PinnedChain,
  sent: LogHistory<TransferLog> | null,
  received: LogHistory<TransferLog> | null,
): readonly string[] {
  const { name, native, blockTimeMs } = chain;
  const read = keepPresent(sent, received);
  const fromBlock = Math.max(...read.map((history) => history.fromBlock));
  const duration = describeDuration((block.number - fromBlock + 1) * blockTimeMs);
  // From the first block on nothing is missing, however long ago that was.
  const length = fromBlock === 0 ? "" : ` (about ${duration})`;
  const logsNative = read.some(({ logs }) => logs.some(({ contract }) => contract === null));
  const ofNative = logsNative
    ? `, and transfers of ${native.symbol} itself as far as the chain logs them`
    : `; transfers of ${native.symbol} itself leave no log and are not shown`;
  return keepPresent(
    sent === null && `${name}: outgoing token transfers could not be read; recent activity lacks them.`,
    received === null &&
      `${name}: incoming token transfers could not be read; recent activity lacks them, and unlisted tokens may be missing.`,
    read.length > 0 &&
      `${name}: recent activity and unlisted tokens are found by token transfers since block ${fromBlock}${length}${ofNative}.`,
  );
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

type BalanceQuery = {
  readonly wallet: Hex;
  /** Distinct. */
  readonly tokens: readonly Hex[];
  /** A token that needs more counts as failed. */
  readonly gasPerToken: number;
};

/** A token in neither has a balance of zero. */
type TokenBalances = { readonly held: ReadonlyMap<Hex, bigint>; readonly failed: readonly Hex[] };

// Twelve thousand gas per token, twice what most need, within what every node allows a call.
const TOKENS_PER_CALL_MAX = 2_500;

const scan = createFunctionCodec(abi, "scan");

/** The arguments behind the wallet: the same for every wallet, and nearly all of a call. */
const encodedLists = new WeakMap<readonly Hex[], { readonly gasPerToken: number; readonly digits: string }>();
const ARGUMENTS_START = scan.selector.length;
const WALLET_DIGITS = 64;

function encodeScan(wallet: Hex, tokens: readonly Hex[], gasPerToken: number): Hex {
  let encoded = encodedLists.get(tokens);
  if (encoded?.gasPerToken !== gasPerToken) {
    const call = scan.encodeCall([wallet, tokens, BigInt(gasPerToken)]);
    encoded = { gasPerToken, digits: call.slice(ARGUMENTS_START + WALLET_DIGITS) };
    encodedLists.set(tokens, encoded);
  }
  return `${scan.selector}${addressToTopic(wallet).slice(2)}${encoded.digits}`;
}

/** Rejects unless the balances are complete. */
export async function readTokenBalances(
  at: PinnedChain,
  { wallet, tokens, gasPerToken }: BalanceQuery,
  signal: AbortSignal,
): Promise<TokenBalances> {
  if (tokens.length === 0) return { held: new Map(), failed: [] };
  // The calldata is the same for every token, so it is encoded once.
  const { data = "0x" } = erc20.balanceOf(MULTICALL3, [wallet]).calls[0] ?? {};
  const { found, failed } = await scanContracts<Hex, { readonly balance: bigint }>(
    at,
    {
      items: tokens,
      itemsPerCall: TOKENS_PER_CALL_MAX,
      callsMax: 200,
      code,
      encode: (part) => encodeScan(wallet, part, gasPerToken),
      decode: scan.decodeResult,
      callOf: (to) => ({ to, data }),
      decodeOne: (returnData) => {
        const balance = decodeFirstWord(returnData);
        return balance ? { balance } : null;
      },
      gasPerItem: gasPerToken,
      title: "a balance scan",
    },
    signal,
  );
  return { held: new Map(found.map(([token, { balance }]) => [token, balance])), failed };
}
