// Finds the liquidity NFTs that a wallet owns: in the wallet itself, in farms that list them, and in gauges.
import type { Hex } from "../../../lib/hex.ts";
import { readGroups } from "../../contract-reads/read-groups.ts";
import { joinEach } from "../../contract-reads/reads.ts";
import type { PositionQuery } from "../../types.ts";
import { describeGap, findStakedGauges } from "../staked-gauges.ts";
import { gaugeCalls, NFTS_MAX, positionManager } from "./contracts.ts";
import type { LiquidityNftMarket } from "./markets.ts";

/** Ids requested along with the number of NFTs: saves nearly every wallet a round trip. */
const FIRST_COUNT = 8;
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
type Gauge = {
  readonly gauge: Hex;
  /** To which its NFTs may belong: generations of a protocol share a voter. */
  readonly markets: readonly LiquidityNftMarket[];
  /** Whether the wallet is known to have NFTs in it. */
  readonly isUsed: boolean;
};
type GaugeCandidate = {
  readonly market: LiquidityNftMarket;
  readonly voter: Hex;
  readonly gauge: Hex;
};

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
  const idsOf = ({ contract }: NftList, indexes: readonly number[]) =>
    indexes.map((index) => positionManager.tokenOfOwnerByIndex(contract, [wallet, BigInt(index)]));
  const warnings: string[] = [];
  const [first, scanned] = await Promise.all([
    readGroups(at, signal, {
      lists: joinEach(lists, (list) => ({
        count: positionManager.balanceOf(list.contract, [wallet]),
        ids: idsOf(list, [...Array(FIRST_COUNT).keys()]),
      })),
      gauges: joinEach(candidates, ({ voter, gauge }) => gaugeCalls.isGauge(voter, [gauge])),
    }),
    findGauges(query, markets, signal, warnings),
  ]);
  const counted = first.lists.map(([list, { count, ids }]) => {
    const total = readCount(list, count, at.chain.name, warnings);
    return { list, total, ids: total <= FIRST_COUNT ? ids.slice(0, total).reverse() : null };
  });
  const sentTo = first.gauges.flatMap(([candidate, isGauge]) => (isGauge ? [candidate] : []));
  const more = await readGroups(at, signal, {
    lists: joinEach(counted, ({ list, total, ids }) => {
      const newest = Array.from({ length: Math.min(total, NFTS_MAX) }, (_, index) => total - 1 - index);
      return ids === null ? idsOf(list, newest) : null;
    }),
    gauges: joinEach(mergeGauges(sentTo, scanned), ({ gauge }) => ({
      manager: gaugeCalls.nft(gauge),
      ids: gaugeCalls.stakedValues(gauge, [wallet]),
    })),
  });

  const nfts: OwnedNft[] = [];
  const missing: LiquidityNftMarket[] = [];
  for (const [{ list, ids }, moreIds] of more.lists) {
    for (const id of ids ?? moreIds ?? []) {
      if (id === null) missing.push(list.market);
      else nfts.push({ market: list.market, id, staking: list.staking });
    }
  }
  for (const [gauge, read] of more.gauges) {
    const staked = listStakedNfts(gauge, read);
    nfts.push(...staked.nfts);
    missing.push(...staked.missing);
  }
  return { nfts, missing, warnings };
}

/** Zero, with a warning, for a number that no manager could return. */
function readCount(
  { market, staking }: NftList,
  count: bigint | null,
  chain: string,
  warnings: string[],
): number {
  const kind = `${staking === "farm" ? "staked " : ""}${market.name} positions on ${chain}`;
  if (count === null || count > BigInt(Number.MAX_SAFE_INTEGER)) {
    warnings.push(`The number of ${kind} could not be read; they are missing.`);
    return 0;
  }
  if (count > BigInt(NFTS_MAX)) {
    warnings.push(`Only the newest ${NFTS_MAX} of ${count} ${kind} were looked at, open or closed.`);
  }
  return Number(count);
}

/** `manager` is the one whose NFTs the gauge takes, `ids` are the wallet's. */
function listStakedNfts(
  { markets, isUsed }: Gauge,
  { manager, ids }: { readonly manager: Hex | null; readonly ids: readonly bigint[] | null },
): Pick<OwnedNfts, "nfts" | "missing"> {
  const market = markets.find((each) => each.manager === manager);
  // An NFT of a manager that we do not know is worth a word only when the wallet has one.
  if (market === undefined)
    return { nfts: [], missing: isUsed || manager === null ? markets.slice(0, 1) : [] };
  if (ids === null) return { nfts: [], missing: [market] };
  return { nfts: ids.map((id) => ({ market, id, staking: "gauge" })), missing: [] };
}

function mergeGauges(sentTo: readonly GaugeCandidate[], scanned: readonly Gauge[]): readonly Gauge[] {
  const gauges = new Map<Hex, Gauge>();
  for (const { gauge, market } of sentTo) {
    const markets = [...(gauges.get(gauge)?.markets ?? []), market];
    gauges.set(gauge, { gauge, markets, isUsed: false });
  }
  for (const each of scanned) gauges.set(each.gauge, each);
  return [...gauges.values()];
}

/** The gauges in which the wallet has NFTs, by the word of the voters. */
async function findGauges(
  query: PositionQuery,
  markets: readonly LiquidityNftMarket[],
  signal: AbortSignal,
  warnings: string[],
): Promise<readonly Gauge[]> {
  const voters = new Map<Hex, readonly LiquidityNftMarket[]>();
  for (const market of markets) {
    if (market.voter !== undefined) voters.set(market.voter, [...(voters.get(market.voter) ?? []), market]);
  }
  const gauges = await Promise.all(
    [...voters].map(async ([voter, own]): Promise<readonly Gauge[]> => {
      const scan = await findStakedGauges(query, voter, signal);
      const gap = describeGap(scan, own[0]?.name ?? "", query.at.chain.name);
      if (gap !== null) warnings.push(gap);
      const used = (scan?.gauges ?? []).filter(({ holdsNfts }) => holdsNfts);
      return used.map(({ gauge }) => ({ gauge, markets: own, isUsed: true }));
    }),
  );
  return gauges.flat();
}

/**
 * The accounts to which the wallet has sent NFTs of a market with gauges: they show a gauge if no node can search for
 * it.
 */
function findGaugeCandidates(
  { wallet, transfers = [] }: PositionQuery,
  markets: readonly LiquidityNftMarket[],
): readonly GaugeCandidate[] {
  const candidates = new Map<string, GaugeCandidate>();
  for (const market of markets) {
    const { voter } = market;
    if (voter === undefined) continue;
    for (const { contract, from, to } of transfers) {
      if (contract !== market.manager || from !== wallet) continue;
      candidates.set(`${contract} ${to}`, { market, voter, gauge: to });
    }
  }
  // The newest are the last of the logs.
  return [...candidates.values()].slice(-GAUGES_MAX);
}
