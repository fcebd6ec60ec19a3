// Factories of pairs in the manner of Uniswap v2 by chain id, calls to them and their pairs, and validated decoding.
import { readChainData } from "../../../chain/chain-data.ts";
import {
  decodeAddress,
  decodeBoolean,
  decodeWord,
  decodeWords,
  TOKEN_AMOUNT_MAX,
} from "../../../lib/abi/return-data.ts";
import type { Hex } from "../../../lib/hex.ts";
import { type ShapeType, shape } from "../../../lib/json-shape.ts";
import { defineRead, joinReads, type Reads } from "../../contract-reads/reads.ts";
import { erc20 } from "../../tokens/erc20.ts";
import type { PairAmounts } from "../liquidity.ts";
import { computeSupplyAfterFee } from "./pair-math.ts";

const pair = { protocol: shape.text, name: shape.text, factory: shape.address };

const pairMarket = shape.variant("shape", {
  uniswap: {
    ...pair,
    /**
     * The weights in the number of tokens that a pair mints to its protocol before it pays liquidity out: a sixth of the
     * growth of the pair's root with 1, 5 and 1, eight of 25 parts of it with 8, 17 and 8.
     */
    feeMint: shape.object({ growth: shape.bigInteger, now: shape.bigInteger, last: shape.bigInteger }),
  },
  /** Stable or volatile pools that keep fees apart, with gauges in which their tokens are staked. */
  velodrome: { ...pair, voter: shape.address },
});

export type PairMarket = ShapeType<typeof pairMarket>;

export const PAIR_MARKETS = readChainData(
  "liquidity",
  "uniswap-v2",
  shape.list(pairMarket, ({ factory }) => factory),
);

/** A storage read behind a proxy. Anyone may have deployed what claims to be a pair. */
const PROBE_GAS_MAX = 100_000;

export const factoryCalls = {
  getPair: defineRead("function getPair(address, address)", decodeWord),
  isPool: defineRead("function isPool(address)", decodeBoolean),
  feeTo: defineRead("function feeTo()", decodeWord),
};

export const voterCalls = {
  gauges: defineRead("function gauges(address)", decodeWord),
  poolForGauge: defineRead("function poolForGauge(address)", decodeWord),
};

export const pairCalls = {
  factory: defineRead("function factory()", (data) => data, PROBE_GAS_MAX),
  token0: defineRead("function token0()", decodeAddress, PROBE_GAS_MAX),
  token1: defineRead("function token1()", decodeAddress, PROBE_GAS_MAX),
  getReserves: defineRead("function getReserves()", decodeReserves),
  kLast: defineRead("function kLast()", decodeWord),
  stable: defineRead("function stable()", decodeBoolean),
  index0: defineRead("function index0()", decodeWord),
  index1: defineRead("function index1()", decodeWord),
  supplyIndex0: defineRead("function supplyIndex0(address)", decodeWord),
  supplyIndex1: defineRead("function supplyIndex1(address)", decodeWord),
  claimable0: defineRead("function claimable0(address)", decodeWord),
  claimable1: defineRead("function claimable1(address)", decodeWord),
};

/** Fees per token of liquidity are counted with 18 decimals. */
const INDEX_UNIT = 10n ** 18n;

/** The holdings of the pair, and the wallet's part of them. */
export type PairState = {
  readonly reserve0: bigint;
  readonly reserve1: bigint;
  /** Against which a share is paid out. */
  readonly supply: bigint;
  readonly staked: bigint;
  /** Fees that the wallet has not claimed; pairs of Uniswap keep them in the reserves. */
  readonly fees: PairAmounts;
  /** Null if pairs are of one kind. */
  readonly stable: boolean | null;
};

type ProvenPair = {
  readonly market: PairMarket;
  readonly pair: Hex;
  readonly gauge: Hex | null;
  /** The wallet's own tokens of the pair. */
  readonly held: bigint;
};

/** Null for anything that such a pair could not return. The pair's code is that of its factory, so it is trusted. */
export function declarePairState(own: ProvenPair, wallet: Hex): Reads<PairState | null> {
  return own.market.shape === "uniswap"
    ? declareUniswapState(own, own.market)
    : declareVelodromeState(own, wallet);
}

type UniswapMarket = Extract<PairMarket, { readonly shape: "uniswap" }>;

function declareUniswapState({ pair, held }: ProvenPair, market: UniswapMarket): Reads<PairState | null> {
  const group = {
    reserves: pairCalls.getReserves(pair),
    supply: erc20.totalSupply(pair),
    feeTo: factoryCalls.feeTo(market.factory),
    kLast: pairCalls.kLast(pair),
  };
  return joinReads(group).map(({ reserves, supply, feeTo, kLast }) => {
    if (!reserves || !supply || feeTo === null || kLast === null || held > supply) return null;
    const weights = market.feeMint;
    const due = feeTo === 0n ? supply : computeSupplyAfterFee(supply, { ...reserves, kLast, weights });
    return { ...reserves, supply: due, staked: 0n, fees: { amount0: 0n, amount1: 0n }, stable: null };
  });
}

function declareVelodromeState({ pair, gauge, held }: ProvenPair, wallet: Hex): Reads<PairState | null> {
  const group = {
    reserves: pairCalls.getReserves(pair),
    supply: erc20.totalSupply(pair),
    stable: pairCalls.stable(pair),
    fees0: [
      pairCalls.index0(pair),
      pairCalls.supplyIndex0(pair, [wallet]),
      pairCalls.claimable0(pair, [wallet]),
    ],
    fees1: [
      pairCalls.index1(pair),
      pairCalls.supplyIndex1(pair, [wallet]),
      pairCalls.claimable1(pair, [wallet]),
    ],
    inGauge: gauge && erc20.balanceOf(gauge, [wallet]),
  } as const;
  return joinReads(group).map(({ reserves, supply, stable, fees0, fees1, inGauge }) => {
    const staked = gauge === null ? 0n : inGauge;
    const amount0 = computeFees(held, ...fees0);
    const amount1 = computeFees(held, ...fees1);
    if (!reserves || !supply || stable === null || staked === null || held + staked > supply) return null;
    if (amount0 === null || amount1 === null) return null;
    return { ...reserves, supply, staked, fees: { amount0, amount1 }, stable };
  });
}

/** The time of the last change comes third. */
function decodeReserves(data: Hex | null): Pick<PairState, "reserve0" | "reserve1"> | null {
  const words = decodeWords(data, 3);
  if (words === null || words[0] > TOKEN_AMOUNT_MAX || words[1] > TOKEN_AMOUNT_MAX) return null;
  return { reserve0: words[0], reserve1: words[1] };
}

function computeFees(
  held: bigint,
  index: bigint | null,
  last: bigint | null,
  claimable: bigint | null,
): bigint | null {
  if (index === null || last === null || claimable === null || last > index) return null;
  const fees = claimable + (held * (index - last)) / INDEX_UNIT;
  return fees > TOKEN_AMOUNT_MAX ? null : fees;
}
