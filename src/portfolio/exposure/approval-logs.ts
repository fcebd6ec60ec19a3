// Approvals of a wallet in recent logs. A log only names a pair to read: what is live, the contracts themselves say.

import type { TopicFilter } from "../../chain/logs/get-logs.ts";
import type { NodeLog } from "../../chain/logs/log.ts";
import { hashEvent } from "../../lib/abi/codec.ts";
import { decodeWords, wordToAddress } from "../../lib/abi/return-data.ts";
import { addressToTopic, topicToAddress } from "../../lib/abi/words.ts";
import type { Hex } from "../../lib/hex.ts";
import type { PermissionKind } from "../../schema/portfolio/exposure.ts";
import { findRememberedLogs } from "../log-memory.ts";
import { findRecentLogs, type LogHistory, SEARCH_BUDGET } from "../recent-logs.ts";
import {
  type Delegation,
  type Holding,
  isListed,
  type LogRange,
  type PinnedChain,
  type WalletQuery,
} from "../types.ts";
import { PERMIT2, toAccountPrefix } from "./revocations.ts";

/** The event of ERC-20 and, with a token id as fourth topic, of ERC-721. */
const APPROVAL = hashEvent("Approval(address,address,uint256)");
const APPROVAL_FOR_ALL = hashEvent("ApprovalForAll(address,address,bool)");
const PERMIT2_APPROVAL = hashEvent("Approval(address,address,address,uint160,uint48)");
const PERMIT2_PERMIT = hashEvent("Permit(address,address,address,uint160,uint48,uint48)");
const PERMIT2_LOCKDOWN = hashEvent("Lockdown(address,address,address)");
/** Aave and its forks; older versions do not index the asset. */
const BORROW_ALLOWANCE = hashEvent("BorrowAllowanceDelegated(address,address,address,uint256)");
const DELEGATE_UPDATED = hashEvent("DelegateUpdated(address,address,bool)");
/** The event of Morpho: it names the caller first, then the owner of the positions. */
const SET_AUTHORIZATION = hashEvent("SetAuthorization(address,address,address,bool)");
/** The event of Euler: it names the owner by all bytes but the last. */
const OPERATOR_STATUS = hashEvent("OperatorStatus(bytes19,address,uint256)");
// All of them have the owner as first indexed argument, so that one search finds them.
const TOPICS = [
  ...[APPROVAL, APPROVAL_FOR_ALL, PERMIT2_APPROVAL, PERMIT2_PERMIT, PERMIT2_LOCKDOWN],
  ...[BORROW_ALLOWANCE, DELEGATE_UPDATED, SET_AUTHORIZATION, OPERATOR_STATUS],
];
const TOPIC_DIGITS = 64;

export type ApprovedPair = {
  readonly kind: PermissionKind;
  readonly contract: Hex;
  readonly spender: Hex;
  /** The token id for one ERC-721; else null. */
  readonly tokenId: bigint | null;
  /** The amount that a delegate of debt may borrow, as the log says. */
  readonly asset?: Hex;
};

type ApprovalHistory = {
  /** Distinct, newest first. */
  readonly pairs: readonly ApprovedPair[];
  /** The oldest searched block; null when the logs could not be read. */
  readonly fromBlock: number | null;
  /** There are more logs than a wallet makes: those of others may hide its own. */
  readonly isFlooded: boolean;
};

// In a month. Anyone can emit thousands in the name of a wallet, for cents.
const OWN_LOGS_MAX = 500;

/**
 * Reads logs of any contract, or of these only. Rejects only when the signal aborts: pairs of known spenders are read
 * without any log.
 */
export async function readApprovals(
  at: PinnedChain,
  wallet: Hex,
  signal: AbortSignal,
  contracts?: readonly Hex[],
): Promise<ApprovalHistory> {
  const prefix = `0x${toAccountPrefix(wallet).slice(2).padEnd(TOPIC_DIGITS, "0")}` as const;
  const topics = [TOPICS, [addressToTopic(wallet), prefix]];
  const filter = { topics, ...(contracts && { contracts }) };
  // A search of few contracts is made because of a flood, which is not remembered.
  const found = await (contracts === undefined
    ? findRememberedLogs(at, { wallet, kind: "approvals", readRange: readerOf(at, filter) }, signal)
    : findLogs(at, filter, signal));
  // A node rejects what has too many results, as it fails for any other reason.
  if (found === null) return { pairs: [], fromBlock: null, isFlooded: true };
  const { logs, fromBlock } = found;
  return { pairs: toPairs(logs), fromBlock, isFlooded: logs.length > OWN_LOGS_MAX };
}

function findLogs(
  at: PinnedChain,
  filter: Pick<TopicFilter, "topics" | "contracts">,
  signal: AbortSignal,
): Promise<LogHistory<NodeLog> | null> {
  // Ranges that were rejected for a flood say nothing about those of a few contracts.
  const budget = { ...SEARCH_BUDGET, isIsolated: true };
  return findRecentLogs(at, readerOf(at, filter), signal, budget);
}

function readerOf(at: PinnedChain, filter: Pick<TopicFilter, "topics" | "contracts">) {
  return (range: LogRange, signal: AbortSignal) => at.logs({ ...range, ...filter }, signal);
}

/** The recent logs of an event that names the wallet second; null if they could not be read. */
export async function readLogsNamingSecond(
  { at, wallet }: WalletQuery,
  { event, contracts }: { readonly event: Hex; readonly contracts: readonly Hex[] },
  signal: AbortSignal,
): Promise<readonly NodeLog[] | null> {
  const topics = [[event], null, [addressToTopic(wallet)]];
  const found = await findLogs(at, { topics, contracts }, signal);
  return found?.logs ?? null;
}

/**
 * Authorizations in Morpho that others sent for the wallet, with its signature: their logs name the sender first. Null
 * if the logs could not be read.
 */
export async function readSignedAuthorizations(
  query: WalletQuery,
  contracts: readonly Hex[],
  signal: AbortSignal,
): Promise<readonly ApprovedPair[] | null> {
  const logs = await readLogsNamingSecond(query, { event: SET_AUTHORIZATION, contracts }, signal);
  return logs && toPairs(logs);
}

// A filter of as many addresses is accepted by every node.
const CONTRACTS_MAX = 500;

/**
 * Finds approvals that a flood of logs hides: those of listed tokens, in Permit2 and in known protocols alone. Their
 * logs are genuine, although some tokens also log an allowance of nothing when someone else transfers nothing from the
 * wallet.
 */
export async function readHiddenApprovals(
  { at, wallet }: WalletQuery,
  flooded: ApprovalHistory,
  {
    holdings,
    delegations,
  }: { readonly holdings: readonly Holding[]; readonly delegations: readonly Delegation[] },
  signal: AbortSignal,
): Promise<ApprovalHistory & { readonly listedFromBlock: number | null }> {
  const listed = holdings.flatMap((holding) =>
    holding.contract !== null && isListed(at.chain, holding) ? [holding.contract] : [],
  );
  const protocols = delegations.flatMap((delegation) =>
    delegation.form === "aave" ? [...delegation.underlyingOf.keys()] : [delegation.contract],
  );
  const all = new Set([PERMIT2, ...at.chain.stablecoins, ...protocols, ...listed]);
  const contracts = [...all].slice(0, CONTRACTS_MAX);
  const found = await readApprovals(at, wallet, signal, contracts);
  return { ...flooded, pairs: [...found.pairs, ...flooded.pairs], listedFromBlock: found.fromBlock };
}

/** Distinct, newest first. */
function toPairs(logs: readonly NodeLog[]): readonly ApprovedPair[] {
  const distinct = new Map<string, ApprovedPair>();
  for (const log of logs.toReversed()) {
    const pair = toPair(log);
    const key = pair && [pair.kind, pair.contract, pair.spender, pair.tokenId].join(" ");
    if (key && !distinct.has(key)) distinct.set(key, pair);
  }
  return [...distinct.values()];
}

/** Anyone may emit these topics with any data: a log that does not name two accounts is not an approval. */
function toPair({ address, topics, data }: NodeLog): ApprovedPair | null {
  const [topic, , second, third] = topics;
  const [one, other] = [topicToAddress(second), topicToAddress(third)];
  switch (topic) {
    case APPROVAL:
      if (third === undefined) return createPair("erc20-allowance", address, one);
      return createPair("nft-approval", address, one, { tokenId: BigInt(third) });
    case APPROVAL_FOR_ALL:
      return createPair("nft-operator", address, one);
    case BORROW_ALLOWANCE: {
      const asset = other ?? wordToAddress(decodeWords(data, 2)?.[0]);
      return asset && createPair("borrow-delegation", address, one, { asset });
    }
    case SET_AUTHORIZATION:
      return createPair("position-operator", address, other);
    case DELEGATE_UPDATED:
    case OPERATOR_STATUS:
      return createPair("position-operator", address, one);
  }
  // Any contract may emit what Permit2 emits.
  if (address !== PERMIT2) return null;
  const words = topic === PERMIT2_LOCKDOWN ? (decodeWords(data, 2) ?? []) : null;
  const [token, spender] = words?.map(wordToAddress) ?? [one, other];
  return createPair("permit2-allowance", token, spender);
}

function createPair(
  kind: ApprovedPair["kind"],
  contract: Hex | null | undefined,
  spender: Hex | null | undefined,
  known: Partial<ApprovedPair> = {},
): ApprovedPair | null {
  return contract && spender ? { kind, contract, spender, tokenId: null, ...known } : null;
}
