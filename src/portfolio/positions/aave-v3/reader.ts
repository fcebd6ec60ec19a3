// Aave v3: what a wallet supplied and borrowed, from the balances of the receipt and debt tokens of every reserve.

import {
  decodeAddressArray,
  decodeTokenAmount,
  decodeWords,
  wordToAddress,
} from "../../../lib/abi/return-data.ts";
import type { Hex } from "../../../lib/hex.ts";
import { createCallEncoder, readByMulticall } from "../../multicall.ts";
import type { Asset, ContractRead, PositionReader, ProtocolPosition } from "../../types.ts";
import { createUnknownAsset, prepareAssetLookup } from "../asset-metadata.ts";
import type { AaveMarket, AaveReserve } from "./market.ts";

/** A pool keeps a user's reserves in one word, two bits each: there are never more. */
const RESERVES_MAX = 128;
/** Words of the pool's answer about one reserve, and where its tokens stand in them. */
const RESERVE_WORDS = 15;
const A_TOKEN_WORD = 8;
const DEBT_TOKEN_WORD = 10;

const balanceOf = createCallEncoder("function balanceOf(address) view returns (uint256)");
const getReservesList = createCallEncoder("function getReservesList() view returns (address[])");
const getReserveData = createCallEncoder("function getReserveData(address)");

type Reserve = AaveReserve & { readonly market: AaveMarket };
type Balance = { readonly reserve: Reserve; readonly kind: "supplied" | "borrowed"; readonly amount: bigint };
type Answers = readonly (Hex | null)[];

/**
 * One round trip for the reserves known beforehand. The pool is asked in the same trip for its list, because a debt in
 * a reserve added since would make a wallet look richer than it is; such reserves cost two trips more.
 */
export function aaveV3Reader(marketsOf: ReadonlyMap<number, readonly AaveMarket[]>): PositionReader {
  return {
    protocol: "aave-v3",
    async read(question, signal) {
      const { at, wallet } = question;
      const markets = marketsOf.get(at.chain.chainId) ?? [];
      if (markets.length === 0) return { positions: [], warnings: [] };

      const warnings: string[] = [];
      const known = markets.flatMap((market) => market.reserves.map((reserve) => ({ ...reserve, market })));
      const first = await readByMulticall(
        at,
        [...balanceCalls(known, wallet), ...markets.map(({ pool }) => getReservesList(pool))],
        signal,
      );
      const balances = balancesOf(known, first);
      const added = addedReserves(markets, first.slice(known.length * 2), (market) =>
        warnings.push(`${market.name} did not list its reserves; positions in new ones may be missing.`),
      );

      let inquiry = prepareAssetLookup(question, underlyings(balances.found));
      const second = await readByMulticall(
        at,
        [
          ...added.map(({ market, underlying }) => getReserveData(market.pool, [underlying])),
          ...inquiry.calls,
        ],
        signal,
      );
      let assets = inquiry.decode(second.slice(added.length));
      const fresh = added.flatMap(({ market, underlying }, index): Reserve[] => {
        const words = decodeWords(second[index], RESERVE_WORDS);
        const aToken = wordToAddress(words?.[A_TOKEN_WORD]);
        const debtToken = wordToAddress(words?.[DEBT_TOKEN_WORD]);
        if (aToken !== null && debtToken !== null) return [{ market, underlying, aToken, debtToken }];
        warnings.push(
          `${market.name} did not describe its reserve ${underlying}; positions in it are missing.`,
        );
        return [];
      });

      if (fresh.length > 0) {
        inquiry = prepareAssetLookup(
          question,
          fresh.map(({ underlying }) => underlying),
        );
        const third = await readByMulticall(at, [...balanceCalls(fresh, wallet), ...inquiry.calls], signal);
        const more = balancesOf(fresh, third);
        balances.found.push(...more.found);
        balances.unreadable += more.unreadable;
        assets = new Map([...inquiry.decode(third.slice(fresh.length * 2)), ...assets]);
      }
      if (balances.unreadable > 0) {
        const chain = at.chain.name;
        warnings.push(
          `Aave v3 balances on ${chain} that could not be read and are missing: ${balances.unreadable}.`,
        );
      }
      return { positions: balances.found.map((balance) => positionOf(balance, assets)), warnings };
    },
  };
}

function balanceCalls(reserves: readonly Reserve[], wallet: Hex): readonly ContractRead[] {
  return reserves.flatMap(({ aToken, debtToken }) => [
    balanceOf(aToken, [wallet]),
    balanceOf(debtToken, [wallet]),
  ]);
}

function balancesOf(
  reserves: readonly Reserve[],
  answers: Answers,
): { found: Balance[]; unreadable: number } {
  const found: Balance[] = [];
  let unreadable = 0;
  for (const [index, reserve] of reserves.entries()) {
    for (const [offset, kind] of (["supplied", "borrowed"] as const).entries()) {
      const amount = decodeTokenAmount(answers[index * 2 + offset]);
      if (amount === null) unreadable += 1;
      else if (amount > 0n) found.push({ reserve, kind, amount });
    }
  }
  return { found, unreadable };
}

type Added = Pick<Reserve, "market" | "underlying">;

function addedReserves(
  markets: readonly AaveMarket[],
  answers: Answers,
  onUnlisted: (market: AaveMarket) => void,
): readonly Added[] {
  return markets.flatMap((market, index) => {
    const listed = decodeAddressArray(answers[index], RESERVES_MAX);
    if (listed === null) onUnlisted(market);
    const known = new Set(market.reserves.map(({ underlying }) => underlying));
    return (listed ?? [])
      .filter((underlying) => !known.has(underlying))
      .map((underlying) => ({ market, underlying }));
  });
}

function underlyings(balances: readonly Balance[]): readonly Hex[] {
  return balances.map(({ reserve }) => reserve.underlying);
}

function positionOf({ reserve, kind, amount }: Balance, assets: ReadonlyMap<Hex, Asset>): ProtocolPosition {
  const asset = assets.get(reserve.underlying) ?? createUnknownAsset(reserve.underlying);
  const token = kind === "supplied" ? reserve.aToken : reserve.debtToken;
  return {
    protocol: "aave-v3",
    kind,
    name: asset.symbol === null ? reserve.market.name : `${reserve.market.name}: ${asset.symbol}`,
    contract: token,
    assets: [{ ...asset, rawBalance: amount }],
    receiptTokens: [token],
  };
}
