// Lido's withdrawal queue: staked ether that waits for its turn, and ether that can be claimed.

import {
  decodeTokenAmount,
  decodeWord,
  decodeWordArray,
  decodeWords,
  TOKEN_AMOUNT_MAX,
} from "../../../lib/abi/return-data.ts";
import { splitIntoChunks } from "../../../lib/chunks.ts";
import type { Hex } from "../../../lib/hex.ts";
import { createCallEncoder } from "../../multicall.ts";
import type { Holding, PositionQuery, PositionResult, ProtocolPosition } from "../../types.ts";
import { getAsset, prepareAssetLookup } from "../asset-metadata.ts";
import type { CallRoutine } from "../call-routine.ts";
import { LIDO_PROTOCOL, type LidoMarket } from "./markets.ts";

/** A wallet has a handful. Anyone can make requests for it, of next to nothing: the largest are read. */
const REQUESTS_MAX = 200;
/** Each as a position; the others are summed up, so that strangers do not fill a response. */
const SHOWN_MAX = 20;
/** The list is copied from storage: enough for two thousand. */
const LIST_GAS_MAX = 5_000_000;
const LIST_MAX = 2_000;
/** Amount, shares, owner, time, whether it is final, whether it is claimed. */
const STATUS_WORDS = 6;
const SHARES_WORD = 1;
const FINAL_WORD = 4;
const CLAIMED_WORD = 5;
/** The queue counts ether per share with this many decimals. */
const RATE_SCALE = 10n ** 27n;

const getWithdrawalRequests = createCallEncoder(
  "function getWithdrawalRequests(address) view returns (uint256[])",
);
const getLastCheckpointIndex = createCallEncoder("function getLastCheckpointIndex() view returns (uint256)");
const getLastFinalizedRequestId = createCallEncoder(
  "function getLastFinalizedRequestId() view returns (uint256)",
);
const getPooledEthByShares = createCallEncoder(
  "function getPooledEthByShares(uint256) view returns (uint256)",
);
const getWithdrawalStatus = createCallEncoder("function getWithdrawalStatus(uint256[])");
const findCheckpointHints = createCallEncoder(
  "function findCheckpointHints(uint256[], uint256, uint256) view returns (uint256[])",
);
const getClaimableEther = createCallEncoder(
  "function getClaimableEther(uint256[], uint256[]) view returns (uint256[])",
);

export type LidoOutcome = Pick<PositionResult, "positions" | "incompleteContracts" | "warnings">;

/**
 * Each request is an NFT: whom its owner approves for it takes what it pays. One step for a wallet without requests, one
 * more for one with, and a third when some are final; another one where there are very many.
 */
export function* readWithdrawalRequests(query: PositionQuery, market: LidoMarket): CallRoutine<LidoOutcome> {
  const { withdrawalQueue, stEth } = market;
  const chain = query.at.chain.name;
  const incompleteContracts = new Set([withdrawalQueue]);
  const missing: LidoOutcome = {
    ...{ positions: [], incompleteContracts },
    warnings: [`Withdrawals from Lido on ${chain} could not be read and are missing.`],
  };
  const [listResult, lastResult, finalResult] = yield [
    getWithdrawalRequests(withdrawalQueue, [query.wallet], LIST_GAS_MAX),
    getLastCheckpointIndex(withdrawalQueue),
    getLastFinalizedRequestId(withdrawalQueue),
  ];
  const listed = decodeWordArray(listResult, LIST_MAX);
  const last = decodeWord(lastResult);
  const lastFinal = decodeWord(finalResult);
  if (listed === null || last === null || lastFinal === null) return missing;
  if (listed.length === 0) return { positions: [], warnings: [] };
  const ids = yield* chooseRequests(withdrawalQueue, listed);
  if (ids === null) return missing;
  // The search reverts when it meets two requests that are not final.
  const final = ids.filter((id) => id <= lastFinal);

  const lookup = prepareAssetLookup(query, [stEth]);
  const [statusResult, rateResult, hintsResult, ...metadata] = yield [
    getWithdrawalStatus(withdrawalQueue, [ids]),
    getPooledEthByShares(stEth, [RATE_SCALE]),
    findCheckpointHints(withdrawalQueue, [final, 1n, last]),
    ...lookup.calls,
  ];
  const statuses = decodeWords(statusResult, 2 + STATUS_WORDS * ids.length)?.slice(2);
  const waiting = listWaiting(statuses, decodeTokenAmount(rateResult));
  const hints = decodeWordArray(hintsResult, REQUESTS_MAX);
  if (waiting === null || hints?.length !== final.length) return missing;

  const claimable = yield* readClaimable(withdrawalQueue, final, hints);
  // The oldest are final, and the status says the same of each.
  if (claimable === null || claimable.length + waiting.length !== ids.length) return missing;
  const ether = { contract: null, ...query.at.chain.native, logo: null };
  const staked = getAsset(lookup.decode(metadata), stEth);
  const requests = [
    ...claimable.map((rawBalance) => ({ name: "ether to claim", asset: { ...ether, rawBalance } })),
    ...waiting.map((rawBalance) => ({ name: "withdrawal requested", asset: { ...staked, rawBalance } })),
  ].map((request, index) => ({ ...request, id: ids[index] ?? 0n }));
  const positions = createPositions(market, requests);
  const isCut = ids.length < listed.length;
  const cut = `Only the largest ${ids.length} of ${listed.length} withdrawals from Lido on ${chain} were read.`;
  return {
    positions,
    // An NFT of the sum pays an unknown part of it.
    ...(isCut || positions.some(({ tokenId }) => tokenId === undefined) ? { incompleteContracts } : {}),
    warnings: isCut ? [cut] : [],
  };
}

/** In ascending order, as the search for hints requires. One step more where there are too many; null if that fails. */
function* chooseRequests(
  withdrawalQueue: Hex,
  listed: readonly bigint[],
): CallRoutine<readonly bigint[] | null> {
  const sorted = listed.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  if (sorted.length <= REQUESTS_MAX) return sorted;
  const parts = splitIntoChunks(sorted, REQUESTS_MAX);
  const results = yield parts.map((part) => getWithdrawalStatus(withdrawalQueue, [part]));
  const requests = parts.flatMap((part, index) => {
    const words = decodeWords(results[index], 2 + STATUS_WORDS * part.length)?.slice(2);
    return words ? part.map((id, i) => ({ id, amount: words[i * STATUS_WORDS] ?? 0n })) : [];
  });
  if (requests.length < sorted.length) return null;
  const largest = requests.sort((a, b) => (a.amount > b.amount ? -1 : a.amount < b.amount ? 1 : 0));
  const chosen = new Set(largest.slice(0, REQUESTS_MAX).map(({ id }) => id));
  return sorted.filter((id) => chosen.has(id));
}

/** Not the requested amount: after a slashing the queue pays less. Null when one could not be read. */
function* readClaimable(
  withdrawalQueue: Hex,
  final: readonly bigint[],
  hints: readonly bigint[],
): CallRoutine<readonly bigint[] | null> {
  if (final.length === 0) return [];
  const [result] = yield [getClaimableEther(withdrawalQueue, [final, hints])];
  const amounts = decodeWordArray(result, REQUESTS_MAX);
  return amounts?.every((amount) => amount <= TOKEN_AMOUNT_MAX) ? amounts : null;
}

/**
 * Staked ether of each request that is not final: what was requested, or what its shares stand for where a slashing made
 * that less. Null when a word is none of a status.
 */
function listWaiting(words: readonly bigint[] | undefined, rate: bigint | null): readonly bigint[] | null {
  if (words === undefined || !rate) return null;
  const waiting: bigint[] = [];
  for (let start = 0; start < words.length; start += STATUS_WORDS) {
    const amount = words[start] ?? 0n;
    const shares = words[start + SHARES_WORD] ?? 0n;
    const isFinal = words[start + FINAL_WORD] ?? 0n;
    const isClaimed = words[start + CLAIMED_WORD] ?? 0n;
    if (amount > TOKEN_AMOUNT_MAX || isFinal > 1n || isClaimed > 1n) return null;
    const worth = (shares * rate) / RATE_SCALE;
    if (isFinal === 0n) waiting.push(worth < amount ? worth : amount);
  }
  return waiting;
}

type WithdrawalRequest = { readonly id: bigint; readonly name: string; readonly asset: Holding };

/** The largest in their order, and the sum of the others. */
function createPositions(
  { withdrawalQueue }: LidoMarket,
  requests: readonly WithdrawalRequest[],
): readonly ProtocolPosition[] {
  const base = {
    protocol: LIDO_PROTOCOL,
    kind: "staked",
    contract: withdrawalQueue,
    receiptTokens: [],
  } as const;
  const paying = requests.filter(({ asset }) => asset.rawBalance > 0n);
  const largest = new Set(
    paying
      .toSorted(
        ({ asset: a }, { asset: b }) =>
          Number(a.rawBalance < b.rawBalance) - Number(a.rawBalance > b.rawBalance),
      )
      .slice(0, SHOWN_MAX),
  );
  const rest = paying.filter((request) => !largest.has(request));
  const sums = new Map<Holding["contract"], Holding>();
  for (const { asset } of rest) {
    const before = sums.get(asset.contract)?.rawBalance ?? 0n;
    sums.set(asset.contract, { ...asset, rawBalance: before + asset.rawBalance });
  }
  return [
    ...paying
      .filter((request) => largest.has(request))
      .map(({ id, name, asset }) => ({
        ...{ ...base, name: `Lido: ${name} #${id}`, tokenId: id, assets: [asset] },
      })),
    ...(rest.length > 0
      ? [{ ...base, name: `Lido: ${rest.length} smaller withdrawals`, assets: [...sums.values()] }]
      : []),
  ];
}
