// Liquidity NFTs of Uniswap v3 and its forks as the two amounts they would pay out now, uncollected fees included.

import { TOKEN_AMOUNT_MAX } from "../../../lib/abi/return-data.ts";
import type { Hex } from "../../../lib/hex.ts";
import { joinEach } from "../../contract-reads/reads.ts";
import type { PositionReader, ProtocolPosition } from "../../types.ts";
import { declareAssets } from "../asset-metadata.ts";
import { formatFee, type PairAmounts, selectListedFirst, toPairHoldings } from "../liquidity.ts";
import { defineReader, type PositionRead } from "../position-read.ts";
import {
  computePoolAddress,
  declareRange,
  type LiquidityNftMarket,
  type NftPosition,
  positionManager,
  type RangeState,
} from "./contracts.ts";
import { type OwnedNft, readOwnedNfts } from "./owned-nfts.ts";
import { computeFeesSince, getAmountsForLiquidity, getFeeGrowthInside } from "./tick-math.ts";

/** Open positions of one market; each takes up to five calls. A warning states how many were left out. */
const OPEN_MAX = 200;

type OpenNft = OwnedNft & NftPosition & { readonly pool: Hex };
/**
 * Amounts follow the pool's price in the pinned block, which a large swap can move: they are what the position would
 * pay out in that block, not a fair value over time. A position only pays out what is in the pool, so that a worthless
 * token cannot fake an amount of a valuable one.
 */
export function createUniswapV3Reader(
  markets: ReadonlyMap<number, readonly LiquidityNftMarket[]>,
): PositionReader {
  return defineReader({
    protocol: "uniswap-v3 and its forks",
    markets,
    delegationsOf: ({ protocol, manager }) => [{ form: "nft", protocol, contract: manager }],
    async read(run, onChain) {
      // The market of each NFT that could not be read.
      const missing: LiquidityNftMarket[] = [];
      const owned = await readOwnedNfts(run, onChain, missing);
      const open = await readOpenNfts(run, owned, missing);
      const shown = onChain.flatMap((market) => {
        const own = open.filter((nft) => nft.market === market);
        if (own.length > OPEN_MAX) run.incompleteContracts.add(market.manager);
        return selectListedFirst(run, own, OPEN_MAX, `open ${market.name} positions`);
      });
      const positions = await readPositions(run, shown, missing);
      for (const { manager } of missing) run.incompleteContracts.add(manager);
      for (const name of new Set(missing.map((market) => market.name))) {
        const count = missing.filter((market) => market.name === name).length;
        run.warn(`${name} positions on ${run.chain} that could not be read and are missing: ${count}.`);
      }
      return positions;
    },
  });
}

/** The NFTs that hold liquidity or uncollected tokens: most NFTs of an active wallet are closed. */
async function readOpenNfts(
  run: PositionRead,
  owned: readonly OwnedNft[],
  missing: LiquidityNftMarket[],
): Promise<readonly OpenNft[]> {
  const read = await run.askEach(owned, ({ market, id }) => positionManager.positions(market.manager, [id]));
  return read.flatMap(([nft, position]): OpenNft[] => {
    if (position === null) missing.push(nft.market);
    if (position === null || isEmpty(position)) return [];
    return [{ ...nft, ...position, pool: computePoolAddress(nft.market, position) }];
  });
}

function isEmpty({ liquidity, tokensOwed0, tokensOwed1 }: NftPosition): boolean {
  return liquidity === 0n && tokensOwed0 === 0n && tokensOwed1 === 0n;
}

async function readPositions(
  run: PositionRead,
  nfts: readonly OpenNft[],
  missing: LiquidityNftMarket[],
): Promise<readonly ProtocolPosition[]> {
  const tokens = nfts.flatMap(({ token0, token1 }) => [token0, token1]);
  const { ranges, assets } = await run.ask({
    // A position that is only owed tokens does not depend on the pool.
    ranges: joinEach(nfts, (nft) =>
      nft.liquidity === 0n ? null : declareRange(nft.market.shape, nft.pool, nft),
    ),
    assets: declareAssets(await run.withTokens(), tokens),
  });
  return ranges.flatMap(([nft, range]): ProtocolPosition[] => {
    const amounts = computeAmounts(nft, range);
    if (amounts === null) missing.push(nft.market);
    const holdings = amounts === null ? [] : toPairHoldings(assets, [nft.token0, nft.token1], amounts);
    return holdings.length > 0 ? [createPosition(nft, holdings)] : [];
  });
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
  assets: ProtocolPosition["assets"],
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
