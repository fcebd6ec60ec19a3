// Calls to the factories, pairs, voters and gauges of pairs, and validated decoding of their results.
import {
  decodeTokenAmount,
  decodeWord,
  decodeWords,
  TOKEN_AMOUNT_MAX,
} from "../../../lib/abi/return-data.ts";
import type { Hex } from "../../../lib/hex.ts";
import { type CallResults, createCallEncoder } from "../../multicall.ts";
import { erc20 } from "../../tokens/erc20.ts";
import type { ContractRead } from "../../types.ts";
import type { PairMarket } from "./markets.ts";
import { computeSupplyAfterFee } from "./pair-math.ts";

export const factoryCalls = {
  getPair: createCallEncoder("function getPair(address, address) view returns (address)"),
  isPool: createCallEncoder("function isPool(address) view returns (bool)"),
  feeTo: createCallEncoder("function feeTo() view returns (address)"),
};

export const voterCalls = {
  gauges: createCallEncoder("function gauges(address) view returns (address)"),
  poolForGauge: createCallEncoder("function poolForGauge(address) view returns (address)"),
};

export const pairCalls = {
  factory: createCallEncoder("function factory() view returns (address)"),
  token0: createCallEncoder("function token0() view returns (address)"),
  token1: createCallEncoder("function token1() view returns (address)"),
  getReserves: createCallEncoder("function getReserves()"),
  kLast: createCallEncoder("function kLast() view returns (uint256)"),
  stable: createCallEncoder("function stable() view returns (bool)"),
  index0: createCallEncoder("function index0() view returns (uint256)"),
  index1: createCallEncoder("function index1() view returns (uint256)"),
  supplyIndex0: createCallEncoder("function supplyIndex0(address) view returns (uint256)"),
  supplyIndex1: createCallEncoder("function supplyIndex1(address) view returns (uint256)"),
  claimable0: createCallEncoder("function claimable0(address) view returns (uint256)"),
  claimable1: createCallEncoder("function claimable1(address) view returns (uint256)"),
};

const RESERVES_WORDS = 3;
/** Fees per token of liquidity are counted with 18 decimals. */
const INDEX_UNIT = 10n ** 18n;

type Amounts = { readonly amount0: bigint; readonly amount1: bigint };

/** What the pair holds, and what of it belongs to the wallet. */
export type PairState = {
  readonly reserve0: bigint;
  readonly reserve1: bigint;
  /** Against which a share is paid out. */
  readonly supply: bigint;
  readonly staked: bigint;
  /** Fees that the wallet has not claimed; pairs of Uniswap keep them in the reserves. */
  readonly fees: Amounts;
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

/** The calls whose results `decodePairState` decodes. The pair's code is that of its factory, so it is trusted. */
export function encodePairCalls({ market, pair, gauge }: ProvenPair, wallet: Hex): readonly ContractRead[] {
  const common = [pairCalls.getReserves(pair), erc20.totalSupply(pair)];
  if (market.shape === "uniswap") {
    return [...common, factoryCalls.feeTo(market.factory), pairCalls.kLast(pair)];
  }
  return [
    ...common,
    pairCalls.stable(pair),
    pairCalls.index0(pair),
    pairCalls.index1(pair),
    pairCalls.supplyIndex0(pair, [wallet]),
    pairCalls.supplyIndex1(pair, [wallet]),
    pairCalls.claimable0(pair, [wallet]),
    pairCalls.claimable1(pair, [wallet]),
    ...(gauge === null ? [] : [erc20.balanceOf(gauge, [wallet])]),
  ];
}

/** Null for anything that such a pair could not return. */
export function decodePairState(own: ProvenPair, results: CallResults): PairState | null {
  const [reserve0, reserve1] = decodeWords(results[0], RESERVES_WORDS) ?? [];
  const supply = decodeTokenAmount(results[1]);
  if (reserve0 === undefined || reserve1 === undefined || !supply) return null;
  if (reserve0 > TOKEN_AMOUNT_MAX || reserve1 > TOKEN_AMOUNT_MAX) return null;
  const reserves = { reserve0, reserve1 };
  const { market, held } = own;
  if (market.shape === "uniswap") {
    const [feeTo, kLast] = [decodeWord(results[2]), decodeWord(results[3])];
    if (feeTo === null || kLast === null || held > supply) return null;
    const weights = market.feeMint;
    const due = feeTo === 0n ? supply : computeSupplyAfterFee(supply, { ...reserves, kLast, weights });
    return { ...reserves, supply: due, staked: 0n, fees: { amount0: 0n, amount1: 0n }, stable: null };
  }
  const [stable, index0, index1, last0, last1, claimable0, claimable1] = results.slice(2, 9).map(decodeWord);
  const staked = own.gauge === null ? 0n : decodeTokenAmount(results[9]);
  const amount0 = computeFees(held, index0, last0, claimable0);
  const amount1 = computeFees(held, index1, last1, claimable1);
  if (amount0 === null || amount1 === null || staked === null || held + staked > supply) return null;
  if (stable !== 0n && stable !== 1n) return null;
  return { ...reserves, supply, staked, fees: { amount0, amount1 }, stable: stable === 1n };
}

type Word = bigint | null | undefined;

function computeFees(held: bigint, index: Word, last: Word, claimable: Word): bigint | null {
  if (typeof index !== "bigint" || typeof last !== "bigint" || typeof claimable !== "bigint") return null;
  if (last > index) return null;
  const fees = claimable + (held * (index - last)) / INDEX_UNIT;
  return fees > TOKEN_AMOUNT_MAX ? null : fees;
}
