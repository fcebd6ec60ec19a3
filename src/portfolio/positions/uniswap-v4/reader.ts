// Uniswap v4: liquidity NFTs as the two amounts they would pay out now, fees included; the native coin may be one of them.

import { joinEach } from "../../contract-reads/reads.ts";
import type { PositionReader, ProtocolPosition } from "../../types.ts";
import { declareAssets } from "../asset-metadata.ts";
import { formatFee, toPairHoldings } from "../liquidity.ts";
import { defineReader } from "../position-read.ts";
import {
  declareAmounts,
  declareV4Position,
  hasWithdrawalHook,
  type UniswapV4Market,
  type V4Position,
} from "./contracts.ts";
import { findOwnedNfts } from "./find-nfts.ts";

const PROTOCOL = "uniswap-v4";
/** Each takes four calls; a warning states how many were left out. */
const POSITIONS_MAX = 200;
/** In place of a fee: the hook sets it. */
const DYNAMIC_FEE = 0x80_00_00;

/**
 * All pools are entries of one contract, which pays out only what was paid in: a position's amounts are backed, whatever
 * its pool. A hook may still reject a withdrawal or keep a part of it, so that its maker alone gets the coins, by a swap.
 * It is not asked by a simulation: its code can tell one from a transaction.
 */
export function createUniswapV4Reader(
  markets: ReadonlyMap<number, readonly UniswapV4Market[]>,
): PositionReader {
  return defineReader({
    protocol: PROTOCOL,
    markets,
    delegationsOf: ({ manager }) => [{ form: "nft", protocol: PROTOCOL, contract: manager }],
    async read(run, onChain) {
      const { chain } = run;
      const owned = await Promise.all(
        onChain.map(async (market) => {
          const ids = await findOwnedNfts(run, market);
          return ids.map((id) => ({ market, id }));
        }),
      );
      const nfts = owned.flat();
      const isCut = nfts.length > POSITIONS_MAX;
      if (isCut)
        run.warn(
          `Only the newest ${POSITIONS_MAX} of ${nfts.length} Uniswap v4 positions on ${chain} are shown.`,
        );
      const shown = nfts.slice(0, POSITIONS_MAX);
      const infos = await run.askEach(shown, ({ market, id }) => declareV4Position(market, id));
      const found = infos.flatMap(([{ market }, position]) => (position ? [{ market, position }] : []));
      const tokens = found.flatMap(({ position }) => [position.currency0, position.currency1]);
      const { states, assets } = await run.ask({
        states: joinEach(found, ({ market, position }) => declareAmounts(market, position)),
        assets: declareAssets(await run.withTokens(), tokens),
      });
      const read = states.flatMap(([each, amounts]) => (amounts ? [{ ...each, amounts }] : []));
      const missing = shown.length - read.length;
      if (missing > 0)
        run.warn(`Uniswap v4 positions on ${chain} that could not be read and are missing: ${missing}.`);
      const hooked = found.filter(({ position }) => hasWithdrawalHook(position)).length;
      if (hooked > 0)
        run.warn(
          `Uniswap v4 positions on ${chain} with a hook that may reject a withdrawal or keep a part of it: ${hooked}. They have no value.`,
        );
      if (isCut || missing > 0) for (const { manager } of onChain) run.incompleteContracts.add(manager);
      return read.flatMap(({ market, position, amounts }) => {
        const { currency0, currency1 } = position;
        const holdings = toPairHoldings(assets, [currency0, currency1], amounts);
        const doubted = holdings.map((each) => ({ ...each, isPayoutUnproven: true }));
        const paid = hasWithdrawalHook(position) ? doubted : holdings;
        return paid.length > 0 ? [createPosition(market.manager, position, paid)] : [];
      });
    },
  });
}

function createPosition(
  manager: UniswapV4Market["manager"],
  { id, fee, hooks }: V4Position,
  assets: ProtocolPosition["assets"],
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
