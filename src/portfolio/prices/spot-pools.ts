// The Uniswap pools behind a spot price: which exist, how much of the native coin they hold, and their rates.

import { decodeAddress, decodeTokenAmount, decodeWords } from "../../lib/abi/return-data.ts";
import type { Hex } from "../../lib/hex.ts";
import { createCallEncoder } from "../multicall.ts";
import { erc20 } from "../tokens/erc20.ts";
import type { ContractRead } from "../types.ts";
import type { SpotMarket } from "./spot-markets.ts";

const getPool = createCallEncoder("function getPool(address, address, uint24) view returns (address)");
const getPair = createCallEncoder("function getPair(address, address) view returns (address)");
const slot0 = createCallEncoder("function slot0()");
const getReserves = createCallEncoder("function getReserves()");

const SLOT0_WORDS = 7;
const RESERVES_WORDS = 3;

// The original fee tiers; pools of later tiers are ignored.
const V3_FEES = [100, 500, 3_000, 10_000] as const;
const RATE_UNIT = 10n ** 18n;

type Result = Hex | null | undefined;
/** Units of token 1 for one unit of token 0. */
type Ratio = readonly [numerator: bigint, denominator: bigint];

type PoolKind = {
  findCalls(market: SpotMarket, token: Hex): readonly ContractRead[];
  ratioCall(pool: Hex): ContractRead;
  decodeRatio(result: Result): Ratio | null;
};

const uniswapV3: PoolKind = {
  findCalls: ({ v3Factory, wrappedNative }, token) =>
    V3_FEES.map((fee) => getPool(v3Factory, [token, wrappedNative, fee])),
  ratioCall: (pool) => slot0(pool),
  decodeRatio: (result) => {
    const root = decodeWords(result, SLOT0_WORDS)?.[0];
    return root === undefined ? null : [root * root, 2n ** 192n];
  },
};

const uniswapV2: PoolKind = {
  findCalls: ({ v2Factory, wrappedNative }, token) =>
    v2Factory === null ? [] : [getPair(v2Factory, [token, wrappedNative])],
  ratioCall: (pool) => getReserves(pool),
  decodeRatio: (result) => {
    const [reserve0, reserve1] = decodeWords(result, RESERVES_WORDS) ?? [];
    return reserve0 === undefined || reserve1 === undefined ? null : [reserve1, reserve0];
  },
};

const POOL_KINDS = [uniswapV3, uniswapV2];

type PoolState = {
  /** Units of the wrapped native coin; the token side proves nothing, because its issuer can mint any amount. */
  readonly nativeBalance: bigint;
  /** Units of the native coin for 10^18 units of the token; null for an empty pool. */
  readonly rate: bigint | null;
};

/** A pool that exists: the calls for its state, and how to decode the results. */
export type SpotPool = {
  readonly calls: readonly [balance: ContractRead, ratio: ContractRead];
  decodeState(balance: Result, ratio: Result): PoolState;
};

/** A pool that may exist. */
type PoolLookup = { readonly call: ContractRead; decode(result: Result): SpotPool | null };

export function listPoolLookups(market: SpotMarket, token: Hex): readonly PoolLookup[] {
  return POOL_KINDS.flatMap((kind) =>
    kind.findCalls(market, token).map((call) => ({
      call,
      decode: (result: Result): SpotPool | null => {
        const address = decodeAddress(result);
        return address === null ? null : createPool(address, kind, market, token);
      },
    })),
  );
}

function createPool(address: Hex, kind: PoolKind, { wrappedNative }: SpotMarket, token: Hex): SpotPool {
  return {
    calls: [erc20.balanceOf(wrappedNative, [address]), kind.ratioCall(address)],
    decodeState: (balance, ratio) => {
      const [numerator, denominator] = kind.decodeRatio(ratio) ?? [0n, 0n];
      return {
        nativeBalance: decodeTokenAmount(balance) ?? 0n,
        // Pools order their two tokens by address.
        rate: token < wrappedNative ? fraction(numerator, denominator) : fraction(denominator, numerator),
      };
    },
  };
}

function fraction(numerator: bigint, denominator: bigint): bigint | null {
  return denominator === 0n ? null : (numerator * RATE_UNIT) / denominator;
}
