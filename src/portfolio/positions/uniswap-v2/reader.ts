// Liquidity tokens of Uniswap v2 and its forks as a share of their pair, when a factory of our list knows the pair.

import { readGroups } from "../../contract-reads/read-groups.ts";
import { joinEach } from "../../contract-reads/reads.ts";
import {
  type Holding,
  isListed,
  type PositionQuery,
  type PositionReader,
  type ProtocolPosition,
} from "../../types.ts";
import { type Assets, declareAssets, getAsset } from "../asset-metadata.ts";
import { createMarketReader } from "../market-reader.ts";
import { declarePairState, type PairState } from "./contracts.ts";
import { findPairs, type Pair } from "./find-pairs.ts";
import type { PairMarket } from "./markets.ts";

/** More than real wallets provide liquidity to; a warning states how many were left out. */
const PAIRS_MAX = 100;

/**
 * A pair proves itself: its factory deploys one known code and remembers what it deployed. So its reserves, supply and
 * balances are true as far as its two tokens are; a token that lies about its balance can only fake an amount of itself.
 * But a withdrawal pays both tokens in one call, and a token that anyone may have written can reject it, while its maker
 * takes the other one out by a swap.
 */
export function createUniswapV2Reader(markets: ReadonlyMap<number, readonly PairMarket[]>): PositionReader {
  return createMarketReader("uniswap-v2 and its forks", markets, async (query, onChain, signal) => {
    const { at, wallet } = query;
    const found = await findPairs(query, onChain, signal);
    const warnings = [...found.warnings];
    const pairs = selectPairs(query, found.pairs, warnings);
    const tokens = pairs.flatMap(({ token0, token1 }) => [token0, token1]);
    // Voters create gauges only for tokens that their protocol's governance has accepted.
    const isTrap = ({ token0, token1, gauge }: Pair) =>
      gauge === null && [token0, token1].some((contract) => !isListed(at.chain, { contract }));
    const { states, assets } = await readGroups(at, signal, {
      states: joinEach(pairs, (pair) => declarePairState(pair, wallet)),
      assets: declareAssets(query, tokens),
    });
    let missing = found.unclear;
    const positions = states.flatMap(([pair, state]): readonly ProtocolPosition[] => {
      if (state === null) missing += 1;
      return state === null ? [] : createPositions(pair, state, { assets, isPayoutUnproven: isTrap(pair) });
    });
    const trapped = new Set(
      positions.filter(({ assets: [asset] }) => asset?.isPayoutUnproven).map(({ contract }) => contract),
    ).size;
    if (trapped > 0) {
      warnings.push(
        `Pairs on ${at.chain.name} with an unlisted token, which may keep a withdrawal from the wallet: ${trapped}. They have no value.`,
      );
    }
    if (missing > 0) {
      warnings.push(
        `Tokens on ${at.chain.name} that may be liquidity of Uniswap v2 or a fork, but could not be read as such: ${missing}.`,
      );
    }
    const provenTokens = new Set(found.pairs.filter(({ held }) => held > 0n).map(({ pair }) => pair));
    return { positions, warnings, ...(provenTokens.size > 0 ? { provenTokens } : {}) };
  });
}

/** Pairs with a listed token first: anyone may send the wallet liquidity of worthless tokens. */
function selectPairs({ at }: PositionQuery, pairs: readonly Pair[], warnings: string[]): readonly Pair[] {
  if (pairs.length <= PAIRS_MAX) return pairs;
  warnings.push(
    `Only ${PAIRS_MAX} of ${pairs.length} pairs in which the wallet has liquidity on ${at.chain.name} are shown, those with a listed token first.`,
  );
  const hasListed = ({ token0, token1 }: Pair) => at.chain.tokens.has(token0) || at.chain.tokens.has(token1);
  return [...pairs.filter(hasListed), ...pairs.filter((pair) => !hasListed(pair))].slice(0, PAIRS_MAX);
}

/** The wallet's own tokens with the fees it may claim, and what it has staked in the gauge. */
function createPositions(
  pair: Pair,
  state: PairState,
  { assets, isPayoutUnproven }: { readonly assets: Assets; readonly isPayoutUnproven: boolean },
): readonly ProtocolPosition[] {
  const { market, held } = pair;
  const kind = state.stable === null ? "pair" : state.stable ? "stable pool" : "volatile pool";
  const own = { ...state.fees, liquidity: held };
  const staked = { amount0: 0n, amount1: 0n, liquidity: state.staked };
  return [own, staked].flatMap((part): ProtocolPosition[] => {
    const holdings: readonly Holding[] = [
      {
        ...getAsset(assets, pair.token0),
        rawBalance: part.amount0 + (part.liquidity * state.reserve0) / state.supply,
      },
      {
        ...getAsset(assets, pair.token1),
        rawBalance: part.amount1 + (part.liquidity * state.reserve1) / state.supply,
      },
    ];
    const positive = holdings.filter(({ rawBalance }) => rawBalance > 0n);
    if (positive.length === 0) return [];
    return [
      {
        protocol: market.protocol,
        kind: "liquidity",
        // Without the tokens' symbols: anyone may have chosen those.
        name: `${market.name} ${kind}${part === staked ? ", staked" : ""}`,
        contract: pair.pair,
        assets: isPayoutUnproven ? positive.map((asset) => ({ ...asset, isPayoutUnproven })) : positive,
        receiptTokens: part === own && held > 0n ? [pair.pair] : [],
      },
    ];
  });
}
