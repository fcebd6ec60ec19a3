// Lido: wstETH valued as the staked ether it wraps, at the rate of its own contract, and withdrawals under way.

import { readChainData } from "../../../chain/chain-data.ts";
import {
  decodeTokenAmount,
  decodeWord,
  decodeWords,
  TOKEN_AMOUNT_MAX,
} from "../../../lib/abi/return-data.ts";
import { splitIntoChunks } from "../../../lib/chunks.ts";
import type { Hex } from "../../../lib/hex.ts";
import { type ShapeType, shape } from "../../../lib/json-shape.ts";
import { ask, type ReadRoutine, runRoutines } from "../../contract-reads/read-groups.ts";
import { defineRead, type Reads, toWordArray } from "../../contract-reads/reads.ts";
import { erc20 } from "../../tokens/erc20.ts";
import type { Holding, PositionReader, ProtocolPosition } from "../../types.ts";
import { declareAssets, toHolding } from "../asset-metadata.ts";
import { defineReader, type PositionReadWithTokens } from "../position-read.ts";

const PROTOCOL = "lido";

const lidoMarket = shape.object({
  wstEth: shape.address,
  stEth: shape.address,
  withdrawalQueue: shape.address,
});

export type LidoMarket = ShapeType<typeof lidoMarket>;

/** Ethereum only: stETH is a token with a feed of its own, and so is the wstETH of other chains, which does not know its rate. */
export const LIDO_MARKETS = readChainData(
  "staking",
  "lido",
  shape.mapped(lidoMarket, (market) => [market]),
);

/** A wallet has a handful. Anyone can make requests for it, of next to nothing: the largest are read. */
const REQUESTS_MAX = 200;
/** Each as a position; the others are summed up, so that requests sent by others do not fill a response. */
const SHOWN_MAX = 20;
/** The list is copied from storage: enough for two thousand. */
const LIST_GAS_MAX = 5_000_000;
const LIST_MAX = 2_000;
/** The queue counts ether per share with this many decimals. */
const RATE_SCALE = 10n ** 27n;

const getStEthByWstEth = defineRead("function getStETHByWstETH(uint256)", decodeTokenAmount);
const getWithdrawalRequests = defineRead(
  "function getWithdrawalRequests(address)",
  toWordArray(LIST_MAX),
  LIST_GAS_MAX,
);
const getLastCheckpointIndex = defineRead("function getLastCheckpointIndex()", decodeWord);
const getLastFinalizedRequestId = defineRead("function getLastFinalizedRequestId()", decodeWord);
const getPooledEthByShares = defineRead("function getPooledEthByShares(uint256)", decodeTokenAmount);
const getWithdrawalStatus = defineRead("function getWithdrawalStatus(uint256[])", (data) => data);
const findCheckpointHints = defineRead(
  "function findCheckpointHints(uint256[], uint256, uint256)",
  toWordArray(REQUESTS_MAX),
);
const getClaimableEther = defineRead(
  "function getClaimableEther(uint256[], uint256[])",
  toWordArray(REQUESTS_MAX),
);

/** Amount, shares, owner, time, whether it is final, whether it is claimed. */
const STATUS_WORDS = 6;

type RequestStatus = {
  readonly id: bigint;
  readonly amount: bigint;
  readonly shares: bigint;
  readonly isFinal: boolean;
};

/** In the order of the ids; null if a field of a status cannot be decoded. */
function declareStatuses(queue: Hex, ids: readonly bigint[]): Reads<readonly RequestStatus[] | null> {
  return getWithdrawalStatus(queue, [ids]).map((data) => {
    const words = decodeWords(data, 2 + STATUS_WORDS * ids.length);
    if (words === null) return null;
    const statuses = splitIntoChunks(words.slice(2), STATUS_WORDS).map(
      ([amount = 0n, shares = 0n, , , isFinal = 0n, isClaimed = 0n], index) => {
        const isStatus = amount <= TOKEN_AMOUNT_MAX && isFinal <= 1n && isClaimed <= 1n;
        return isStatus ? [{ id: ids[index] ?? 0n, amount, shares, isFinal: isFinal === 1n }] : [];
      },
    );
    return statuses.every(({ length }) => length === 1) ? statuses.flat() : null;
  });
}

/** One round trip, and two more for a wallet with withdrawals. */
export function createLidoReader(markets: ReadonlyMap<number, readonly LidoMarket[]>): PositionReader {
  return defineReader({
    protocol: PROTOCOL,
    markets,
    delegationsOf: ({ withdrawalQueue }) => [{ form: "nft", protocol: PROTOCOL, contract: withdrawalQueue }],
    async read(early, onChain) {
      const run = await early.withTokens();
      const routines = onChain.flatMap((market) => [
        readWrappedEther(run, market),
        readWithdrawalRequests(run, market),
      ]);
      return (await runRoutines(run.at, routines, run.signal)).flat();
    },
  });
}

type Positions = ReadRoutine<readonly ProtocolPosition[]>;

function* readWrappedEther(run: PositionReadWithTokens, { wstEth, stEth }: LidoMarket): Positions {
  const held = run.holdings.find(({ contract }) => contract === wstEth);
  if (!held) return [];
  const { amount, supply, assets } = yield* ask({
    amount: getStEthByWstEth(wstEth, [held.rawBalance]),
    supply: erc20.totalSupply(stEth),
    assets: declareAssets(run, [stEth]),
  });
  // More than the total supply is an invalid result.
  if (amount === null || supply === null || amount > supply) {
    run.warn(`The rate of wstETH on ${run.chain} could not be read; it is shown as a token.`);
    return [];
  }
  if (amount === 0n) return [];
  return [
    {
      protocol: PROTOCOL,
      kind: "staked",
      name: "Wrapped staked ether",
      contract: wstEth,
      assets: [toHolding(assets, stEth, amount)],
      receiptTokens: [wstEth],
    },
  ];
}

/**
 * Each request is an NFT: whom its owner approves for it takes what it pays. One step for a wallet without requests,
 * one more for one with, and a third when some are final; another one if there are very many.
 */
function* readWithdrawalRequests(
  run: PositionReadWithTokens,
  { withdrawalQueue, stEth }: LidoMarket,
): Positions {
  const warnMissing = () => {
    run.incompleteContracts.add(withdrawalQueue);
    run.warn(`Withdrawals from Lido on ${run.chain} could not be read and are missing.`);
    return [];
  };
  const { listed, last, lastFinal } = yield* ask({
    listed: getWithdrawalRequests(withdrawalQueue, [run.wallet]),
    last: getLastCheckpointIndex(withdrawalQueue),
    lastFinal: getLastFinalizedRequestId(withdrawalQueue),
  });
  if (listed === null || last === null || lastFinal === null) return warnMissing();
  if (listed.length === 0) return [];
  const ids = yield* chooseRequests(withdrawalQueue, listed);
  if (ids === null) return warnMissing();
  // The search reverts when it meets two requests that are not final.
  const final = ids.filter((id) => id <= lastFinal);

  const { statuses, rate, hints, assets } = yield* ask({
    statuses: declareStatuses(withdrawalQueue, ids),
    rate: getPooledEthByShares(stEth, [RATE_SCALE]),
    hints: findCheckpointHints(withdrawalQueue, [final, 1n, last]),
    assets: declareAssets(run, [stEth]),
  });
  const waiting = statuses && rate ? listWaiting(statuses, rate) : null;
  if (waiting === null || hints?.length !== final.length) return warnMissing();

  const claimable = yield* readClaimable(withdrawalQueue, final, hints);
  // The oldest are final, and the status says the same of each.
  if (claimable === null || claimable.length + waiting.length !== ids.length) return warnMissing();
  const requests = [
    ...claimable.map((amount) => ({ name: "ether to claim", asset: toHolding(assets, null, amount) })),
    ...waiting.map((amount) => ({ name: "withdrawal requested", asset: toHolding(assets, stEth, amount) })),
  ].map((request, index) => ({ ...request, id: ids[index] ?? 0n }));
  const positions = createPositions(withdrawalQueue, requests);
  const isCut = ids.length < listed.length;
  if (isCut)
    run.warn(
      `Only the largest ${ids.length} of ${listed.length} withdrawals from Lido on ${run.chain} were read.`,
    );
  // An NFT of the sum pays an unknown part of it.
  if (isCut || positions.some(({ tokenId }) => tokenId === undefined))
    run.incompleteContracts.add(withdrawalQueue);
  return positions;
}

/** In ascending order, as the search for hints requires. One step more if there are too many; null if that fails. */
function* chooseRequests(
  withdrawalQueue: Hex,
  listed: readonly bigint[],
): ReadRoutine<readonly bigint[] | null> {
  const sorted = listed.toSorted((a, b) => compareDescending(b, a));
  if (sorted.length <= REQUESTS_MAX) return sorted;
  const parts = splitIntoChunks(sorted, REQUESTS_MAX);
  const read = yield* ask(parts.map((part) => declareStatuses(withdrawalQueue, part)));
  const requests = read.flatMap((statuses) => statuses ?? []);
  if (requests.length < sorted.length) return null;
  const largest = requests.sort((a, b) => compareDescending(a.amount, b.amount));
  const chosen = new Set(largest.slice(0, REQUESTS_MAX).map(({ id }) => id));
  return sorted.filter((id) => chosen.has(id));
}

/** Not the requested amount: after a slashing the queue pays less. Null when one could not be read. */
function* readClaimable(
  withdrawalQueue: Hex,
  final: readonly bigint[],
  hints: readonly bigint[],
): ReadRoutine<readonly bigint[] | null> {
  if (final.length === 0) return [];
  const amounts = yield* ask(getClaimableEther(withdrawalQueue, [final, hints]));
  return amounts?.every((amount) => amount <= TOKEN_AMOUNT_MAX) ? amounts : null;
}

/**
 * Staked ether of each request that is not final: what was requested, or what its shares stand for if a slashing made
 * that less.
 */
function listWaiting(statuses: readonly RequestStatus[], rate: bigint): readonly bigint[] {
  return statuses.flatMap(({ amount, shares, isFinal }) => {
    const worth = (shares * rate) / RATE_SCALE;
    return isFinal ? [] : [worth < amount ? worth : amount];
  });
}

type WithdrawalRequest = { readonly id: bigint; readonly name: string; readonly asset: Holding };

/** The largest in their order, and the sum of the others. */
function createPositions(
  withdrawalQueue: Hex,
  requests: readonly WithdrawalRequest[],
): readonly ProtocolPosition[] {
  const base = { protocol: PROTOCOL, kind: "staked", contract: withdrawalQueue, receiptTokens: [] } as const;
  const paying = requests.filter(({ asset }) => asset.rawBalance > 0n);
  const byAmount = paying.toSorted(({ asset: a }, { asset: b }) =>
    compareDescending(a.rawBalance, b.rawBalance),
  );
  const largest = new Set(byAmount.slice(0, SHOWN_MAX));
  const rest = paying.filter((request) => !largest.has(request));
  const sums = new Map<Holding["contract"], Holding>();
  for (const { asset } of rest) {
    const before = sums.get(asset.contract)?.rawBalance ?? 0n;
    sums.set(asset.contract, { ...asset, rawBalance: before + asset.rawBalance });
  }
  const shown = paying
    .filter((request) => largest.has(request))
    .map(({ id, name, asset }) => ({
      ...base,
      name: `Lido: ${name} #${id}`,
      tokenId: id,
      assets: [asset],
    }));
  if (rest.length === 0) return shown;
  return [
    ...shown,
    { ...base, name: `Lido: ${rest.length} smaller withdrawals`, assets: [...sums.values()] },
  ];
}

function compareDescending(a: bigint, b: bigint): number {
  return Number(a < b) - Number(a > b);
}
