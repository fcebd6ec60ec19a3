// Compound v3: the base asset a wallet supplied or borrowed in each market, and the collateral behind it.

import type { Hex } from "../../../lib/hex.ts";
import { joinEach } from "../../contract-reads/reads.ts";
import { erc20 } from "../../tokens/erc20.ts";
import type { PositionAsset, PositionReader, ProtocolPosition } from "../../types.ts";
import { declareAssets, getAsset, nameWithSymbol } from "../asset-metadata.ts";
import { defineReader, type PositionRead } from "../position-read.ts";
import { type CompoundV3Market, cometCalls, PROTOCOL, type PricedToken } from "./contracts.ts";
import { declareFeedPrices, priceBase, priceCollateral } from "./feeds.ts";

/** A market that the wallet uses. */
type Account = CompoundV3Market & {
  readonly supplied: bigint;
  readonly borrowed: bigint;
  /** Indexes of the collateral assets. */
  readonly collateralIndexes: readonly number[];
};
type AccountAssets = {
  /** Accounts whose base asset could be read. */
  readonly bases: ReadonlyMap<Account, PricedToken>;
  readonly collaterals: readonly (PricedToken & { readonly account: Account })[];
};

/** One round trip for a wallet without positions; two more for the assets and collaterals of the markets in use. */
export function createCompoundV3Reader(
  markets: ReadonlyMap<number, readonly CompoundV3Market[]>,
): PositionReader {
  return defineReader({
    protocol: PROTOCOL,
    markets,
    readsDebt: true,
    delegationsOf: ({ comet }) => [{ form: "comet", protocol: PROTOCOL, contract: comet }],
    async read(run, onChain) {
      const accounts = await readAccounts(run, onChain);
      const accountAssets = await readAccountAssets(run, accounts);
      return readPositions(run, accountAssets);
    },
  });
}

/** First trip: the markets in which the wallet has a balance, a debt or collateral. */
async function readAccounts(
  run: PositionRead,
  markets: readonly CompoundV3Market[],
): Promise<readonly Account[]> {
  const { wallet } = run;
  const read = await run.askEach(markets, ({ comet }) => ({
    supplied: erc20.balanceOf(comet, [wallet]),
    borrowed: cometCalls.borrowBalanceOf(comet, [wallet]),
    collateralIndexes: cometCalls.userBasic(comet, [wallet]),
  }));
  return read.flatMap(([market, { supplied, borrowed, collateralIndexes }]): Account[] => {
    if (supplied === null || borrowed === null || collateralIndexes === null) {
      warnUnreadable(run, market, "Balances");
      return [];
    }
    run.markRead(market.comet);
    const isEmpty = supplied === 0n && borrowed === 0n && collateralIndexes.length === 0;
    return isEmpty ? [] : [{ ...market, supplied, borrowed, collateralIndexes }];
  });
}

/** Second trip: the base asset and the collateral assets of each account. */
async function readAccountAssets(run: PositionRead, accounts: readonly Account[]): Promise<AccountAssets> {
  const wanted = accounts.flatMap((account) =>
    account.collateralIndexes.map((index) => ({ account, index })),
  );
  const read = await run.ask({
    bases: joinEach(accounts, ({ comet }) => ({
      asset: cometCalls.baseToken(comet),
      feed: cometCalls.baseTokenPriceFeed(comet),
    })),
    collaterals: joinEach(wanted, ({ account, index }) => cometCalls.getAssetInfo(account.comet, [index])),
  });
  const collaterals = read.collaterals.flatMap(([{ account }, info]) => {
    if (info === null) warnUnreadable(run, account, "A collateral");
    return info === null ? [] : [{ account, asset: info.asset, feed: info.feed }];
  });
  const bases = new Map<Account, PricedToken>();
  for (const [account, { asset, feed }] of read.bases) {
    if (asset) bases.set(account, { asset, feed });
    else if (account.supplied + account.borrowed > 0n) warnUnreadable(run, account, "The base asset");
  }
  return { bases, collaterals };
}

/** Third trip: the collateral balances, the metadata of all assets, and prices that only the market knows. */
async function readPositions(
  run: PositionRead,
  { bases, collaterals }: AccountAssets,
): Promise<readonly ProtocolPosition[]> {
  const { at, wallet } = run;
  const contracts = [...bases.values(), ...collaterals].map(({ asset }) => asset);
  const priced = [
    ...[...bases].map(([account, base]) => ({ ...account, base })),
    ...collaterals.flatMap(({ account, ...collateral }) => {
      const base = bases.get(account);
      return base === undefined ? [] : [{ ...account, base, collateral }];
    }),
  ];
  const { amounts, prices, assets } = await run.ask({
    amounts: joinEach(collaterals, ({ account, asset }) =>
      cometCalls.userCollateral(account.comet, [wallet, asset]),
    ),
    prices: declareFeedPrices(at, priced),
    assets: declareAssets(await run.withTokens(), contracts),
  });
  const describeBase = (account: Account, base: Hex) => ({
    ...getAsset(assets, base),
    contract: base,
    ...priceBase(at, account, base, prices),
  });
  const supplies = [...bases].flatMap(([account, { asset }]) => {
    const base = describeBase(account, asset);
    // The market is its own receipt token, for the supplied base asset only.
    return [
      createPosition(account, "supplied", { ...base, rawBalance: account.supplied }, [account.comet]),
      createPosition(account, "borrowed", { ...base, rawBalance: account.borrowed }, []),
    ].flat();
  });
  const pledges = amounts.flatMap(([{ account, asset }, balance]) => {
    if (balance === null) warnUnreadable(run, account, "A collateral balance");
    const base = bases.get(account)?.asset;
    const price = base && priceCollateral(account, asset, prices, describeBase(account, base));
    const pledge = { ...getAsset(assets, asset), rawBalance: balance ?? 0n, ...price };
    return createPosition(account, "supplied", pledge, []);
  });
  return [...supplies, ...pledges];
}

function createPosition(
  { name, comet }: CompoundV3Market,
  kind: "supplied" | "borrowed",
  asset: PositionAsset,
  receiptTokens: readonly Hex[],
): readonly ProtocolPosition[] {
  if (asset.rawBalance === 0n) return [];
  const facts = { protocol: PROTOCOL, kind, name: nameWithSymbol(`Compound v3 ${name}`, asset) };
  return [{ ...facts, contract: comet, market: comet, assets: [asset], receiptTokens }];
}

function warnUnreadable(run: PositionRead, { name, comet }: CompoundV3Market, what: string): void {
  const warning = `${what} in the Compound v3 market ${name} on ${run.chain} could not be read.`;
  run.warnOfMarkets([comet], warning);
}
