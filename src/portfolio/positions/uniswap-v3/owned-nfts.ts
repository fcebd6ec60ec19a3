// Finds the liquidity NFTs that a wallet owns: in the wallet itself, in farms that list them, and in gauges.
import type { Hex } from "../../../lib/hex.ts";
import { joinEach } from "../../contract-reads/reads.ts";
import type { PositionRead, PositionReadWithTokens } from "../position-read.ts";
import { describeGap, findStakedGauges } from "../staked-gauges.ts";
import type { LiquidityNftMarket } from "./contracts.ts";
import { gaugeCalls, NFTS_MAX, positionManager } from "./contracts.ts";

/** Ids requested along with the number of NFTs: saves nearly every wallet a round trip. */
const FIRST_COUNT = 8;
/** Contracts that the wallet has sent NFTs to, each with a call of its own. */
const GAUGES_MAX = 64;

export type OwnedNft = {
  readonly market: LiquidityNftMarket;
  readonly id: bigint;
  readonly staking: "none" | "farm" | "gauge";
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

/** Newest first in each market, as far as the order of ownership shows it. */
export async function readOwnedNfts(
  run: PositionRead,
  markets: readonly LiquidityNftMarket[],
  missing: LiquidityNftMarket[],
): Promise<readonly OwnedNft[]> {
  const { wallet } = run;
  const lists = markets.flatMap((market): NftList[] => [
    { market, contract: market.manager, staking: "none" },
    ...(market.farm === undefined ? [] : [{ market, contract: market.farm, staking: "farm" } as const]),
  ]);
  const idsOf = ({ contract }: NftList, indexes: readonly number[]) =>
    indexes.map((index) => positionManager.tokenOfOwnerByIndex(contract, [wallet, BigInt(index)]));
  const [first, sentTo, scanned] = await Promise.all([
    run.askEach(lists, (list) => ({
      count: positionManager.balanceOf(list.contract, [wallet]),
      ids: idsOf(list, [...Array(FIRST_COUNT).keys()]),
    })),
    findSentGauges(run, markets),
    findGauges(run, markets),
  ]);
  const counted = first.map(([list, { count, ids }]) => {
    const total = readCount(run, list, count);
    return { list, total, ids: total <= FIRST_COUNT ? ids.slice(0, total).reverse() : null };
  });
  const more = await run.ask({
    lists: joinEach(counted, ({ list, total, ids }) => {
      const newest = Array.from({ length: Math.min(total, NFTS_MAX) }, (_, index) => total - 1 - index);
      return ids === null ? idsOf(list, newest) : null;
    }),
    gauges: joinEach(mergeGauges(sentTo, scanned), ({ gauge }) => ({
      manager: gaugeCalls.nft(gauge),
      ids: gaugeCalls.stakedValues(gauge, [wallet]),
    })),
  });

  const listed = more.lists.flatMap(([{ list, ids }, moreIds]) =>
    (ids ?? moreIds ?? []).flatMap((id): OwnedNft[] => {
      if (id === null) missing.push(list.market);
      return id === null ? [] : [{ market: list.market, id, staking: list.staking }];
    }),
  );
  const staked = more.gauges.flatMap(([{ markets: own, isUsed }, { manager, ids }]): OwnedNft[] => {
    const market = own.find((each) => each.manager === manager);
    if (market && ids) return ids.map((id) => ({ market, id, staking: "gauge" }));
    // An NFT of a manager that we do not know is worth a word only when the wallet has one.
    if (market || isUsed || manager === null) missing.push(...(market ? [market] : own.slice(0, 1)));
    return [];
  });
  return [...listed, ...staked];
}

/** Zero, with a warning, for a number that no manager could return. */
function readCount(run: PositionRead, { market, staking }: NftList, count: bigint | null): number {
  const kind = `${staking === "farm" ? "staked " : ""}${market.name} positions on ${run.chain}`;
  if (count === null || count > BigInt(Number.MAX_SAFE_INTEGER)) {
    run.warn(`The number of ${kind} could not be read; they are missing.`);
    return 0;
  }
  if (count > BigInt(NFTS_MAX))
    run.warn(`Only the newest ${NFTS_MAX} of ${count} ${kind} were looked at, open or closed.`);
  return Number(count);
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
  run: PositionRead,
  markets: readonly LiquidityNftMarket[],
): Promise<readonly Gauge[]> {
  const voters = new Map<Hex, readonly LiquidityNftMarket[]>();
  for (const market of markets) {
    if (market.voter !== undefined) voters.set(market.voter, [...(voters.get(market.voter) ?? []), market]);
  }
  const gauges = await Promise.all(
    [...voters].map(async ([voter, own]): Promise<readonly Gauge[]> => {
      const scan = await findStakedGauges(run, voter, run.signal);
      const gap = describeGap(scan, own[0]?.name ?? "", run.chain);
      if (gap !== null) run.warn(gap);
      const used = (scan?.gauges ?? []).filter(({ holdsNfts }) => holdsNfts);
      return used.map(({ gauge }) => ({ gauge, markets: own, isUsed: true }));
    }),
  );
  return gauges.flat();
}

/** Only transfers show them: they are known later than what the wallet has. */
async function findSentGauges(
  run: PositionRead,
  markets: readonly LiquidityNftMarket[],
): Promise<readonly GaugeCandidate[]> {
  if (markets.every(({ voter }) => voter === undefined)) return [];
  const candidates = findGaugeCandidates(await run.withTokens(), markets);
  const read = await run.askEach(candidates, ({ voter, gauge }) => gaugeCalls.isGauge(voter, [gauge]));
  return read.flatMap(([candidate, isGauge]) => (isGauge ? [candidate] : []));
}

/**
 * The accounts to which the wallet has sent NFTs of a market with gauges: they show a gauge if no node can search for
 * it.
 */
function findGaugeCandidates(
  { wallet, transfers }: PositionReadWithTokens,
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
