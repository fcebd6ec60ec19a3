// Compound v2 and its forks: what a wallet supplied and borrowed in each market of a comptroller, interest included.

import type { Hex } from "../../../lib/hex.ts";
import { joinEach } from "../../contract-reads/reads.ts";
import {
  type Asset,
  type PositionAsset,
  type PositionReader,
  type ProtocolPosition,
  quotePrice,
} from "../../types.ts";
import { type Assets, declareAssets, getAsset, nameWithSymbol } from "../asset-metadata.ts";
import { declareIsPricing, hasPinnedFeed } from "../market-price.ts";
import { defineReader, type PositionRead } from "../position-read.ts";
import {
  type CompoundV2Pool,
  type CompoundV2Pools,
  comptrollerCalls,
  getUnderlyingPrice,
  marketCalls,
  UNDERLYING_PRICE_DECIMALS,
} from "./contracts.ts";

/** The differences between Compound v2 and its forks. */
type CompoundV2Protocol = {
  /** As positions name it. */
  readonly protocol: string;
  /** As warnings name it. */
  readonly title: string;
  /** A wallet can let others act in its comptroller. */
  readonly hasDelegates?: true;
};

export function createCompoundV2Reader(pools: CompoundV2Pools): PositionReader {
  return createForkReader({ protocol: "compound-v2", title: "Compound v2" }, pools);
}

export function createMoonwellReader(pools: CompoundV2Pools): PositionReader {
  return createForkReader({ protocol: "moonwell", title: "Moonwell" }, pools);
}

/** Venus has several pools on each chain. */
export function createVenusReader(pools: CompoundV2Pools): PositionReader {
  return createForkReader({ protocol: "venus", title: "Venus", hasDelegates: true }, pools);
}

type Market = { readonly pool: CompoundV2Pool; readonly market: Hex };
/** A market that the wallet uses. */
type Account = Market & { readonly supplied: bigint; readonly borrowed: bigint; readonly asset: Hex | null };

function createForkReader(
  { protocol, title, hasDelegates }: CompoundV2Protocol,
  markets: CompoundV2Pools,
): PositionReader {
  return defineReader({
    protocol,
    markets,
    readsDebt: true,
    delegationsOf: ({ comptroller }) =>
      hasDelegates ? [{ form: "venus", protocol, contract: comptroller }] : [],
    async read(run, pools) {
      const used = await findMarkets(run, title, pools);
      const { accounts, oracles } = await readAccounts(run, title, used);
      const { assets, prices } = await readAssets(run, accounts, oracles);
      return accounts.flatMap((account) => createPositions(protocol, account, assets, prices));
    },
  });
}

/**
 * First trip: the markets of our data in which the wallet has something, of which more is asked, and those that our data
 * lacks.
 */
async function findMarkets(
  run: PositionRead,
  title: string,
  pools: readonly CompoundV2Pool[],
): Promise<readonly Market[]> {
  const known = pools.flatMap((pool) => pool.markets.map((market) => ({ pool, market })));
  const read = await run.ask({
    lists: joinEach(pools, ({ comptroller }) => comptrollerCalls.getAllMarkets(comptroller)),
    uses: joinEach(known, ({ market }) => marketCalls.getAccountSnapshot(market, [run.wallet])),
  });
  const lists = new Map(read.lists);
  const unlisted = pools.filter((pool) => !lists.get(pool));
  for (const { name, comptroller } of unlisted)
    run.warnOfMarkets(
      [comptroller],
      `${name} did not list its markets; positions in new ones may be missing.`,
    );
  const used = read.uses.flatMap(([each, snapshot]): Market[] => {
    // A contract that the comptroller does not list is not a market: its data may be of another chain.
    if (lists.get(each.pool)?.includes(each.market) === false) return [];
    const [error, shares, borrowed] = snapshot ?? [];
    if (error !== 0n) {
      warnUnreadable(run, title, each);
      return [];
    }
    run.markRead(each.pool.comptroller);
    return shares === 0n && borrowed === 0n ? [] : [each];
  });
  const added = pools.flatMap((pool) =>
    (lists.get(pool) ?? [])
      .filter((market) => !pool.markets.includes(market))
      .map((market) => ({ pool, market })),
  );
  return [...used, ...added];
}

/** Second trip: the balances with interest, the underlying token of each market, and the comptrollers' oracles. */
async function readAccounts(run: PositionRead, title: string, markets: readonly Market[]) {
  const { wallet } = run;
  const pools = [...new Set(markets.map(({ pool }) => pool))];
  const read = await run.ask({
    oracles: joinEach(pools, ({ comptroller }) => comptrollerCalls.oracle(comptroller)),
    accounts: joinEach(markets, ({ market }) => ({
      supplied: marketCalls.balanceOfUnderlying(market, [wallet]),
      borrowed: marketCalls.borrowBalanceCurrent(market, [wallet]),
      token: marketCalls.underlying(market),
    })),
  });
  const accounts = read.accounts.flatMap(([each, { supplied, borrowed, token }]): Account[] => {
    const isNative = each.market === each.pool.nativeMarket;
    if (supplied === null || borrowed === null || (token === null && !isNative)) {
      warnUnreadable(run, title, each);
      return [];
    }
    return supplied + borrowed === 0n
      ? []
      : [{ ...each, supplied, borrowed, asset: isNative ? null : token }];
  });
  return { accounts, oracles: new Map(read.oracles) };
}

/** The prices of the pool's oracle, by market. */
type OraclePrices = ReadonlyMap<Hex, { readonly units: bigint; readonly oracle: Hex }>;

/** Third trip: the metadata of the underlying tokens, and the prices of those without a feed of their own. */
async function readAssets(
  run: PositionRead,
  accounts: readonly Account[],
  oracles: ReadonlyMap<CompoundV2Pool, Hex | null>,
): Promise<{ readonly assets: Assets; readonly prices: OraclePrices }> {
  const unpriced = accounts.flatMap(({ pool, market, asset }) => {
    const oracle = oracles.get(pool);
    return !oracle || hasPinnedFeed(run.at.chain.chainId, asset) ? [] : [{ market, oracle }];
  });
  const { isPricing, prices, assets } = await run.ask({
    isPricing: unpriced.length === 0 ? null : declareIsPricing(run.at),
    prices: joinEach(unpriced, ({ market, oracle }) => getUnderlyingPrice(oracle, [market])),
    assets: declareAssets(
      await run.withTokens(),
      accounts.map(({ asset }) => asset),
    ),
  });
  // Zero is how an oracle says that it does not know.
  const known = prices.flatMap(([{ market, oracle }, units]) =>
    units ? [[market, { units, oracle }] as const] : [],
  );
  return { assets, prices: new Map(isPricing ? known : []) };
}

function createPositions(
  protocol: string,
  { pool, market, supplied, borrowed, asset: contract }: Account,
  assets: Assets,
  prices: OraclePrices,
): readonly ProtocolPosition[] {
  const asset = getAsset(assets, contract);
  const position = (kind: "supplied" | "borrowed", rawBalance: bigint): ProtocolPosition => ({
    protocol,
    kind,
    name: nameWithSymbol(pool.name, asset),
    contract: market,
    market: pool.comptroller,
    assets: [{ ...asset, rawBalance, ...findMarketPrice(protocol, asset, prices.get(market)) }],
    // The market is its own receipt token, for what is supplied.
    receiptTokens: kind === "supplied" ? [market] : [],
  });
  return [
    ...(supplied > 0n ? [position("supplied", supplied)] : []),
    ...(borrowed > 0n ? [position("borrowed", borrowed)] : []),
  ];
}

function findMarketPrice(
  protocol: string,
  { decimals }: Asset,
  price: { readonly units: bigint; readonly oracle: Hex } | undefined,
): Pick<PositionAsset, "marketPrice"> {
  if (price === undefined || decimals === null || decimals > UNDERLYING_PRICE_DECIMALS) return {};
  const usd = { units: price.units, scale: UNDERLYING_PRICE_DECIMALS - decimals };
  return { marketPrice: { ...quotePrice(usd, { contract: price.oracle }), source: protocol } };
}

function warnUnreadable(run: PositionRead, title: string, { pool, market }: Market): void {
  run.warnOfMarkets(
    [pool.comptroller],
    `Balances in the ${title} market ${market} on ${run.chain} could not be read.`,
  );
}
