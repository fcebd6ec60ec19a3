// Finds held tokens that are liquidity of a pair, as its factory confirms, and pairs that the wallet has staked in a gauge.
import { decodeAddress, wordToAddress } from "../../../lib/abi/return-data.ts";
import type { Hex } from "../../../lib/hex.ts";
import { keepPresent } from "../../../lib/lists.ts";
import { joinEach, joinReads, type Reads } from "../../contract-reads/reads.ts";
import type { Holding } from "../../types.ts";
import type { PositionRead, PositionReadWithTokens } from "../position-read.ts";
import { describeGap, findStakedGauges } from "../staked-gauges.ts";
import type { PairMarket } from "./contracts.ts";
import { factoryCalls, pairCalls, voterCalls } from "./contracts.ts";

/** As many unlisted tokens as are looked at in all; a warning states how many were left out. */
const PROBES_MAX = 300;
/** Contracts that the wallet has sent tokens to, each with a call to the voter: two multicalls. */
const DEPOSITS_MAX = 400;
/** Any contract can claim in its logs that the wallet sent its tokens somewhere; a pair has one gauge. */
const DEPOSITS_PER_CONTRACT_MAX = 4;
/** Anyone may stake a little for the wallet; a warning states how many gauges were left out. */
const GAUGES_MAX = 400;

/** The symbols of liquidity tokens: a list may have one, and listed tokens are otherwise not probed. */
const LIQUIDITY_SYMBOL = /^(UNI-V2|SLP|Cake-LP|[sv]AMM)/;

export type Pair = {
  readonly market: PairMarket;
  /** The pair is also the token of its liquidity. */
  readonly pair: Hex;
  readonly token0: Hex;
  readonly token1: Hex;
  readonly held: bigint;
  readonly gauge: Hex | null;
};

type FoundPairs = {
  readonly pairs: readonly Pair[];
  /** How many could be pairs, but the results say neither that they are nor that they are not. */
  readonly unclear: number;
};
type HeldToken = Holding & { readonly contract: Hex };
type GaugeMarket = Extract<PairMarket, { readonly shape: "velodrome" }>;
type Stake = { readonly market: GaugeMarket; readonly pair: Hex };
/** A transfer of a pair's tokens to what may be its gauge. */
type Deposit = Stake & { readonly gauge: Hex };
/** A pair before its factory has confirmed it; null tokens are still to be read. */
type Claim = Omit<Pair, "token0" | "token1" | "gauge"> & { readonly tokens: readonly [Hex, Hex] | null };

export async function findPairs(run: PositionRead, markets: readonly PairMarket[]): Promise<FoundPairs> {
  const [{ probes, gauges, skippedDeposits }, stakes] = await Promise.all([
    readCandidates(run, markets),
    findStakes(run, markets),
  ]);
  for (const warning of stakes.warnings) run.warn(warning);
  if (!stakes.isComplete && skippedDeposits > 0) {
    run.warn(
      `Only the newest ${gauges.length} of ${gauges.length + skippedDeposits} transfers from the wallet on ${run.chain} were checked for being stakes in a gauge.`,
    );
  }
  let unclear = 0;
  const byFactory = new Map(markets.map((market) => [market.factory, market]));
  const claims = probes.flatMap(([{ contract, rawBalance }, { factory, tokens }]): Claim[] => {
    // A revert, or the empty result of a fallback function: the contract is not a pair.
    if (factory === null || factory === "0x") return [];
    const address = decodeAddress(factory);
    const market = byFactory.get(address ?? "0x");
    if (address === null || (market && !tokens)) unclear += 1;
    return market && tokens ? [{ market, pair: contract, tokens, held: rawBalance }] : [];
  });
  const isClaimed = new Set(claims.map(({ pair }) => pair));
  const deposited = gauges.flatMap(([deposit, pool]) => {
    const isGauge = namesPair(pool, deposit.pair);
    if (isGauge === null) unclear += 1;
    return isGauge ? [deposit] : [];
  });
  const staked = [...stakes.found, ...deposited].flatMap(({ market, pair }): Claim[] => {
    if (isClaimed.has(pair)) return [];
    isClaimed.add(pair);
    return [{ market, pair, tokens: null, held: 0n }];
  });
  const confirmed = await confirmClaims(run, [...claims, ...staked]);
  return { pairs: confirmed.pairs, unclear: unclear + confirmed.unclear };
}

/** Reads what tokens that may be pairs say of themselves, and which receivers of tokens are gauges. */
async function readCandidates(early: PositionRead, markets: readonly PairMarket[]) {
  const run = await early.withTokens();
  const probed = findCandidates(run);
  const sent = findDeposits(run, markets);
  const deposits = sent.slice(-DEPOSITS_MAX);
  const read = await run.ask({
    probes: joinEach(probed, ({ contract }) => ({
      factory: pairCalls.factory(contract),
      tokens: declareTokens(contract),
    })),
    gauges: joinEach(deposits, ({ market, gauge }) => voterCalls.poolForGauge(market.voter, [gauge])),
  });
  return { ...read, skippedDeposits: sent.length - deposits.length };
}

/** Every unlisted token, because no symbol or name says what a contract is. */
function findCandidates(run: PositionReadWithTokens): readonly HeldToken[] {
  const { tokens } = run.at.chain;
  const candidates = run.holdings.filter(
    (holding): holding is HeldToken =>
      holding.contract !== null &&
      holding.rawBalance > 0n &&
      (!tokens.has(holding.contract) || LIQUIDITY_SYMBOL.test(holding.symbol ?? "")),
  );
  if (candidates.length > PROBES_MAX) {
    run.warn(
      `Only ${PROBES_MAX} of ${candidates.length} unlisted tokens on ${run.chain} were checked for being liquidity of a pair.`,
    );
  }
  return candidates.slice(0, PROBES_MAX);
}

/** If the wallet has tokens in a gauge, by the word of the voter. */
async function findStakes(
  run: PositionRead,
  markets: readonly PairMarket[],
): Promise<{
  readonly found: readonly Stake[];
  readonly isComplete: boolean;
  readonly warnings: readonly string[];
}> {
  const scanned = markets.filter((market) => market.shape === "velodrome");
  const stakes = await Promise.all(
    scanned.map(async (market) => {
      const scan = await findStakedGauges(run, market.voter, run.signal);
      const gap = describeGap(scan, market.name, run.chain);
      const held = (scan?.gauges ?? []).filter(({ holdsNfts }) => !holdsNfts);
      const cut =
        held.length > GAUGES_MAX &&
        `Only ${GAUGES_MAX} of ${held.length} gauges of ${market.name} on ${run.chain} in which the wallet has something were looked at.`;
      const found = held.slice(0, GAUGES_MAX).map(({ pool }): Stake => ({ market, pair: pool }));
      return { found, isComplete: gap === null, warnings: keepPresent(gap, cut) };
    }),
  );
  return {
    found: stakes.flatMap(({ found }) => found),
    isComplete: stakes.every(({ isComplete }) => isComplete),
    warnings: stakes.flatMap(({ warnings }) => warnings),
  };
}

/**
 * If no node can search the gauges, a recent transfer shows one: staked tokens leave the wallet without a receipt.
 * Oldest first.
 */
function findDeposits(
  { wallet, transfers }: PositionReadWithTokens,
  markets: readonly PairMarket[],
): readonly Deposit[] {
  const sent = transfers.filter(({ from, isErc721 }) => from === wallet && isErc721 !== true);
  return markets.flatMap((market) => {
    if (market.shape !== "velodrome") return [];
    const newest = new Map<string, Deposit>();
    const countOf = new Map<Hex, number>();
    // The newest are the last of the logs.
    for (const { contract, to } of sent.toReversed()) {
      if (contract === null) continue;
      const key = `${contract} ${to}`;
      const count = countOf.get(contract) ?? 0;
      if (newest.has(key) || count >= DEPOSITS_PER_CONTRACT_MAX) continue;
      countOf.set(contract, count + 1);
      newest.set(key, { market, pair: contract, gauge: to });
    }
    return [...newest.values()].toReversed();
  });
}

function declareTokens(pair: Hex): Reads<readonly [Hex, Hex] | null> {
  return joinReads([pairCalls.token0(pair), pairCalls.token1(pair)]).map(([token0, token1]) =>
    token0 === null || token1 === null || token0 === token1 ? null : [token0, token1],
  );
}

/** Whether a trusted contract names the pair; null when its result is not an address at all. */
function namesPair(result: bigint | null, pair: Hex): boolean | null {
  if (result === 0n) return false;
  const address = wordToAddress(result);
  return address === null ? null : address === pair;
}

/** The pairs that the factory has deployed. The factory decides, never the contract itself. */
async function confirmClaims(run: PositionRead, claims: readonly Claim[]): Promise<FoundPairs> {
  const read = await run.askEach(claims, ({ market, pair, tokens }) =>
    market.shape === "uniswap"
      ? {
          proof: factoryCalls
            .getPair(market.factory, tokens ?? [pair, pair])
            .map((found) => namesPair(found, pair)),
          gauge: null,
          tokens: null,
        }
      : {
          proof: factoryCalls.isPool(market.factory, [pair]),
          gauge: voterCalls.gauges(market.voter, [pair]),
          tokens: tokens === null ? declareTokens(pair) : null,
        },
  );
  let unclear = 0;
  const pairs = read.flatMap(([{ market, pair, tokens: claimed, held }, own]): Pair[] => {
    if (own.proof === false) return [];
    const tokens = claimed ?? own.tokens;
    const gauge = wordToAddress(own.gauge);
    const isGaugeClear = market.shape === "uniswap" || gauge !== null || own.gauge === 0n;
    if (own.proof === null || tokens === null || !isGaugeClear) unclear += 1;
    if (own.proof === null || tokens === null) return [];
    const [token0, token1] = tokens;
    return [{ market, pair, token0, token1, held, gauge }];
  });
  return { pairs, unclear };
}
