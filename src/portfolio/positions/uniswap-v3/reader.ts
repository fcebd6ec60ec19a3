// Liquidity NFTs of Uniswap v3 and its forks as the two amounts they would pay out now, uncollected fees included.

import { TOKEN_AMOUNT_MAX } from "../../../lib/abi/return-data.ts";
import type { Hex } from "../../../lib/hex.ts";
import { readEach, readGroups } from "../../contract-reads/read-groups.ts";
import { joinEach } from "../../contract-reads/reads.ts";
import type { Holding, PositionQuery, PositionReader, ProtocolPosition } from "../../types.ts";
import { type Assets, declareAssets, getAsset } from "../asset-metadata.ts";
import { createMarketReader, type ReadMarkets } from "../market-reader.ts";
import {
  computePoolAddress,
  declareRange,
  type NftPosition,
  positionManager,
  type RangeState,
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
/** The NFTs that could be read, and the market of each NFT that could not. */
type PartialResult<T> = { readonly items: readonly T[]; readonly missing: readonly LiquidityNftMarket[] };

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
  const read = await readEach(at, signal, owned, ({ market, id }) =>
    positionManager.positions(market.manager, [id]),
  );
  const missing: LiquidityNftMarket[] = [];
  const items = read.flatMap(([nft, position]): OpenNft[] => {
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
 * NFTs of one market, in the order of ownership. Beyond the limit, NFTs with a listed token come first: anyone may mint
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
  const { ranges, assets } = await readGroups(query.at, signal, {
    // A position that is only owed tokens does not depend on the pool.
    ranges: joinEach(nfts, (nft) =>
      nft.liquidity === 0n ? null : declareRange(nft.market.shape, nft.pool, nft),
    ),
    assets: declareAssets(query, tokens),
  });
  const missing: LiquidityNftMarket[] = [];
  const items = ranges.flatMap(([nft, range]): ProtocolPosition[] => {
    const amounts = computeAmounts(nft, range);
    if (amounts === null) missing.push(nft.market);
    const holdings = amounts === null ? [] : toHoldings(nft, amounts, assets);
    return holdings.length > 0 ? [createPosition(nft, holdings)] : [];
  });
  return { items, missing };
}

function toHoldings(nft: OpenNft, { amount0, amount1 }: PairAmounts, assets: Assets): readonly Holding[] {
  return [
    { ...getAsset(assets, nft.token0), rawBalance: amount0 },
    { ...getAsset(assets, nft.token1), rawBalance: amount1 },
  ].filter(({ rawBalance }) => rawBalance > 0n);
}

/** Principal, tokens already owed, and fees earned since: what removing and collecting everything would pay out. */
function computeAmounts(nft: OpenNft, range: RangeState | null): PairAmounts | null {
  const owed = { amount0: nft.tokensOwed0, amount1: nft.tokensOwed1 };
  if (range === null) return owed;
  const { price, global0, global1, lower, upper } = range;
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
