// Uniswap v3: liquidity NFTs as the two amounts they would pay out now, uncollected fees included.

import { decodeTokenAmount, decodeWord, TOKEN_AMOUNT_MAX } from "../../../lib/abi/return-data.ts";
import type { Hex } from "../../../lib/hex.ts";
import { type CallResults, readByMulticall } from "../../multicall.ts";
import type { ContractRead, Holding, PositionQuery, PositionReader, ProtocolPosition } from "../../types.ts";
import { type Assets, getAsset, prepareAssetLookup } from "../asset-metadata.ts";
import {
  computePoolAddress,
  decodeNftPosition,
  decodePoolPrice,
  decodeTickFees,
  type NftPosition,
  poolCalls,
  positionManager,
} from "./contracts.ts";
import type { UniswapV3Market } from "./markets.ts";
import {
  computeFeesSince,
  getAmountsForLiquidity,
  getFeeGrowthInside,
  type PairAmounts,
} from "./tick-math.ts";

const PROTOCOL = "uniswap-v3";
/** Ids requested along with the number of NFTs: saves nearly every wallet a round trip. */
const FIRST_COUNT = 16;
/** Each takes half a dozen calls; a warning states how many were left out. */
const NFTS_MAX = 100;
const CALLS_PER_POOL = 5;

type Nft = NftPosition & { readonly id: bigint; readonly pool: Hex };
/** What could be read, and how many NFTs could not. */
type PartialResult<T> = { readonly items: readonly T[]; readonly missing: number };

/**
 * Amounts follow the pool's price in the pinned block, which a large swap can move: they are what the position would
 * pay out in that block, not a fair value over time. A position only pays out what is in the pool, so that a worthless
 * token cannot fake an amount of a valuable one.
 */
export function createUniswapV3Reader(markets: ReadonlyMap<number, UniswapV3Market>): PositionReader {
  return {
    protocol: PROTOCOL,
    async read(query, signal) {
      const market = markets.get(query.at.chain.chainId);
      if (!market) return { positions: [], warnings: [] };

      const warnings: string[] = [];
      const ids = await readOwnedIds(query, market.manager, warnings, signal);
      const nfts = await readNfts(query, market, ids.items, signal);
      const positions = await readPositions(query, market, nfts.items, signal);
      const missing = ids.missing + nfts.missing + positions.missing;
      if (missing > 0) {
        const chain = query.at.chain.name;
        warnings.push(`Uniswap v3 positions on ${chain} that could not be read and are missing: ${missing}.`);
      }
      return { positions: positions.items, warnings };
    },
  };
}

/** Newest first, as far as the order of ownership shows it. */
async function readOwnedIds(
  { at, wallet }: PositionQuery,
  manager: Hex,
  warnings: string[],
  signal: AbortSignal,
): Promise<PartialResult<bigint>> {
  const idCall = (index: number) => positionManager.tokenOfOwnerByIndex(manager, [wallet, BigInt(index)]);
  const firstCalls = Array.from({ length: FIRST_COUNT }, (_, index) => idCall(index));
  const [countResult, ...firstResults] = await readByMulticall(
    at,
    [positionManager.balanceOf(manager, [wallet]), ...firstCalls],
    signal,
  );
  const count = decodeTokenAmount(countResult);
  if (count === null || count > BigInt(Number.MAX_SAFE_INTEGER)) {
    warnings.push(
      `The number of Uniswap v3 positions on ${at.chain.name} could not be read; they are missing.`,
    );
    return { items: [], missing: 0 };
  }
  const total = Number(count);
  if (total > NFTS_MAX) {
    warnings.push(
      `Only the newest ${NFTS_MAX} of ${total} Uniswap v3 positions on ${at.chain.name} are shown.`,
    );
  }
  const newest = Array.from({ length: Math.min(total, NFTS_MAX) }, (_, index) => idCall(total - 1 - index));
  const results =
    total <= FIRST_COUNT ? firstResults.slice(0, total).reverse() : await readByMulticall(at, newest, signal);
  const ids = results.map(decodeWord).filter((id) => id !== null);
  return { items: ids, missing: results.length - ids.length };
}

/** The NFTs that hold liquidity or uncollected tokens. */
async function readNfts(
  { at }: PositionQuery,
  market: UniswapV3Market,
  ids: readonly bigint[],
  signal: AbortSignal,
): Promise<PartialResult<Nft>> {
  const calls = ids.map((id) => positionManager.positions(market.manager, [id]));
  const results = await readByMulticall(at, calls, signal);
  let missing = 0;
  const nfts = ids.flatMap((id, index): Nft[] => {
    const position = decodeNftPosition(results[index]);
    if (position === null) missing += 1;
    if (position === null || isEmpty(position)) return [];
    return [{ ...position, id, pool: computePoolAddress(market, position) }];
  });
  return { items: nfts, missing };
}

async function readPositions(
  query: PositionQuery,
  { manager }: UniswapV3Market,
  nfts: readonly Nft[],
  signal: AbortSignal,
): Promise<PartialResult<ProtocolPosition>> {
  const tokens = nfts.flatMap(({ token0, token1 }) => [token0, token1]);
  const lookup = prepareAssetLookup(query, tokens);
  const results = await readByMulticall(
    query.at,
    [...nfts.flatMap(encodePoolCalls), ...lookup.calls],
    signal,
  );
  const assets = lookup.decode(results.slice(nfts.length * CALLS_PER_POOL));
  let missing = 0;
  const positions = nfts.flatMap((nft, index): ProtocolPosition[] => {
    const amounts = decodeAmounts(nft, results.slice(index * CALLS_PER_POOL));
    if (amounts === null) missing += 1;
    const holdings = amounts === null ? [] : toHoldings(nft, amounts, assets);
    return holdings.length > 0 ? [createPosition(nft, manager, holdings)] : [];
  });
  return { items: positions, missing };
}

function toHoldings(nft: Nft, { amount0, amount1 }: PairAmounts, assets: Assets): readonly Holding[] {
  return [
    { ...getAsset(assets, nft.token0), rawBalance: amount0 },
    { ...getAsset(assets, nft.token1), rawBalance: amount1 },
  ].filter(({ rawBalance }) => rawBalance > 0n);
}

function isEmpty({ liquidity, tokensOwed0, tokensOwed1 }: NftPosition): boolean {
  return liquidity === 0n && tokensOwed0 === 0n && tokensOwed1 === 0n;
}

function encodePoolCalls({ pool, tickLower, tickUpper }: Nft): readonly ContractRead[] {
  return [
    poolCalls.slot0(pool),
    poolCalls.feeGrowthGlobal0(pool),
    poolCalls.feeGrowthGlobal1(pool),
    poolCalls.ticks(pool, [tickLower]),
    poolCalls.ticks(pool, [tickUpper]),
  ];
}

/** Principal, tokens already owed, and fees earned since: what removing and collecting everything would pay out. */
function decodeAmounts(nft: Nft, results: CallResults): PairAmounts | null {
  const price = decodePoolPrice(results[0]);
  const global0 = decodeWord(results[1]);
  const global1 = decodeWord(results[2]);
  const lower = decodeTickFees(results[3]);
  const upper = decodeTickFees(results[4]);
  if (!price || global0 === null || global1 === null || !lower || !upper) return null;

  const principal = getAmountsForLiquidity(nft.liquidity, price.sqrtPrice, nft);
  const [inside0, inside1] = getFeeGrowthInside(nft, { tick: price.tick, global0, global1, lower, upper });
  const amount0 =
    principal.amount0 + nft.tokensOwed0 + computeFeesSince(nft.feeGrowthInside0Last, inside0, nft.liquidity);
  const amount1 =
    principal.amount1 + nft.tokensOwed1 + computeFeesSince(nft.feeGrowthInside1Last, inside1, nft.liquidity);
  return amount0 > TOKEN_AMOUNT_MAX || amount1 > TOKEN_AMOUNT_MAX ? null : { amount0, amount1 };
}

function createPosition({ id, fee }: Nft, manager: Hex, assets: readonly Holding[]): ProtocolPosition {
  return {
    protocol: PROTOCOL,
    kind: "liquidity",
    // Without the tokens' symbols: anyone may have chosen those.
    name: `Uniswap v3 #${id}, fee ${formatFee(fee)} %`,
    contract: manager,
    assets,
    // An NFT has no token balance, so nothing could count it twice.
    receiptTokens: [],
  };
}

/** Millionths as an exact percentage. */
function formatFee(fee: number): string {
  const digits = fee.toString().padStart(5, "0");
  return `${digits.slice(0, -4)}.${digits.slice(-4)}`.replace(/\.?0+$/, "");
}
