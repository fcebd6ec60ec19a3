// The pools that stand behind a spot price: which there are, what they hold of the native coin, and what they say.
import { parseAbi } from "viem";
import type { Hex } from "../../kit/hex.ts";
import { type ContractCall, contractCall } from "./contract-call.ts";
import type { SpotMarket } from "./spot-markets.ts";

const poolAbi = parseAbi([
  "function getPool(address tokenA, address tokenB, uint24 fee) view returns (address)",
  "function getPair(address tokenA, address tokenB) view returns (address)",
  "function slot0() view returns (uint160 sqrtPriceX96)",
  "function getReserves() view returns (uint112 reserve0, uint112 reserve1, uint32 blockTimestampLast)",
  "function balanceOf(address account) view returns (uint256)",
]);

// The fees the factories began with; a pool of a later one only goes uncounted.
const V3_FEES = [100, 500, 3_000, 10_000] as const;
const RATE_UNIT = 10n ** 18n;

type Venue = {
  find(market: SpotMarket, token: Hex): readonly ContractCall<Hex>[];
  /** Units of token 1 for 10^18 units of token 0, as a fraction. */
  ratio(pool: Hex): ContractCall<readonly [numerator: bigint, denominator: bigint]>;
};

const uniswapV3: Venue = {
  find: ({ v3Factory, wrappedNative }, token) =>
    V3_FEES.map((fee) =>
      contractCall({ to: v3Factory, abi: poolAbi, name: "getPool", args: [token, wrappedNative, fee] }),
    ),
  ratio: (to) =>
    mapped(contractCall({ to, abi: poolAbi, name: "slot0", args: [] }), (root) => [root * root, 2n ** 192n]),
};

const uniswapV2: Venue = {
  find: ({ v2Factory: to, wrappedNative }, token) =>
    to === null ? [] : [contractCall({ to, abi: poolAbi, name: "getPair", args: [token, wrappedNative] })],
  ratio: (to) =>
    mapped(contractCall({ to, abi: poolAbi, name: "getReserves", args: [] }), ([reserve0, reserve1]) => [
      reserve1,
      reserve0,
    ]),
};

const VENUES = [uniswapV3, uniswapV2];

export type PoolQuestion = {
  readonly call: ContractCall<Hex>;
  /** What to ask a pool once its address is known. */
  readonly state: (pool: Hex) => PoolState;
};

export type PoolState = {
  /** Units of the wrapped native coin: the other side is the token itself, of which its maker can print any amount. */
  readonly held: ContractCall<bigint>;
  /** Units of the native coin for 10^18 units of the token; null for an empty pool. */
  readonly rate: ContractCall<bigint | null>;
};

export function poolQuestions(market: SpotMarket, token: Hex): readonly PoolQuestion[] {
  const { wrappedNative } = market;
  return VENUES.flatMap((venue) =>
    venue.find(market, token).map((call) => ({
      call,
      state: (pool: Hex): PoolState => ({
        held: contractCall({ to: wrappedNative, abi: poolAbi, name: "balanceOf", args: [pool] }),
        rate: mapped(venue.ratio(pool), ([numerator, denominator]) =>
          // Pools order their two tokens by address.
          token < wrappedNative ? fraction(numerator, denominator) : fraction(denominator, numerator),
        ),
      }),
    })),
  );
}

function fraction(numerator: bigint, denominator: bigint): bigint | null {
  return denominator === 0n ? null : (numerator * RATE_UNIT) / denominator;
}

function mapped<A, B>(call: ContractCall<A>, change: (answer: A) => B): ContractCall<B> {
  return {
    read: call.read,
    decode: (bytes) => {
      const answer = call.decode(bytes);
      return answer === null ? null : change(answer);
    },
  };
}
