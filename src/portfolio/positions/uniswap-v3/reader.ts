// Liquidity NFTs of Uniswap v3 and its forks as the two amounts they would pay out now, uncollected fees included.

import { decodeWord, TOKEN_AMOUNT_MAX } from "../../../lib/abi/return-data.ts";
import type { Hex } from "../../../lib/hex.ts";
import { readByMulticall } from "../../multicall.ts";
import type { ContractRead, Holding, PositionQuery, PositionReader, ProtocolPosition } from "../../types.ts";
import { type Assets, getAsset, prepareAssetLookup } from "../asset-metadata.ts";
import { createMarketReader, type ReadMarkets } from "../market-reader.ts";
import {
  computePoolAddress,
  decodeNftPosition,
  decodePoolPrice,
  decodeTickFees,
  type NftPosition,
  poolCalls,
  positionManager,
} from "./contracts.ts";
import { formatFee } from "./format-fee.ts";
import type { LiquidityNftMarket } from "./markets.ts";
import { type OwnedNft, readOwnedNfts } from "./owned-nfts.ts";
import {
  computeFeesSince,
  getAmountsForLiquidity,
  getFeeGrowthInside,
  type PairAmounts,
} from "./tick-math.ts";

/** Open positions of one market; each takes up to five calls. A warning states how many were left out. */
const OPEN_MAX = 200;

type OpenNft = OwnedNft & NftPosition & { readonly pool: Hex };
/** What could be read, and the market of each NFT that could not. */
type PartialResult<T> = { readonly items: readonly T[]; readonly missing: readonly LiquidityNftMarket[] };
type ResultOf = (call: ContractRead) => Hex | null;

/**
 * Amounts follow the pool's price in the pinned block, which a large swap can move: they are what the position would
 * pay out in that block, not a fair value over time. A position only pays out what is in the pool, so that a worthless
 * token cannot fake an amount of a valuable one.
 */
export function createUniswapV3Reader(
  markets: ReadonlyMap<number, readonly LiquidityNftMarket[]>,
): PositionReader {
  const read: ReadMarkets<LiquidityNftMarket> = async (query, onChain, signal) => {
    const { name: chain } = query.at.chain;
    const owned = await readOwnedNfts(query, onChain, signal);
    const open = await readOpenNfts(query, owned.nfts, signal);
    const warnings = [...owned.warnings];
    const shown = onChain.flatMap((market) => selectOpenNfts(query, market, open.items, warnings));
    const positions = await readPositions(query, shown, signal);
    const missing = [...owned.missing, ...open.missing, ...positions.missing];
    const cut = onChain.filter(
      (market) => open.items.filter((nft) => nft.market === market).length > OPEN_MAX,
    );
    const incomplete = new Set([...missing, ...cut].map(({ manager }) => manager));
    for (const name of new Set(missing.map((market) => market.name))) {
      const count = missing.filter((market) => market.name === name).length;
      warnings.push(`${name} positions on ${chain} that could not be read and are missing: ${count}.`);
    }
    return {
      positions: positions.items,
      ...(incomplete.size > 0 ? { incompleteContracts: incomplete } : {}),
      warnings,
    };
  };
  return createMarketReader("uniswap-v3 and its forks", markets, read, ({ protocol, manager }) => [
    { form: "nft", protocol, contract: manager },
  ]);
}

/** The NFTs that hold liquidity or uncollected tokens: most NFTs of an active wallet are closed. */
async function readOpenNfts(
  { at }: PositionQuery,
  owned: readonly OwnedNft[],
  signal: AbortSignal,
): Promise<PartialResult<OpenNft>> {
  const calls = owned.map(({ market, id }) => positionManager.positions(market.manager, [id]));
  const results = await readByMulticall(at, calls, signal);
  const missing: LiquidityNftMarket[] = [];
  const items = owned.flatMap((nft, index): OpenNft[] => {
    const position = decodeNftPosition(results[index]);
    if (position === null) missing.push(nft.market);
    if (position === null || isEmpty(position)) return [];
    return [{ ...nft, ...position, pool: computePoolAddress(nft.market, position) }];
  });
  return { items, missing };
}

function isEmpty({ liquidity, tokensOwed0, tokensOwed1 }: NftPosition): boolean {
  return liquidity === 0n && tokensOwed0 === 0n && tokensOwed1 === 0n;
}

/**
 * Of one market, in the order of ownership. Beyond the limit those with a listed token come first: anyone may mint
 * positions in worthless tokens into the wallet, and those must not push the others out.
 */
function selectOpenNfts(
  { at }: PositionQuery,
  market: LiquidityNftMarket,
  open: readonly OpenNft[],
  warnings: string[],
): readonly OpenNft[] {
  const own = open.filter((nft) => nft.market === market);
  if (own.length <= OPEN_MAX) return own;
  warnings.push(
    `Only ${OPEN_MAX} of ${own.length} open ${market.name} positions on ${at.chain.name} are shown, those with a listed token first.`,
  );
  const hasListed = ({ token0, token1 }: OpenNft) =>
    at.chain.tokens.has(token0) || at.chain.tokens.has(token1);
  return [...own.filter(hasListed), ...own.filter((nft) => !hasListed(nft))].slice(0, OPEN_MAX);
}

async function readPositions(
  query: PositionQuery,
  nfts: readonly OpenNft[],
  signal: AbortSignal,
): Promise<PartialResult<ProtocolPosition>> {
  const tokens = nfts.flatMap(({ token0, token1 }) => [token0, token1]);
  const lookup = prepareAssetLookup(query, tokens);
  // Positions in one pool share its price and fees.
  const poolReads = new Map(nfts.flatMap(encodePoolCalls).map((call) => [keyOf(call), call]));
  const results = await readByMulticall(query.at, [...poolReads.values(), ...lookup.calls], signal);
  const assets = lookup.decode(results.slice(poolReads.size));
  const resultByKey = new Map([...poolReads.keys()].map((key, index) => [key, results[index] ?? null]));
  const resultOf: ResultOf = (call) => resultByKey.get(keyOf(call)) ?? null;
  const missing: LiquidityNftMarket[] = [];
  const items = nfts.flatMap((nft): ProtocolPosition[] => {
    const amounts = computeAmounts(nft, resultOf);
    if (amounts === null) missing.push(nft.market);
    const holdings = amounts === null ? [] : toHoldings(nft, amounts, assets);
    return holdings.length > 0 ? [createPosition(nft, holdings)] : [];
  });
  return { items, missing };
}

function keyOf({ to, data }: ContractRead): string {
  return `${to} ${data}`;
}

function toHoldings(nft: OpenNft, { amount0, amount1 }: PairAmounts, assets: Assets): readonly Holding[] {
  return [
    { ...getAsset(assets, nft.token0), rawBalance: amount0 },
    { ...getAsset(assets, nft.token1), rawBalance: amount1 },
  ].filter(({ rawBalance }) => rawBalance > 0n);
}

/** None for a position that is only owed tokens: those do not depend on the pool. */
function encodePoolCalls({ pool, tickLower, tickUpper, liquidity }: OpenNft): readonly ContractRead[] {
  if (liquidity === 0n) return [];
  return [
    poolCalls.slot0(pool),
    poolCalls.feeGrowthGlobal0(pool),
    poolCalls.feeGrowthGlobal1(pool),
    poolCalls.ticks(pool, [tickLower]),
    poolCalls.ticks(pool, [tickUpper]),
  ];
}

/** Principal, tokens already owed, and fees earned since: what removing and collecting everything would pay out. */
function computeAmounts(nft: OpenNft, resultOf: ResultOf): PairAmounts | null {
  const owed = { amount0: nft.tokensOwed0, amount1: nft.tokensOwed1 };
  if (nft.liquidity === 0n) return owed;
  const [slot0, fees0, fees1, lowerTick, upperTick] = encodePoolCalls(nft).map(resultOf);
  const { shape } = nft.market;
  const price = decodePoolPrice(slot0, shape);
  const global0 = decodeWord(fees0);
  const global1 = decodeWord(fees1);
  const lower = decodeTickFees(lowerTick, shape);
  const upper = decodeTickFees(upperTick, shape);
  if (!price || global0 === null || global1 === null || !lower || !upper) return null;

  const principal = getAmountsForLiquidity(nft.liquidity, price.sqrtPrice, nft);
  const [inside0, inside1] = getFeeGrowthInside(nft, { tick: price.tick, global0, global1, lower, upper });
  // In a gauge the fees go to those who vote for it, and the NFT's own counters stand still.
  const earnsFees = nft.staking !== "gauge";
  const fees = {
    amount0: earnsFees ? computeFeesSince(nft.feeGrowthInside0Last, inside0, nft.liquidity) : 0n,
    amount1: earnsFees ? computeFeesSince(nft.feeGrowthInside1Last, inside1, nft.liquidity) : 0n,
  };
  const amount0 = principal.amount0 + owed.amount0 + fees.amount0;
  const amount1 = principal.amount1 + owed.amount1 + fees.amount1;
  return amount0 > TOKEN_AMOUNT_MAX || amount1 > TOKEN_AMOUNT_MAX ? null : { amount0, amount1 };
}

function createPosition(
  { market, id, poolKey, staking }: OpenNft,
  assets: readonly Holding[],
): ProtocolPosition {
  const pool = market.shape === "slipstream" ? `tick spacing ${poolKey}` : `fee ${formatFee(poolKey)} %`;
  return {
    protocol: market.protocol,
    kind: "liquidity",
    // Without the tokens' symbols: anyone may have chosen those.
    name: `${market.name} #${id}, ${pool}${staking === "none" ? "" : ", staked"}`,
    contract: market.manager,
    // Farms and gauges pay only who staked the NFT.
    ...(staking === "none" ? { tokenId: id } : {}),
    assets,
    // An NFT has no token balance, so nothing could count it twice.
    receiptTokens: [],
  };
}
