// Uniswap v4: liquidity NFTs as the two amounts they would pay out now, fees included; the native coin may be one of them.

import type { Hex } from "../../../lib/hex.ts";
import { readEach, readGroups } from "../../contract-reads/read-groups.ts";
import { joinEach } from "../../contract-reads/reads.ts";
import type { Asset, PositionAsset, PositionQuery, PositionReader, ProtocolPosition } from "../../types.ts";
import { type Assets, declareAssets, getAsset } from "../asset-metadata.ts";
import { createMarketReader, type ReadMarkets } from "../market-reader.ts";
import { formatFee } from "../uniswap-v3/format-fee.ts";
import type { PairAmounts } from "../uniswap-v3/tick-math.ts";
import {
  type Currency,
  declareAmounts,
  declareV4Position,
  hasWithdrawalHook,
  type V4Position,
} from "./contracts.ts";
import { findOwnedNfts } from "./find-nfts.ts";
import type { UniswapV4Market } from "./markets.ts";

const PROTOCOL = "uniswap-v4";
/** Each takes four calls; a warning states how many were left out. */
const POSITIONS_MAX = 200;
/** In place of a fee: the hook sets it. */
const DYNAMIC_FEE = 0x80_00_00;

type Found = { readonly market: UniswapV4Market; readonly position: V4Position };

/**
 * All pools are entries of one contract, which pays out only what was paid in: a position's amounts are backed, whatever
 * its pool. A hook may still reject a withdrawal or keep a part of it, so that its maker alone gets the coins, by a swap.
 * It is not asked by a simulation: its code can tell one from a transaction.
 */
export function createUniswapV4Reader(
  markets: ReadonlyMap<number, readonly UniswapV4Market[]>,
): PositionReader {
  const read: ReadMarkets<UniswapV4Market> = async (query, onChain, signal) => {
    const owned = await Promise.all(onChain.map((market) => findOwnedNfts(query, market, signal)));
    const warnings = owned.flatMap((found) => found.warnings);
    const nfts = owned.flatMap(({ ids }, index) => {
      const market = onChain[index];
      return market ? ids.map((id) => ({ market, id })) : [];
    });
    const chain = query.at.chain.name;
    if (nfts.length > POSITIONS_MAX) {
      warnings.push(
        `Only the newest ${POSITIONS_MAX} of ${nfts.length} Uniswap v4 positions on ${chain} are shown.`,
      );
    }
    const shown = nfts.slice(0, POSITIONS_MAX);
    const infos = await readEach(query.at, signal, shown, ({ market, id }) => declareV4Position(market, id));
    const found = infos.flatMap(([{ market }, position]) => (position ? [{ market, position }] : []));
    const positions = await readPositions(query, found, signal);
    const missing = shown.length - found.length + positions.missing;
    if (missing > 0) {
      warnings.push(`Uniswap v4 positions on ${chain} that could not be read and are missing: ${missing}.`);
    }
    const hooked = found.filter(({ position }) => hasWithdrawalHook(position)).length;
    if (hooked > 0) {
      warnings.push(
        `Uniswap v4 positions on ${chain} with a hook that may reject a withdrawal or keep a part of it: ${hooked}. They have no value.`,
      );
    }
    const isCut = missing > 0 || nfts.length > POSITIONS_MAX;
    const incomplete = onChain.filter((_, index) => isCut || owned[index]?.isComplete === false);
    return {
      positions: positions.items,
      ...(incomplete.length > 0
        ? { incompleteContracts: new Set(incomplete.map(({ manager }) => manager)) }
        : {}),
      warnings,
    };
  };
  return createMarketReader(PROTOCOL, markets, read, ({ manager }) => [
    { form: "nft", protocol: PROTOCOL, contract: manager },
  ]);
}

async function readPositions(
  query: PositionQuery,
  found: readonly Found[],
  signal: AbortSignal,
): Promise<{ readonly items: readonly ProtocolPosition[]; readonly missing: number }> {
  const tokens = found.flatMap(({ position }) => [position.currency0 ?? [], position.currency1].flat());
  const { states, assets } = await readGroups(query.at, signal, {
    states: joinEach(found, ({ market, position }) => declareAmounts(market, position)),
    assets: declareAssets(query, tokens),
  });
  let missing = 0;
  const items = states.flatMap(([{ market, position }, amounts]): ProtocolPosition[] => {
    if (amounts === null) missing += 1;
    const holdings = amounts === null ? [] : toHoldings(query, position, amounts, assets);
    return holdings.length > 0 ? [createPosition(market.manager, position, holdings)] : [];
  });
  return { items, missing };
}

function toHoldings(
  query: PositionQuery,
  position: V4Position,
  { amount0, amount1 }: PairAmounts,
  assets: Assets,
): readonly PositionAsset[] {
  const doubt = hasWithdrawalHook(position) ? { isPayoutUnproven: true } : {};
  return [
    { ...describeCurrency(query, position.currency0, assets), rawBalance: amount0, ...doubt },
    { ...describeCurrency(query, position.currency1, assets), rawBalance: amount1, ...doubt },
  ].filter(({ rawBalance }) => rawBalance > 0n);
}

function describeCurrency({ at }: PositionQuery, currency: Currency, assets: Assets): Asset {
  if (currency !== null) return getAsset(assets, currency);
  const { symbol, name, decimals } = at.chain.native;
  return { contract: null, symbol, name, decimals, logo: null };
}

function createPosition(
  manager: Hex,
  { id, fee, hooks }: V4Position,
  assets: readonly PositionAsset[],
): ProtocolPosition {
  const feeText = fee === DYNAMIC_FEE ? "dynamic fee" : `fee ${formatFee(fee)} %`;
  return {
    protocol: PROTOCOL,
    kind: "liquidity",
    // Without the tokens' symbols: anyone may have chosen those.
    name: `Uniswap v4 #${id}, ${feeText}${hooks === null ? "" : `, hook ${hooks}`}`,
    contract: manager,
    tokenId: id,
    assets,
    // An NFT has no token balance, so nothing could count it twice.
    receiptTokens: [],
  };
}
