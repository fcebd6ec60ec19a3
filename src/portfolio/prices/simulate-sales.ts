// Sells into the pools that set prices, without a transaction: a price at which no pool buys is not a price.
import {
  saleSimulatorAbi as abi,
  saleSimulatorRuntimeBytecode as code,
} from "@sextant/contracts/generated/sale-simulator";
import type { ContractCallResult } from "../../chain/contract-calls.ts";
import { createFunctionCodec, createSignatureCodec } from "../../lib/abi/codec.ts";
import { decodeWord, decodeWordArray } from "../../lib/abi/return-data.ts";
import { splitIntoChunks } from "../../lib/chunks.ts";
import type { Hex } from "../../lib/hex.ts";
import { SQRT_PRICE_MAX, SQRT_PRICE_MIN } from "../positions/uniswap-v3/tick-math.ts";
import type { ContractRead, PinnedChain } from "../types.ts";
import type { Pool } from "./find-pools.ts";
import type { PoolState } from "./spot-pools.ts";

/** A swap over a few ranges takes 200,000 gas; tokens that take a fee and sell it themselves take several times that. */
const SALE_GAS_MAX = 1_500_000;
/**
 * With a plain transfer of each, a batch that nearly every node accepts. About 25 million gas with ordinary tokens; if
 * some burn all that they get, the rest goes into another call.
 */
const SALES_PER_CALL_MAX = 99;
/** As many as 300 tokens that burn all their gas need; what is left then has no price. */
const CALLS_MAX = 16;
/** The least share of what an honest pool pays: a token that takes more than half for itself has no price. */
const PAID_SHARE_MIN = 2n;
/** The price may fall to a sixteenth: below a quarter only if there is less liquidity than claimed. */
const SQRT_PRICE_FALL_MAX = 4n;

/** The pool that sets a price, and what it claims. */
export type SaleClaim = { readonly pool: Pool; readonly standing: PoolState };

export type SimulatedSale<Claim> = {
  readonly claim: Claim;
  /** Units of the quote token that the wallet got for all that it holds; null for a listed token. */
  readonly paid: bigint | null;
};

export type Sales<Claim> = {
  readonly sellable: readonly SimulatedSale<Claim>[];
  /** Unlisted tokens that no node could try to sell. */
  readonly untried: readonly Claim[];
};

type SalesQuery<Claim> = { readonly claims: readonly Claim[]; readonly wallet: Hex | undefined };

const simulate = createFunctionCodec(abi, "simulate");
const transfer = createSignatureCodec("function transfer(address,uint256)");

/**
 * The wallet itself sells all that it has of an unlisted token: the token may reject the sale. For a listed one the
 * pool quotes what is held; the coins may be in a range that no sale can use. Pools of reserves pay by what they hold. One
 * request for 99 tokens, and none without such claims.
 */
export async function findSellable<Claim extends SaleClaim>(
  at: PinnedChain,
  { claims, wallet }: SalesQuery<Claim>,
  signal: AbortSignal,
): Promise<Sales<Claim>> {
  const tried = claims.filter(isTried);
  const parts = splitIntoChunks(tried, SALES_PER_CALL_MAX);
  const results = await Promise.all(
    parts.map((part) => (wallet === undefined ? part.map(() => null) : sellAll(at, wallet, part, signal))),
  );
  const paidOf = new Map(results.flat().map((paid, index) => [tried[index], paid]));
  const isUntried = (claim: Claim) => paidOf.get(claim) === null;
  const sellable = claims.flatMap((claim) => {
    const paid = paidOf.get(claim) ?? null;
    const { isListed } = claim.pool.token;
    // A node that cannot simulate says nothing about a listed token.
    if (paid === null ? isListed : isFair(claim, paid)) return [{ claim, paid: isListed ? null : paid }];
    return [];
  });
  return { sellable, untried: claims.filter((claim) => isUntried(claim) && !claim.pool.token.isListed) };
}

/** The sale moves the price: an honest pool pays depth × expected / (depth + expected), or more. */
function isFair(claim: SaleClaim, paid: bigint): boolean {
  const { depth } = claim.standing;
  const expected = expectPayment(claim);
  return expected > 0n && paid * PAID_SHARE_MIN * (depth + expected) >= depth * expected;
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

/**
 * The amount that each pool paid; nothing for a token that a plain account cannot move, null when the node could not
 * try.
 */
async function sellAll(
  at: PinnedChain,
  account: Hex,
  claims: readonly SaleClaim[],
  signal: AbortSignal,
): Promise<readonly (bigint | null)[]> {
  const paid: bigint[] = [];
  const unlisted = claims.filter(({ pool }) => !pool.token.isListed);
  const moved = new Map<SaleClaim, boolean | null>();
  for (let call = 0; call < CALLS_MAX && paid.length < claims.length; call += 1) {
    const left = claims.slice(paid.length);
    const data = simulate.encodeCall([left.map(encodeSale), BigInt(SALE_GAS_MAX)]);
    const plainCalls = call === 0 ? unlisted.map(encodeTransfer) : [];
    const results = await at.callAsAccount({ account, code, data, plainCalls }, signal);
    for (const [index, result] of (results?.plainResults ?? []).entries()) {
      const claim = unlisted[index];
      if (claim !== undefined) moved.set(claim, result && hasMoved(result));
    }
    const made = decodeWordArray(results?.returnData ?? null, left.length) ?? [];
    if (made.length === 0) break;
    paid.push(...made);
  }
  return claims.map((claim, index) => {
    const isMovable = claim.pool.token.isListed ? true : (moved.get(claim) ?? null);
    return isMovable === false ? 0n : isMovable && (paid[index] ?? null);
  });
}

/** A token sees that the simulation has placed code at the wallet: the wallet as it is must be able to pay the pool, too. */
function encodeTransfer(claim: SaleClaim): ContractRead {
  const data = transfer.encodeCall([claim.pool.address, saleAmount(claim)]);
  return { to: claim.pool.token.contract, data, gasMax: SALE_GAS_MAX };
}

/** Tokens return true, or nothing as the oldest do. */
function hasMoved(result: ContractCallResult): boolean {
  return "ok" in result && (result.ok === "0x" || decodeWord(result.ok) === 1n);
}

function encodeSale(claim: SaleClaim) {
  const { pool, standing } = claim;
  const isTokenFirst = pool.token.contract < pool.quote.token;
  return {
    token: pool.token.contract,
    quote: pool.quote.token,
    pool: pool.address,
    kind: pool.kind.trade,
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
