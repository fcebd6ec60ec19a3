// Liquidity tokens of Uniswap v2 and its forks as a share of their pair, when a factory of our list knows the pair.

import { joinEach } from "../../contract-reads/reads.ts";
import { isListed, type PositionReader, type ProtocolPosition } from "../../types.ts";
import { type Assets, declareAssets } from "../asset-metadata.ts";
import { selectListedFirst, toPairHoldings } from "../liquidity.ts";
import { defineReader } from "../position-read.ts";
import { declarePairState, type PairMarket, type PairState } from "./contracts.ts";
import { findPairs, type Pair } from "./find-pairs.ts";

/** More than real wallets provide liquidity to; a warning states how many were left out. */
const PAIRS_MAX = 100;

/**
 * A pair proves itself: its factory deploys one known code and remembers what it deployed. So its reserves, supply and
 * balances are true as far as its two tokens are; a token that lies about its balance can only fake an amount of itself.
 * But a withdrawal pays both tokens in one call, and a token that anyone may have written can reject it, while its maker
 * takes the other one out by a swap.
 */
export function createUniswapV2Reader(markets: ReadonlyMap<number, readonly PairMarket[]>): PositionReader {
  return defineReader({
    protocol: "uniswap-v2 and its forks",
    markets,
    async read(run, onChain) {
      const { at, wallet, chain } = run;
      const found = await findPairs(run, onChain);
      const what = "pairs in which the wallet has liquidity";
      const pairs = selectListedFirst(run, found.pairs, PAIRS_MAX, what);
      const tokens = pairs.flatMap(({ token0, token1 }) => [token0, token1]);
      // Voters create gauges only for tokens that their protocol's governance has accepted.
      const isTrap = ({ token0, token1, gauge }: Pair) =>
        gauge === null && [token0, token1].some((contract) => !isListed(at.chain, { contract }));
      const { states, assets } = await run.ask({
        states: joinEach(pairs, (pair) => declarePairState(pair, wallet)),
        assets: declareAssets(await run.withTokens(), tokens),
      });
      const positions = states.flatMap(([pair, state]) =>
        state === null ? [] : createPositions(pair, state, { assets, isPayoutUnproven: isTrap(pair) }),
      );
      const traps = positions.filter(({ assets: [asset] }) => asset?.isPayoutUnproven);
      const trapped = new Set(traps.map(({ contract }) => contract)).size;
      if (trapped > 0) {
        run.warn(
          `Pairs on ${chain} with an unlisted token, which may keep a withdrawal from the wallet: ${trapped}. They have no value.`,
        );
      }
      const missing = found.unclear + states.filter(([, state]) => state === null).length;
      if (missing > 0) {
        run.warn(
          `Tokens on ${chain} that may be liquidity of Uniswap v2 or a fork, but could not be read as such: ${missing}.`,
        );
      }
      for (const { held, pair } of found.pairs) if (held > 0n) run.provenTokens.add(pair);
      return positions;
    },
  });
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
    const positive = toPairHoldings(assets, [pair.token0, pair.token1], {
      amount0: part.amount0 + (part.liquidity * state.reserve0) / state.supply,
      amount1: part.amount1 + (part.liquidity * state.reserve1) / state.supply,
    });
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
