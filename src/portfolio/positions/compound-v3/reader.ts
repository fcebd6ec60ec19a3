// Compound v3: the base asset a wallet supplied or borrowed in each market, and the collateral behind it.

import {
  decodeAddress,
  decodeTokenAmount,
  decodeWords,
  TOKEN_AMOUNT_MAX,
  wordToAddress,
} from "../../../lib/abi/return-data.ts";
import type { Hex } from "../../../lib/hex.ts";
import { readEach, readGroups } from "../../contract-reads/read-groups.ts";
import { defineRead, joinEach } from "../../contract-reads/reads.ts";
import { erc20 } from "../../tokens/erc20.ts";
import type {
  PositionAsset,
  PositionKind,
  PositionQuery,
  PositionReader,
  ProtocolPosition,
} from "../../types.ts";
import { type Assets, declareAssets, getAsset } from "../asset-metadata.ts";
import { createLendingReader, type ReadMarkets } from "../market-reader.ts";
import {
  declareFeedPrices,
  type FeedPrices,
  PROTOCOL,
  type PricedToken,
  priceBase,
  priceCollateral,
} from "./feeds.ts";
import type { CompoundV3Market } from "./markets.ts";

const ASSETS_IN_BITS = 16;
const COLLATERALS_MAX = 24;

const borrowBalanceOf = defineRead("function borrowBalanceOf(address)", decodeTokenAmount);
const userBasic = defineRead("function userBasic(address)", decodeCollateralIndexes);
const baseToken = defineRead("function baseToken()", decodeAddress);
const baseTokenPriceFeed = defineRead("function baseTokenPriceFeed()", decodeAddress);
const getAssetInfo = defineRead("function getAssetInfo(uint8)", decodeAssetInfo);
const userCollateral = defineRead("function userCollateral(address, address)", decodeCollateralBalance);

/** A market that the wallet uses. */
type Account = CompoundV3Market & {
  readonly supplied: bigint;
  readonly borrowed: bigint;
  /** Indexes of the collateral assets. */
  readonly collateralIndexes: readonly number[];
};
type Collateral = PricedToken & { readonly account: Account };
type AccountAssets = {
  /** Accounts whose base asset could be read. */
  readonly bases: ReadonlyMap<Account, PricedToken>;
  readonly collaterals: readonly Collateral[];
};
type CollateralBalance = Collateral & { readonly balance: bigint };

/** The input of every step of one read. */
type ReadContext = {
  readonly query: PositionQuery;
  readonly signal: AbortSignal;
  /** Collects what could not be read, and in which markets. */
  readonly warnings: string[];
  readonly incomplete: Set<Hex>;
};

/** One round trip for a wallet without positions; two more for the assets and collaterals of the markets in use. */
export function createCompoundV3Reader(
  marketsByChain: ReadonlyMap<number, readonly CompoundV3Market[]>,
): PositionReader {
  const read: ReadMarkets<CompoundV3Market> = async (query, markets, signal) => {
    const context: ReadContext = { query, signal, warnings: [], incomplete: new Set() };
    const { warnings } = context;
    const accounts = await readAccounts(context, markets);
    // So far only of markets of which the wallet's balances could not be read.
    const unread = warnings.length === 0 ? {} : ({ hasUnreadDebt: true } as const);
    if (accounts.length === 0) return { positions: [], warnings, ...unread };
    const accountAssets = await readAccountAssets(context, accounts);
    const { balances, assets, prices } = await readCollateralBalances(context, accountAssets);
    const positions = buildPositions(context, accountAssets.bases, balances, assets, prices);
    return { positions, warnings, ...unread };
  };
  return createLendingReader(PROTOCOL, marketsByChain, read, ({ comet }) => [
    { form: "comet", protocol: PROTOCOL, contract: comet },
  ]);
}

/** First trip: the markets in which the wallet has a balance, a debt or collateral. */
async function readAccounts(
  context: ReadContext,
  markets: readonly CompoundV3Market[],
): Promise<readonly Account[]> {
  const { at, wallet } = context.query;
  const read = await readEach(at, context.signal, markets, ({ comet }) => ({
    supplied: erc20.balanceOf(comet, [wallet]),
    borrowed: borrowBalanceOf(comet, [wallet]),
    collateralIndexes: userBasic(comet, [wallet]),
  }));
  return read.flatMap(([market, { supplied, borrowed, collateralIndexes }]): Account[] => {
    if (supplied === null || borrowed === null || collateralIndexes === null) {
      warnUnreadable(context, market, "Balances");
      return [];
    }
    const isEmpty = supplied === 0n && borrowed === 0n && collateralIndexes.length === 0;
    return isEmpty ? [] : [{ ...market, supplied, borrowed, collateralIndexes }];
  });
}

/** Second trip: the base asset and the collateral assets of each account. */
async function readAccountAssets(context: ReadContext, accounts: readonly Account[]): Promise<AccountAssets> {
  const wanted = accounts.flatMap((account) =>
    account.collateralIndexes.map((index) => ({ account, index })),
  );
  const read = await readGroups(context.query.at, context.signal, {
    bases: joinEach(accounts, ({ comet }) => ({ asset: baseToken(comet), feed: baseTokenPriceFeed(comet) })),
    collaterals: joinEach(wanted, ({ account, index }) => getAssetInfo(account.comet, [index])),
  });
  const collaterals = read.collaterals.flatMap(([{ account }, token]): Collateral[] => {
    if (token === null) warnUnreadable(context, account, "A collateral");
    return token === null ? [] : [{ account, ...token }];
  });
  const bases = new Map<Account, PricedToken>();
  for (const [account, { asset, feed }] of read.bases) {
    if (asset) bases.set(account, { asset, feed });
    else if (account.supplied + account.borrowed > 0n) warnUnreadable(context, account, "The base asset");
  }
  return { bases, collaterals };
}

/** Third trip: the collateral balances, the metadata of all assets, and prices that only the market knows. */
async function readCollateralBalances(
  context: ReadContext,
  { bases, collaterals }: AccountAssets,
): Promise<{ balances: readonly CollateralBalance[]; assets: Assets; prices: FeedPrices }> {
  const { at, wallet } = context.query;
  const contracts = [...bases.values(), ...collaterals].map(({ asset }) => asset);
  const priced = [
    ...[...bases].map(([account, base]) => ({ ...account, base })),
    ...collaterals.flatMap(({ account, ...collateral }) => {
      const base = bases.get(account);
      return base === undefined ? [] : [{ ...account, base, collateral }];
    }),
  ];
  const read = await readGroups(at, context.signal, {
    amounts: joinEach(collaterals, ({ account, asset }) => userCollateral(account.comet, [wallet, asset])),
    prices: declareFeedPrices(at, priced),
    assets: declareAssets(context.query, contracts),
  });
  const balances = read.amounts.flatMap(([collateral, balance]): CollateralBalance[] => {
    if (balance === null) warnUnreadable(context, collateral.account, "A collateral balance");
    return balance === null ? [] : [{ ...collateral, balance }];
  });
  return { balances, assets: read.assets, prices: read.prices };
}

function buildPositions(
  context: ReadContext,
  bases: AccountAssets["bases"],
  collaterals: readonly CollateralBalance[],
  assets: Assets,
  prices: FeedPrices,
): readonly ProtocolPosition[] {
  const { at } = context.query;
  const positions: ProtocolPosition[] = [];
  for (const [account, { asset }] of bases) {
    const { comet, supplied, borrowed } = account;
    const base = { ...getAsset(assets, asset), ...priceBase(at, account, asset, prices) };
    // The market is its own receipt token, for the supplied base asset only.
    if (supplied > 0n)
      positions.push(
        createPosition(context, account, "supplied", { ...base, rawBalance: supplied }, [comet]),
      );
    if (borrowed > 0n)
      positions.push(createPosition(context, account, "borrowed", { ...base, rawBalance: borrowed }, []));
  }
  for (const { account, asset, balance } of collaterals) {
    const base = bases.get(account)?.asset;
    const per = base && {
      ...getAsset(assets, base),
      contract: base,
      ...priceBase(at, account, base, prices),
    };
    const priced = per && priceCollateral(account, asset, prices, per);
    const holding = { ...getAsset(assets, asset), rawBalance: balance, ...priced };
    if (balance > 0n) positions.push(createPosition(context, account, "supplied", holding, []));
  }
  return positions;
}

function warnUnreadable(context: ReadContext, { name, comet }: CompoundV3Market, what: string): void {
  const { query, warnings, incomplete } = context;
  const chain = query.at.chain.name;
  incomplete.add(comet);
  warnings.push(`${what} in the Compound v3 market ${name} on ${chain} could not be read.`);
}

/** Principal, two tracking counters, collateral bits 0 to 15, and bits 16 to 23 for markets with more. */
function decodeCollateralIndexes(data: Hex | null): readonly number[] | null {
  const [, , , low, high] = decodeWords(data, 5) ?? [];
  if (low === undefined || high === undefined || low >> 16n !== 0n || high >> 8n !== 0n) return null;
  const bits = low | (high << BigInt(ASSETS_IN_BITS));
  return Array.from({ length: COLLATERALS_MAX }, (_, bit) => bit).filter((bit) => (bits >> BigInt(bit)) & 1n);
}

/** Its index, the asset and its feed come first. */
function decodeAssetInfo(data: Hex | null): PricedToken | null {
  const [, address, feed] = decodeWords(data, 8) ?? [];
  const asset = wordToAddress(address);
  return asset === null ? null : { asset, feed: wordToAddress(feed) };
}

/** The second word is reserved and may have any value. */
function decodeCollateralBalance(data: Hex | null): bigint | null {
  const [balance] = decodeWords(data, 2) ?? [];
  return balance !== undefined && balance <= TOKEN_AMOUNT_MAX ? balance : null;
}

function createPosition(
  { incomplete }: ReadContext,
  { name, comet }: CompoundV3Market,
  kind: PositionKind,
  asset: PositionAsset,
  receiptTokens: readonly Hex[],
): ProtocolPosition {
  return {
    protocol: PROTOCOL,
    kind,
    name: `Compound v3 ${name}${asset.symbol === null ? "" : `: ${asset.symbol}`}`,
    contract: comet,
    market: comet,
    ...(incomplete.has(comet) ? { incomplete: true } : {}),
    assets: [asset],
    receiptTokens,
  };
}
