// Sells into the pools that set prices, without a transaction: a price at which no pool buys is not a price.
import {
  saleSimulatorAbi as abi,
  saleSimulatorRuntimeBytecode as code,
} from "@sextant/contracts/generated/sale-simulator";
import { createFunctionCodec } from "../../lib/abi/codec.ts";
import { decodeWordArray } from "../../lib/abi/return-data.ts";
import { splitIntoChunks } from "../../lib/chunks.ts";
import type { Hex } from "../../lib/hex.ts";
import { SQRT_PRICE_MAX, SQRT_PRICE_MIN } from "../positions/uniswap-v3/tick-math.ts";
import type { PinnedChain } from "../types.ts";
import type { Pool } from "./find-pools.ts";
import type { PoolState } from "./spot-pools.ts";

/** A swap over a few ranges takes 200,000 gas; tokens that take a fee and sell it themselves take several times that. */
const SALE_GAS_MAX = 1_500_000;
/** About 25 million gas with ordinary tokens; where some burn all that they get, the rest goes into another call. */
const SALES_PER_CALL_MAX = 100;
/** As many as 300 tokens that burn all their gas need; what is left then has no price. */
const CALLS_MAX = 16;
/**
 * A pool that holds what it claims pays at least half of price times amount, because the sale moves its price; a token
 * may take a fee besides. One that pays less than this share does not buy at its price.
 */
const PAID_SHARE_MIN = 4n;
/** The price may fall to a sixteenth: below a quarter only if there is less liquidity than claimed. */
const SQRT_PRICE_FALL_MAX = 4n;

/** The pool that sets a price, and what it claims. */
export type SaleClaim = { readonly pool: Pool; readonly standing: PoolState };

export type Sales<Claim> = {
  readonly sellable: readonly Claim[];
  /** Of unlisted tokens, which no node could try to sell. */
  readonly untried: readonly Claim[];
};

type SalesQuery<Claim> = { readonly claims: readonly Claim[]; readonly wallet: Hex | undefined };

const simulate = createFunctionCodec(abi, "simulate");

/**
 * Of an unlisted token the wallet itself sells all that it has: the token may reject the sale. Of a listed one the pool
 * is asked what it would pay for what is held; its coins may lie where no sale gets to. Pools of reserves pay by what
 * they hold. One request for a hundred tokens, and none without such claims.
 */
export async function findSellable<Claim extends SaleClaim>(
  at: PinnedChain,
  { claims, wallet }: SalesQuery<Claim>,
  signal: AbortSignal,
): Promise<Sales<Claim>> {
  const tried = claims.filter(isTried);
  const sold = new Map<Claim, boolean | null>();
  const parts = splitIntoChunks(tried, SALES_PER_CALL_MAX);
  const results = await Promise.all(
    parts.map((part) => (wallet === undefined ? part.map(() => null) : sellAll(at, wallet, part, signal))),
  );
  for (const [index, claim] of tried.entries()) {
    const paid = results.flat()[index] ?? null;
    const expected = expectPayment(claim);
    sold.set(claim, paid === null ? null : expected > 0n && paid * PAID_SHARE_MIN >= expected);
  }
  // A node that cannot simulate says nothing about a listed token.
  const isSellable = (claim: Claim) =>
    sold.get(claim) ?? (sold.has(claim) ? claim.pool.token.isListed : true);
  return {
    sellable: claims.filter(isSellable),
    untried: claims.filter((claim) => sold.get(claim) === null && !claim.pool.token.isListed),
  };
}

function isTried(claim: SaleClaim): boolean {
  const { token, kind } = claim.pool;
  return !token.isListed || (kind.forgetsCoins && expectPayment(claim) > 0n);
}

/** Units of the token that are sold: what is held, and no more than the pool claims to pay for. */
function saleAmount({ pool: { token }, standing: { depth, rate } }: SaleClaim): bigint {
  const payable = (depth * rate[1]) / rate[0];
  return token.held < payable ? token.held : payable;
}

function expectPayment(claim: SaleClaim): bigint {
  const [numerator, denominator] = claim.standing.rate;
  return (saleAmount(claim) * numerator) / denominator;
}

/** What each pool paid; null when the node does not place our code. */
async function sellAll(
  at: PinnedChain,
  wallet: Hex,
  claims: readonly SaleClaim[],
  signal: AbortSignal,
): Promise<readonly (bigint | null)[]> {
  const paid: bigint[] = [];
  for (let call = 0; call < CALLS_MAX && paid.length < claims.length; call += 1) {
    const left = claims.slice(paid.length);
    const data = simulate.encodeCall([left.map(encodeSale), BigInt(SALE_GAS_MAX)]);
    const returnData = await at.callWithOverride({ code, data, account: wallet }, signal);
    const made = decodeWordArray(returnData, left.length) ?? [];
    if (made.length === 0) break;
    paid.push(...made);
  }
  return claims.map((_, index) => paid[index] ?? null);
}

function encodeSale(claim: SaleClaim) {
  const { pool, standing } = claim;
  const isTokenFirst = pool.token.contract < pool.quote.token;
  return {
    ...{ token: pool.token.contract, quote: pool.quote.token, pool: pool.address, kind: pool.kind.trade },
    amount: saleAmount(claim),
    sqrtPriceLimit: limitSqrtPrice(standing.sqrtPrice ?? 0n, isTokenFirst),
    isQuoted: pool.token.isListed,
  };
}

/** Selling the first token of a pool lowers its price, selling the second raises it. */
function limitSqrtPrice(sqrtPrice: bigint, isTokenFirst: boolean): bigint {
  const limit = isTokenFirst ? sqrtPrice / SQRT_PRICE_FALL_MAX : sqrtPrice * SQRT_PRICE_FALL_MAX;
  if (limit <= SQRT_PRICE_MIN) return SQRT_PRICE_MIN + 1n;
  return limit >= SQRT_PRICE_MAX ? SQRT_PRICE_MAX - 1n : limit;
}
