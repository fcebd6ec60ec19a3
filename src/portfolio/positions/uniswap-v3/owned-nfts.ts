// Which liquidity NFTs a wallet owns: in the wallet itself, in farms that list them, and in gauges it has sent some to.
import {
  decodeAddress,
  decodeTokenAmount,
  decodeWord,
  decodeWordArray,
} from "../../../lib/abi/return-data.ts";
import type { Hex } from "../../../lib/hex.ts";
import { readByMulticall } from "../../multicall.ts";
import type { ContractRead, PositionQuery } from "../../types.ts";
import { gaugeCalls, positionManager } from "./contracts.ts";
import type { LiquidityNftMarket } from "./markets.ts";

/** Ids requested along with the number of NFTs: saves nearly every wallet a round trip. */
const FIRST_COUNT = 8;
/** Ten calls of their ids. Closed NFTs are never burnt, so a wallet that trades by ranges has hundreds of them. */
const NFTS_MAX = 2_000;
/** Contracts that the wallet has sent NFTs to, each with a call of its own. */
const GAUGES_MAX = 64;

export type OwnedNft = {
  readonly market: LiquidityNftMarket;
  readonly id: bigint;
  readonly staking: "none" | "farm" | "gauge";
};

type OwnedNfts = {
  /** Newest first in each market, as far as the order of ownership shows it. */
  readonly nfts: readonly OwnedNft[];
  /** The market of each NFT whose id could not be read. */
  readonly missing: readonly LiquidityNftMarket[];
  readonly warnings: readonly string[];
};

/** A contract that lists NFTs by owner: a manager, or a farm in which they are staked. */
type NftList = {
  readonly market: LiquidityNftMarket;
  readonly contract: Hex;
  readonly staking: OwnedNft["staking"];
};
type Gauge = { readonly market: LiquidityNftMarket; readonly gauge: Hex };

export async function readOwnedNfts(
  query: PositionQuery,
  markets: readonly LiquidityNftMarket[],
  signal: AbortSignal,
): Promise<OwnedNfts> {
  const { at, wallet } = query;
  const lists = markets.flatMap((market): NftList[] => [
    { market, contract: market.manager, staking: "none" },
    ...(market.farm === undefined ? [] : [{ market, contract: market.farm, staking: "farm" } as const]),
  ]);
  const candidates = findGaugeCandidates(query, markets);
  const idCall = (list: NftList, index: number): ContractRead =>
    positionManager.tokenOfOwnerByIndex(list.contract, [wallet, BigInt(index)]);
  const listCalls = lists.flatMap((list) => [
    positionManager.balanceOf(list.contract, [wallet]),
    ...Array.from({ length: FIRST_COUNT }, (_, index) => idCall(list, index)),
  ]);
  const gaugeChecks = candidates.map(({ voter, gauge }) => gaugeCalls.isGauge(voter, [gauge]));
  const results = await readByMulticall(at, [...listCalls, ...gaugeChecks], signal);

  const warnings: string[] = [];
  const counted = lists.map((list, index) => {
    const [count, ...first] = results.slice(index * (1 + FIRST_COUNT), (index + 1) * (1 + FIRST_COUNT));
    const total = readCount(list, count, at.chain.name, warnings);
    return { list, total, first: total <= FIRST_COUNT ? first.slice(0, total).reverse() : null };
  });
  const gauges = candidates.filter((_, index) => decodeWord(results[listCalls.length + index]) === 1n);
  const listed = counted.flatMap(({ list, total, first }) =>
    first
      ? []
      : Array.from({ length: Math.min(total, NFTS_MAX) }, (_, index) => idCall(list, total - 1 - index)),
  );
  const staked = gauges.flatMap(({ gauge }) => [
    gaugeCalls.nft(gauge),
    gaugeCalls.stakedValues(gauge, [wallet]),
  ]);
  const more = await readByMulticall(at, [...listed, ...staked], signal);

  const nfts: OwnedNft[] = [];
  const missing: LiquidityNftMarket[] = [];
  let used = 0;
  for (const { list, total, first } of counted) {
    const ids = first ?? more.slice(used, used + Math.min(total, NFTS_MAX));
    if (first === null) used += ids.length;
    for (const id of ids.map(decodeWord)) {
      if (id === null) missing.push(list.market);
      else nfts.push({ market: list.market, id, staking: list.staking });
    }
  }
  for (const [index, { market }] of gauges.entries()) {
    const [manager, ids] = more.slice(listed.length + 2 * index);
    // A gauge of another generation of the protocol, or of another kind: its ids are not of this manager.
    if (decodeAddress(manager) !== market.manager) continue;
    const values = decodeWordArray(ids, NFTS_MAX);
    if (values === null) missing.push(market);
    for (const id of values ?? []) nfts.push({ market, id, staking: "gauge" });
  }
  return { nfts, missing, warnings };
}

/** Zero, with a warning, for a number that no manager could return. */
function readCount(
  { market, staking }: NftList,
  result: Hex | null | undefined,
  chain: string,
  warnings: string[],
): number {
  const kind = `${staking === "farm" ? "staked " : ""}${market.name} positions on ${chain}`;
  const count = decodeTokenAmount(result);
  if (count === null || count > BigInt(Number.MAX_SAFE_INTEGER)) {
    warnings.push(`The number of ${kind} could not be read; they are missing.`);
    return 0;
  }
  if (count > BigInt(NFTS_MAX)) {
    warnings.push(`Only the newest ${NFTS_MAX} of ${count} ${kind} were looked at, open or closed.`);
  }
  return Number(count);
}

/** Where the wallet has sent NFTs of a market with gauges: only a recent transfer shows a gauge. */
function findGaugeCandidates(
  { wallet, transfers = [] }: PositionQuery,
  markets: readonly LiquidityNftMarket[],
): readonly (Gauge & { readonly voter: Hex })[] {
  const candidates = new Map<string, Gauge & { readonly voter: Hex }>();
  for (const market of markets) {
    const { voter } = market;
    if (voter === undefined) continue;
    for (const { contract, from, to } of transfers) {
      if (contract !== market.manager || from !== wallet) continue;
      candidates.set(`${contract} ${to}`, { market, voter, gauge: to });
    }
  }
  return [...candidates.values()].slice(0, GAUGES_MAX);
}
