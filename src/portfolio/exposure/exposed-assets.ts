// The tokens and positions that permissions are about, with their prices. Positions are read only if something needs them.
import { decodeAddress, decodeFirstWord, type Words } from "../../lib/abi/return-data.ts";
import { multiplyDecimals, roundDecimal } from "../../lib/decimal.ts";
import type { Hex } from "../../lib/hex.ts";
import { readEach, readGroups } from "../contract-reads/read-groups.ts";
import { defineRead, joinEach } from "../contract-reads/reads.ts";
import { getUserAccountData } from "../positions/aave-v3/reader.ts";
import { collectPositions } from "../positions/collect-positions.ts";
import {
  collectPrices,
  createProviderPriceSource,
  type PriceSourceGroups,
} from "../prices/collect-prices.ts";
import { BUDGET_MS } from "../time-budgets.ts";
import { readTokenMetadata } from "../tokens/metadata.ts";
import { findSpamReasons } from "../tokens/spam.ts";
import { describeByLists } from "../tokens/token-list.ts";
import {
  type AssetKey,
  type AssetPrice,
  type ChainConfig,
  type ChainHoldings,
  type Delegation,
  getAssetKey,
  type Holding,
  type HoldingsProvider,
  isListed,
  type PositionQuery,
  type PositionReader,
  type WalletQuery,
} from "../types.ts";
import type { UsdValue } from "../valuation/usd.ts";
import { rankHoldings } from "./candidates.ts";
import { type ExposedPositions, groupAccounts } from "./positions-at-risk.ts";
import type { LivePermission } from "./types.ts";
import { type ExposedToken, isOfToken, NATIVE_COIN } from "./value-at-risk.ts";

export type AssetSources = {
  readonly provider: HoldingsProvider;
  readonly priceSources: PriceSourceGroups;
  readonly positionReaders: readonly PositionReader[];
};

type AssetInput = {
  readonly balances: ChainHoldings;
  readonly permissions: readonly LivePermission[];
  /** Managers of NFTs that the wallet owns: each names whom it is approved for. */
  readonly managers: ReadonlySet<Hex>;
};

export type ExposedAssets = {
  /** The assets of the permissions and, if something controls all, everything that the wallet holds. */
  readonly tokens: readonly ExposedToken[];
  readonly positions: ExposedPositions;
  readonly warnings: readonly string[];
};

type Positions = Awaited<ReturnType<typeof collectPositions>>;
// Few assets after the tokens, those that positions add; and before them, to choose what is read.
const POSITION_PRICES_MS = BUDGET_MS.prices / 2;

/**
 * Positions of the protocols in which another account may act, or of all if another account controls the wallet. A
 * token that is approved and held, and that no source has a price for, may be the receipt of a position: all readers
 * are then asked.
 */
export async function readExposedAssets(
  sources: AssetSources,
  query: WalletQuery,
  input: AssetInput,
  signal: AbortSignal,
): Promise<ExposedAssets> {
  const { at } = query;
  const { balances, permissions } = input;
  const isAll = permissions.some(({ controlsAll }) => controlsAll === true);
  const delegated = new Set([
    ...permissions.map(({ power }) => power?.delegation.contract),
    ...input.managers,
  ]);
  const isWanted = (reader: PositionReader) =>
    isAll || (reader.delegations?.(at.chain.chainId) ?? []).some(({ contract }) => delegated.has(contract));
  const early = sources.positionReaders.filter(isWanted);
  const { holdings, transfers = [] } = balances;
  const collect = (readers: readonly PositionReader[], held: readonly Holding[]) =>
    readPositions(readers, { ...query, holdings: held, transfers }, signal);
  const [priced, first] = await Promise.all([
    readApprovedTokens(sources, query, { ...input, isAll }, signal),
    collect(early, holdings),
  ]);
  const receipts = new Set(first.positions.flatMap(({ receiptTokens }) => receiptTokens));
  const mayBeReceipt = priced.holdings.some(
    ({ contract, rawBalance }) =>
      contract !== null && rawBalance > 0n && !priced.prices.has(contract) && !receipts.has(contract),
  );
  const late = mayBeReceipt ? sources.positionReaders.filter((reader) => !early.includes(reader)) : [];
  // A balance that only an approval led to is one of the wallet's holdings as well.
  const known = new Map([...holdings, ...priced.holdings].map((holding) => [holding.contract, holding]));
  const second = await collect(late, [...known.values()]);
  const found = mergePositions(first, second);
  const positions = await valuePositions(
    sources,
    query,
    { found, permissions, priced, readers: [...early, ...late] },
    signal,
  );
  return {
    tokens: priced.holdings.map((holding) => describeToken(at.chain, holding, priced, found)),
    positions: positions.exposed,
    warnings: [...new Set([...priced.warnings, ...found.warnings, ...positions.warnings])],
  };
}

/** For a wallet with more tokens than can be read with every spender: those of the highest value come first. */
export async function readRanking(
  sources: AssetSources,
  { at, wallet }: WalletQuery,
  balances: ChainHoldings,
  signal: AbortSignal,
): Promise<readonly Holding[]> {
  const { holdings: assets } = await readTokenMetadata(at, balances.holdings, signal);
  const { prices } = await collectPrices(
    listSources(sources, balances),
    { at, assets, holder: { wallet, holdings: assets } },
    signal,
    POSITION_PRICES_MS,
  );
  return rankHoldings(at.chain, assets, prices);
}

/** Readers take decimals from the holdings, which providers do not know of every token. */
async function readPositions(
  readers: readonly PositionReader[],
  query: PositionQuery,
  signal: AbortSignal,
): Promise<Positions> {
  if (readers.length === 0) return collectPositions(readers, query, signal);
  const metadata = await readTokenMetadata(query.at, query.holdings, signal);
  const found = await collectPositions(readers, { ...query, holdings: metadata.holdings }, signal);
  return { ...found, warnings: [...metadata.warnings, ...found.warnings] };
}

function mergePositions(first: Positions, second: Positions): Positions {
  return {
    positions: [...first.positions, ...second.positions],
    provenTokens: new Set([...first.provenTokens, ...second.provenTokens]),
    unmarketedTokens: new Set([...first.unmarketedTokens, ...second.unmarketedTokens]),
    incompleteContracts: new Set([...first.incompleteContracts, ...second.incompleteContracts]),
    unreadDebts: new Set([...first.unreadDebts, ...second.unreadDebts]),
    unreadProtocols: new Set([...first.unreadProtocols, ...second.unreadProtocols]),
    warnings: [...first.warnings, ...second.warnings],
  };
}

type PricedTokens = {
  readonly holdings: readonly Holding[];
  /** Tokens whose balance is known: all of the provider, and those that returned one. */
  readonly withBalance: ReadonlySet<Hex | null>;
  readonly prices: ReadonlyMap<AssetKey, AssetPrice>;
  readonly incompletePrices: ReadonlySet<AssetKey>;
  readonly warnings: readonly string[];
};

const BALANCE_GAS_MAX = 100_000;
const balanceOf = defineRead("function balanceOf(address)", decodeFirstWord, BALANCE_GAS_MAX);

/** The tokens of the allowances, or all that the wallet holds. */
async function readApprovedTokens(
  sources: AssetSources,
  { at, wallet }: WalletQuery,
  { balances, permissions, isAll }: Omit<AssetInput, "managers"> & { readonly isAll: boolean },
  signal: AbortSignal,
): Promise<PricedTokens> {
  const approved = new Set(permissions.filter(({ kind }) => isOfToken(kind)).map(({ contract }) => contract));
  const held = new Map(balances.holdings.map((holding) => [holding.contract, holding]));
  const missing = [...approved].filter((contract) => !held.has(contract) && contract !== NATIVE_COIN);
  const results = await readEach(at, signal, missing, (token) => balanceOf(token, [wallet]));
  // A token that returns no balance is missing here.
  const read = new Map(results.flatMap(([token, balance]) => (balance === null ? [] : [[token, balance]])));
  const wanted = [
    ...balances.holdings.filter(({ contract }) => isAll || approved.has(contract ?? NATIVE_COIN)),
    ...missing.map((contract) => describeByLists(at.chain, contract, read.get(contract) ?? 0n)),
    // Providers leave out a balance of nothing.
    ...(approved.has(NATIVE_COIN) && !held.has(null) ? [describeByLists(at.chain, null, 0n)] : []),
  ];
  const metadata = await readTokenMetadata(at, wanted, signal);
  const assets = metadata.holdings.filter(({ rawBalance }) => rawBalance > 0n);
  const { prices, incompletePrices, warnings } = await collectPrices(
    listSources(sources, balances),
    { at, assets, holder: { wallet, holdings: assets } },
    signal,
  );
  return {
    holdings: metadata.holdings,
    withBalance: new Set([null, ...held.keys(), ...read.keys()]),
    prices,
    incompletePrices,
    warnings: [...balances.warnings, ...metadata.warnings, ...warnings],
  };
}

function listSources(
  { provider, priceSources }: AssetSources,
  { prices }: Pick<ChainHoldings, "prices">,
): PriceSourceGroups {
  return prices ? [...priceSources, [createProviderPriceSource(provider.name, prices)]] : priceSources;
}

function describeToken(
  chain: ChainConfig,
  holding: Holding,
  { prices, incompletePrices, withBalance }: PricedTokens,
  { positions, provenTokens, unmarketedTokens }: Positions,
): ExposedToken {
  const { contract } = holding;
  const key = getAssetKey(holding);
  const price = prices.get(key) ?? null;
  // A protocol of ours has issued the receipt of a position.
  const isReceipt =
    contract !== null &&
    (provenTokens.has(contract) || positions.some(({ receiptTokens }) => receiptTokens.includes(contract)));
  const isMissing = !incompletePrices.has(key) && !(contract !== null && unmarketedTokens.has(contract));
  const unpriced = holding.rawBalance > 0n && price === null && isMissing;
  const proven = price?.provesToken === true || isReceipt;
  return {
    holding,
    isBalanceKnown: withBalance.has(contract),
    isVouched: proven || isListed(chain, holding),
    price,
    isSpam: findSpamReasons(holding, { chain, unpriced, proven }).length > 0,
  };
}

type PositionInput = {
  readonly found: Positions;
  readonly permissions: readonly LivePermission[];
  readonly priced: PricedTokens;
  /** The pools that were read. */
  readonly readers: readonly PositionReader[];
};

/** A view without arguments, of a vault that anyone can have created. */
const CONNECTOR_GAS_MAX = 100_000;
const connectorOf = defineRead("function EVC()", decodeAddress, CONNECTOR_GAS_MAX);
const USD_DECIMALS = 8;
const QUOTE_DECIMALS = 18;
const VALUE_DECIMALS = 6;

async function valuePositions(
  sources: AssetSources,
  { at, wallet }: WalletQuery,
  { found, permissions, priced, readers }: PositionInput,
  signal: AbortSignal,
): Promise<{ readonly exposed: ExposedPositions; readonly warnings: readonly string[] }> {
  const powers = permissions.flatMap(({ power }) => power ?? []);
  const delegations = new Map(powers.map(({ delegation }) => [delegation.contract, delegation]));
  const pools = [...delegations.values()].filter((delegation) => delegation.form === "aave");
  const connectors = new Set(
    [...delegations.values()].filter(({ form }) => form === "euler").map(({ contract }) => contract),
  );
  const shares =
    connectors.size === 0
      ? []
      : found.positions.flatMap(({ kind, contract }) => (kind !== "borrowed" && contract) || []);
  const borrowed = [
    ...powers.flatMap(({ underlying }) => underlying ?? []),
    ...pools.flatMap(({ quote }) => quote ?? []),
  ];
  const described = [...new Set(borrowed)].map((contract) => describeByLists(at.chain, contract, 0n));
  const [metadata, read] = await Promise.all([
    described.length === 0 ? { holdings: [], warnings: [] } : readTokenMetadata(at, described, signal),
    readGroups(at, signal, {
      pools: joinEach(pools, ({ contract }) => getUserAccountData(contract, [wallet])),
      shares: joinEach(shares, (contract) => connectorOf(contract)),
    }),
  ]);
  const assets = [...listPositionAssets(found), ...metadata.holdings].filter(
    (asset) => !priced.prices.has(getAssetKey(asset)),
  );
  const query = { at, assets, holder: { wallet, holdings: priced.holdings } };
  const more = await collectPrices(sources.priceSources, query, signal, POSITION_PRICES_MS);
  const prices = new Map([...priced.prices, ...more.prices]);
  const borrowable = new Map(
    read.pools.map(([pool, data]) => [pool.contract, data && valueBorrowable(pool, data, prices)]),
  );
  return {
    exposed: {
      accounts: groupAccounts(found.positions, prices),
      unread: new Set(
        readers
          .filter(({ protocol }) => found.unreadProtocols.has(protocol) || found.unreadDebts.has(protocol))
          .flatMap((reader) => reader.delegations?.(at.chain.chainId) ?? [])
          .map(({ contract }) => contract),
      ),
      incomplete: found.incompleteContracts,
      isComplete: found.unreadProtocols.size + found.unreadDebts.size + found.incompleteContracts.size === 0,
      prices,
      borrowable,
      assets: new Map(
        metadata.holdings.flatMap((asset) => (asset.contract ? [[asset.contract, asset]] : [])),
      ),
      connectorShares: new Set(
        read.shares.flatMap(([contract, connector]) =>
          connector !== null && connectors.has(connector) ? [contract] : [],
        ),
      ),
    },
    warnings: [...metadata.warnings, ...more.warnings],
  };
}

/** Also those in which markets price others. */
function listPositionAssets({ positions }: Positions) {
  const assets = positions.flatMap((position) => position.assets);
  return [...assets, ...assets.flatMap(({ marketRate }) => (marketRate ? [marketRate.per] : []))];
}

function valueBorrowable(
  { quote }: Extract<Delegation, { form: "aave" }>,
  [, , units]: Words<6>,
  prices: ReadonlyMap<AssetKey, AssetPrice>,
): UsdValue {
  const usd = quote === undefined ? { units: 1n, scale: 0 } : prices.get(quote)?.usd;
  const scale = quote === undefined ? USD_DECIMALS : QUOTE_DECIMALS;
  return usd ? roundDecimal(multiplyDecimals({ units, scale }, usd), VALUE_DECIMALS, "half-up") : null;
}
