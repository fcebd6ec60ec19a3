// Uniswap v3: liquidity NFTs as the two amounts they would pay out now, uncollected fees included.

import { decodeTokenAmount, decodeWord, TOKEN_AMOUNT_MAX } from "../../../lib/abi/return-data.ts";
import type { Hex } from "../../../lib/hex.ts";
import { readByMulticall } from "../../multicall.ts";
import type { PositionQuery, PositionReader, ProtocolPosition } from "../../types.ts";
import { createUnknownAsset, prepareAssetLookup } from "../asset-metadata.ts";
import * as uniswap from "./contracts.ts";
import type { UniswapV3Deployment } from "./deployments.ts";
import {
  computeFeesSince,
  getAmountsForLiquidity,
  getFeeGrowthInside,
  type PairAmounts,
} from "./tick-math.ts";

/** Asked for before the number of NFTs is known: it spares nearly every wallet a round trip. */
const FIRST_COUNT = 16;
/** Each costs half a dozen calls; wallets with more are told how many were left out. */
const NFTS_MAX = 100;
const CALLS_PER_POOL = 5;

type Nft = uniswap.NftPosition & { readonly id: bigint; readonly pool: Hex };
type Answers = readonly (Hex | null)[];

/**
 * Amounts follow the pool's price in the pinned block, which a large swap can move: that is what the position would
 * pay out in that block, not a fair value over time. Nothing is paid out that is not in the pool, so that a worthless
 * token can not fake an amount of a good one.
 */
export function uniswapV3Reader(deployments: ReadonlyMap<number, UniswapV3Deployment>): PositionReader {
  return {
    protocol: "uniswap-v3",
    async read(question, signal) {
      const { at } = question;
      const deployment = deployments.get(at.chain.chainId);
      if (!deployment) return { positions: [], warnings: [] };

      const warnings: string[] = [];
      const { ids, unreadable } = await ownedIds(question, deployment.manager, warnings, signal);
      let missing = unreadable;
      const described = await readByMulticall(
        at,
        ids.map((id) => uniswap.positions(deployment.manager, [id])),
        signal,
      );
      const nfts = ids.flatMap((id, index): Nft[] => {
        const position = uniswap.decodeNftPosition(described[index]);
        if (position === null) missing += 1;
        if (position === null || isEmpty(position)) return [];
        return [{ ...position, id, pool: uniswap.computePoolAddress(deployment, position) }];
      });

      const inquiry = prepareAssetLookup(
        question,
        nfts.flatMap(({ token0, token1 }) => [token0, token1]),
      );
      const answers = await readByMulticall(at, [...nfts.flatMap(poolCalls), ...inquiry.calls], signal);
      const assets = inquiry.decode(answers.slice(nfts.length * CALLS_PER_POOL));
      const positions = nfts.flatMap((nft, index): ProtocolPosition[] => {
        const amounts = amountsOf(nft, answers.slice(index * CALLS_PER_POOL));
        if (amounts === null) {
          missing += 1;
          return [];
        }
        const held = [
          { ...(assets.get(nft.token0) ?? createUnknownAsset(nft.token0)), rawBalance: amounts.amount0 },
          { ...(assets.get(nft.token1) ?? createUnknownAsset(nft.token1)), rawBalance: amounts.amount1 },
        ].filter(({ rawBalance }) => rawBalance > 0n);
        return held.length > 0 ? [positionOf(nft, deployment.manager, held)] : [];
      });
      if (missing > 0) {
        warnings.push(
          `Uniswap v3 positions on ${at.chain.name} that could not be read and are missing: ${missing}.`,
        );
      }
      return { positions, warnings };
    },
  };
}

/** The newest first, as far as the order of ownership tells. */
async function ownedIds(
  { at, wallet }: PositionQuery,
  manager: Hex,
  warnings: string[],
  signal: AbortSignal,
): Promise<{ ids: readonly bigint[]; unreadable: number }> {
  const idCall = (index: number) => uniswap.tokenOfOwnerByIndex(manager, [wallet, BigInt(index)]);
  const first = await readByMulticall(
    at,
    [
      uniswap.balanceOf(manager, [wallet]),
      ...Array.from({ length: FIRST_COUNT }, (_, index) => idCall(index)),
    ],
    signal,
  );
  const count = decodeTokenAmount(first[0]);
  if (count === null || count > BigInt(Number.MAX_SAFE_INTEGER)) {
    warnings.push(
      `The number of Uniswap v3 positions on ${at.chain.name} could not be read; they are missing.`,
    );
    return { ids: [], unreadable: 0 };
  }
  const total = Number(count);
  if (total > NFTS_MAX) {
    warnings.push(
      `Only the newest ${NFTS_MAX} of ${total} Uniswap v3 positions on ${at.chain.name} are shown.`,
    );
  }
  const answers =
    total <= FIRST_COUNT
      ? first.slice(1, 1 + total).reverse()
      : await readByMulticall(
          at,
          Array.from({ length: Math.min(total, NFTS_MAX) }, (_, index) => idCall(total - 1 - index)),
          signal,
        );
  const ids = answers.map(decodeWord).filter((id) => id !== null);
  return { ids, unreadable: answers.length - ids.length };
}

function isEmpty({ liquidity, tokensOwed0, tokensOwed1 }: uniswap.NftPosition): boolean {
  return liquidity === 0n && tokensOwed0 === 0n && tokensOwed1 === 0n;
}

function poolCalls({ pool, tickLower, tickUpper }: Nft) {
  return [
    uniswap.slot0(pool),
    uniswap.feeGrowthGlobal0(pool),
    uniswap.feeGrowthGlobal1(pool),
    uniswap.ticks(pool, [tickLower]),
    uniswap.ticks(pool, [tickUpper]),
  ];
}

/** The principal, what the manager noted as owed, and the fees since: what collecting everything would pay. */
function amountsOf(nft: Nft, answers: Answers): PairAmounts | null {
  const price = uniswap.decodePoolPrice(answers[0]);
  const global0 = decodeWord(answers[1]);
  const global1 = decodeWord(answers[2]);
  const lower = uniswap.decodeTickFees(answers[3]);
  const upper = uniswap.decodeTickFees(answers[4]);
  if (!price || global0 === null || global1 === null || !lower || !upper) return null;

  const principal = getAmountsForLiquidity(nft.liquidity, price.sqrtPrice, nft);
  const [inside0, inside1] = getFeeGrowthInside(nft, { tick: price.tick, global0, global1, lower, upper });
  const amount0 =
    principal.amount0 + nft.tokensOwed0 + computeFeesSince(nft.feeGrowthInside0Last, inside0, nft.liquidity);
  const amount1 =
    principal.amount1 + nft.tokensOwed1 + computeFeesSince(nft.feeGrowthInside1Last, inside1, nft.liquidity);
  return amount0 > TOKEN_AMOUNT_MAX || amount1 > TOKEN_AMOUNT_MAX ? null : { amount0, amount1 };
}

function positionOf({ id, fee }: Nft, manager: Hex, assets: ProtocolPosition["assets"]): ProtocolPosition {
  return {
    protocol: "uniswap-v3",
    kind: "liquidity",
    // Without the tokens' symbols: those are written by strangers.
    name: `Uniswap v3 #${id}, fee ${percent(fee)} %`,
    contract: manager,
    assets,
    // An NFT is no token with a balance; there is nothing else it could be counted as.
    receiptTokens: [],
  };
}

/** Millionths as a percentage, exactly. */
function percent(fee: number): string {
  const digits = fee.toString().padStart(5, "0");
  return `${digits.slice(0, -4)}.${digits.slice(-4)}`.replace(/\.?0+$/, "");
}
