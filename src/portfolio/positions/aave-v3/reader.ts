// Aave v3: what a wallet supplied and borrowed, by its balances of every reserve's receipt and debt token.

import {
  decodeAddressArray,
  decodeTokenAmount,
  decodeWords,
  wordToAddress,
} from "../../../lib/abi/return-data.ts";
import type { Hex } from "../../../lib/hex.ts";
import { type CallResults, createCallEncoder, readByMulticall } from "../../multicall.ts";
import { erc20 } from "../../tokens/erc20.ts";
import type { ContractRead, PositionQuery, PositionReader, ProtocolPosition } from "../../types.ts";
import { type Assets, getAsset, prepareAssetLookup } from "../asset-metadata.ts";
import { createMarketReader } from "../market-reader.ts";
import type { AaveMarket, AaveReserve } from "./market.ts";

const PROTOCOL = "aave-v3";
/** A pool stores a user's reserves in one word, two bits each, so there are never more. */
const RESERVES_MAX = 128;
/** Words of the pool's data about one reserve, and the positions of its tokens in them. */
const RESERVE_WORDS = 15;
const A_TOKEN_WORD = 8;
const DEBT_TOKEN_WORD = 10;

const getReservesList = createCallEncoder("function getReservesList() view returns (address[])");
const getReserveData = createCallEncoder("function getReserveData(address)");

type Reserve = AaveReserve & { readonly market: AaveMarket };
/** A reserve that the pool lists and our data does not. */
type NewReserve = Pick<Reserve, "market" | "underlying">;
type Balance = { readonly reserve: Reserve; readonly kind: "supplied" | "borrowed"; readonly amount: bigint };
type Balances = { readonly nonZero: readonly Balance[]; readonly unreadable: number };

/**
 * One round trip for the reserves in our data. The same trip reads the pool's list of reserves, because a debt in a
 * newer reserve would make a wallet look richer than it is; new reserves cost two more trips.
 */
export function createAaveV3Reader(
  marketsByChain: ReadonlyMap<number, readonly AaveMarket[]>,
): PositionReader {
  return createMarketReader(PROTOCOL, marketsByChain, async (query, markets, signal) => {
    const warnings: string[] = [];
    const known = await readKnownReserves(query, markets, warnings, signal);
    const { reserves, assets } = await readNewReserves(query, known, warnings, signal);
    const added = await readNewBalances(query, reserves, signal);

    const unreadable = known.balances.unreadable + added.balances.unreadable;
    if (unreadable > 0) {
      const chain = query.at.chain.name;
      warnings.push(`Aave v3 balances on ${chain} that could not be read and are missing: ${unreadable}.`);
    }
    const allAssets = new Map([...added.assets, ...assets]);
    const positions = [...known.balances.nonZero, ...added.balances.nonZero].map((balance) =>
      createPosition(balance, allAssets),
    );
    return { positions, warnings };
  });
}

type KnownReserves = { readonly balances: Balances; readonly newReserves: readonly NewReserve[] };

/** First trip: balances in the reserves of our data, and the pools' lists of reserves. */
async function readKnownReserves(
  { at, wallet }: PositionQuery,
  markets: readonly AaveMarket[],
  warnings: string[],
  signal: AbortSignal,
): Promise<KnownReserves> {
  const reserves = markets.flatMap((market) => market.reserves.map((reserve) => ({ ...reserve, market })));
  const balanceCalls = encodeBalanceCalls(reserves, wallet);
  const listCalls = markets.map(({ pool }) => getReservesList(pool));
  const results = await readByMulticall(at, [...balanceCalls, ...listCalls], signal);
  const newReserves = markets.flatMap((market, index): NewReserve[] => {
    const listed = decodeAddressArray(results[balanceCalls.length + index], RESERVES_MAX);
    if (listed === null) {
      warnings.push(`${market.name} did not list its reserves; positions in new ones may be missing.`);
      return [];
    }
    const known = new Set(market.reserves.map(({ underlying }) => underlying));
    return listed.flatMap((underlying) => (known.has(underlying) ? [] : [{ market, underlying }]));
  });
  return { balances: decodeBalances(reserves, results), newReserves };
}

/** Second trip: the tokens of new reserves, and the metadata of the assets found in the first trip. */
async function readNewReserves(
  query: PositionQuery,
  { balances, newReserves }: KnownReserves,
  warnings: string[],
  signal: AbortSignal,
): Promise<{ reserves: readonly Reserve[]; assets: Assets }> {
  const underlyings = balances.nonZero.map(({ reserve }) => reserve.underlying);
  const lookup = prepareAssetLookup(query, underlyings);
  const dataCalls = newReserves.map(({ market, underlying }) => getReserveData(market.pool, [underlying]));
  const results = await readByMulticall(query.at, [...dataCalls, ...lookup.calls], signal);
  const reserves = newReserves.flatMap(({ market, underlying }, index): Reserve[] => {
    const words = decodeWords(results[index], RESERVE_WORDS);
    const aToken = wordToAddress(words?.[A_TOKEN_WORD]);
    const debtToken = wordToAddress(words?.[DEBT_TOKEN_WORD]);
    if (aToken !== null && debtToken !== null) return [{ market, underlying, aToken, debtToken }];
    warnings.push(`${market.name} did not describe its reserve ${underlying}; positions in it are missing.`);
    return [];
  });
  return { reserves, assets: lookup.decode(results.slice(dataCalls.length)) };
}

/** Third trip, only with new reserves: their balances and the metadata of their assets. */
async function readNewBalances(
  query: PositionQuery,
  reserves: readonly Reserve[],
  signal: AbortSignal,
): Promise<{ balances: Balances; assets: Assets }> {
  const underlyings = reserves.map(({ underlying }) => underlying);
  const lookup = prepareAssetLookup(query, underlyings);
  const balanceCalls = encodeBalanceCalls(reserves, query.wallet);
  const results = await readByMulticall(query.at, [...balanceCalls, ...lookup.calls], signal);
  const assets = lookup.decode(results.slice(balanceCalls.length));
  return { balances: decodeBalances(reserves, results), assets };
}

function encodeBalanceCalls(reserves: readonly Reserve[], wallet: Hex): readonly ContractRead[] {
  return reserves.flatMap(({ aToken, debtToken }) => [
    erc20.balanceOf(aToken, [wallet]),
    erc20.balanceOf(debtToken, [wallet]),
  ]);
}

function decodeBalances(reserves: readonly Reserve[], results: CallResults): Balances {
  const nonZero: Balance[] = [];
  let unreadable = 0;
  for (const [index, reserve] of reserves.entries()) {
    for (const [offset, kind] of (["supplied", "borrowed"] as const).entries()) {
      const amount = decodeTokenAmount(results[index * 2 + offset]);
      if (amount === null) unreadable += 1;
      else if (amount > 0n) nonZero.push({ reserve, kind, amount });
    }
  }
  return { nonZero, unreadable };
}

function createPosition({ reserve, kind, amount }: Balance, assets: Assets): ProtocolPosition {
  const asset = getAsset(assets, reserve.underlying);
  const token = kind === "supplied" ? reserve.aToken : reserve.debtToken;
  return {
    protocol: PROTOCOL,
    kind,
    name: asset.symbol === null ? reserve.market.name : `${reserve.market.name}: ${asset.symbol}`,
    contract: token,
    assets: [{ ...asset, rawBalance: amount }],
    receiptTokens: [token],
  };
}
