// The pools that stand behind a spot price: which there are, what they hold of the native coin, and what they say.

import { decodeAddress, decodeTokenAmount, decodeWords } from "../../lib/abi/return-data.ts";
import type { Hex } from "../../lib/hex.ts";
import { createCallEncoder } from "../multicall.ts";
import type { ContractRead } from "../types.ts";
import type { SpotMarket } from "./spot-markets.ts";

const getPool = createCallEncoder("function getPool(address, address, uint24) view returns (address)");
const getPair = createCallEncoder("function getPair(address, address) view returns (address)");
const slot0 = createCallEncoder("function slot0()");
const getReserves = createCallEncoder("function getReserves()");
const balanceOf = createCallEncoder("function balanceOf(address) view returns (uint256)");

const SLOT0_WORDS = 7;
const RESERVES_WORDS = 3;

// The fees the factories began with; a pool of a later one only goes uncounted.
const V3_FEES = [100, 500, 3_000, 10_000] as const;
const RATE_UNIT = 10n ** 18n;

type Answer = Hex | null | undefined;
/** Units of token 1 for one unit of token 0. */
type Ratio = readonly [numerator: bigint, denominator: bigint];

type Venue = {
  find(market: SpotMarket, token: Hex): readonly ContractRead[];
  ratioCall(pool: Hex): ContractRead;
  ratioOf(answer: Answer): Ratio | null;
};

const uniswapV3: Venue = {
  find: ({ v3Factory, wrappedNative }, token) =>
    V3_FEES.map((fee) => getPool(v3Factory, [token, wrappedNative, fee])),
  ratioCall: (pool) => slot0(pool),
  ratioOf: (answer) => {
    const root = decodeWords(answer, SLOT0_WORDS)?.[0];
    return root === undefined ? null : [root * root, 2n ** 192n];
  },
};

const uniswapV2: Venue = {
  find: ({ v2Factory, wrappedNative }, token) =>
    v2Factory === null ? [] : [getPair(v2Factory, [token, wrappedNative])],
  ratioCall: (pool) => getReserves(pool),
  ratioOf: (answer) => {
    const [reserve0, reserve1] = decodeWords(answer, RESERVES_WORDS) ?? [];
    return reserve0 === undefined || reserve1 === undefined ? null : [reserve1, reserve0];
  },
};

const VENUES = [uniswapV3, uniswapV2];

type PoolState = {
  /** Units of the wrapped native coin: the other side is the token itself, of which its maker can print any amount. */
  readonly nativeBalance: bigint;
  /** Units of the native coin for 10^18 units of the token; null for an empty pool. */
  readonly rate: bigint | null;
};

/** A pool that exists: what to ask it, and how to read the answers. */
export type SpotPool = {
  readonly calls: readonly [held: ContractRead, ratio: ContractRead];
  decodeState(held: Answer, ratio: Answer): PoolState;
};

/** A pool that may exist. */
type PoolInquiry = { readonly call: ContractRead; pool(answer: Answer): SpotPool | null };

export function listPoolLookups(market: SpotMarket, token: Hex): readonly PoolInquiry[] {
  return VENUES.flatMap((venue) =>
    venue.find(market, token).map((call) => ({
      call,
      pool: (answer: Answer): SpotPool | null => {
        const address = decodeAddress(answer);
        return address === null ? null : poolAt(address, venue, market, token);
      },
    })),
  );
}

function poolAt(address: Hex, venue: Venue, { wrappedNative }: SpotMarket, token: Hex): SpotPool {
  return {
    calls: [balanceOf(wrappedNative, [address]), venue.ratioCall(address)],
    decodeState: (held, ratio) => {
      const [numerator, denominator] = venue.ratioOf(ratio) ?? [0n, 0n];
      return {
        nativeBalance: decodeTokenAmount(held) ?? 0n,
        // Pools order their two tokens by address.
        rate: token < wrappedNative ? fraction(numerator, denominator) : fraction(denominator, numerator),
      };
    },
  };
}

function fraction(numerator: bigint, denominator: bigint): bigint | null {
  return denominator === 0n ? null : (numerator * RATE_UNIT) / denominator;
}
