// Morpho Blue: collateral, debt and supplied assets of a wallet in known markets, with interest up to the pinned block.

import { decodeWord, decodeWords, TOKEN_AMOUNT_MAX, wordToAddress } from "../../../lib/abi/return-data.ts";
import { formatDecimal, SCALE_MAX } from "../../../lib/decimal.ts";
import type { Hex } from "../../../lib/hex.ts";
import { createCallEncoder, readByMulticall } from "../../multicall.ts";
import type {
  Asset,
  ContractRead,
  MarketRate,
  PositionAsset,
  PositionKind,
  PositionQuery,
  PositionReader,
  ProtocolPosition,
} from "../../types.ts";
import { type Assets, getAsset, prepareAssetLookup } from "../asset-metadata.ts";
import { createLendingReader, type ReadMarkets } from "../market-reader.ts";
import { accrueInterest, type MarketState, toBorrowedAssets, toSuppliedAssets } from "./accrual.ts";
import type { MorphoBlueMarkets } from "./markets.ts";
import { type Account, createAccountScan } from "./scan-accounts.ts";

const PROTOCOL = "morpho-blue";
const MARKET_WORDS = 6;
/** Loan asset, collateral asset, oracle, interest rate model, liquidation ratio. */
const PARAMS_WORDS = 5;
const CALLS_PER_MARKET = 2;
const WAD = 10n ** 18n;
const WAD_PERCENT_SCALE = 16;
/** The oracle's price has 36 decimals, and those by which the two assets differ. */
const ORACLE_SCALE = 36;
/** Two feeds and two vaults, each behind a proxy. Anyone can write an oracle. */
const ORACLE_GAS_MAX = 500_000;
/** In units of 10^-18. Morpho's model stays below 10^12, eight times the debt a year; a thousand times that is broken. */
const RATE_PER_SECOND_MAX = 10n ** 15n;

const market = createCallEncoder("function market(bytes32)");
const idToMarketParams = createCallEncoder("function idToMarketParams(bytes32)");
const price = createCallEncoder("function price() view returns (uint256)");
const borrowRateView = createCallEncoder(
  "function borrowRateView((address, address, address, address, uint256), (uint128, uint128, uint128, uint128, uint128, uint128)) view returns (uint256)",
);

type MarketParams = {
  readonly loanAsset: Hex;
  /** Null in a market that only keeps assets. */
  readonly collateralAsset: Hex | null;
  readonly oracle: Hex | null;
  readonly rateModel: Hex | null;
  /** The part of the collateral's value up to which a debt is safe, in units of 10^-18. */
  readonly liquidationRatio: bigint;
};
type OpenAccount = Account &
  MarketParams & { readonly state: MarketState; readonly words: readonly bigint[] };

type ReadContext = {
  readonly query: PositionQuery;
  readonly signal: AbortSignal;
  readonly warnings: string[];
};

/** One round trip for a wallet without positions, two more for one with. */
export function createMorphoBlueReader(
  marketsByChain: ReadonlyMap<number, readonly MorphoBlueMarkets[]>,
): PositionReader {
  const scanAccounts = createAccountScan();
  const read: ReadMarkets<MorphoBlueMarkets> = async (query, markets, signal) => {
    const context: ReadContext = { query, signal, warnings: [] };
    const { accounts, unreadable } = await scanAccounts(query.at, query.wallet, markets, signal);
    if (unreadable > 0) {
      const chain = query.at.chain.name;
      context.warnings.push(
        `Morpho Blue markets on ${chain} that could not be read and are missing: ${unreadable}.`,
      );
    }
    const open = await readMarkets(context, accounts);
    const positions = await readPositions(context, open);
    const { warnings } = context;
    // Each is about markets of which nothing is shown.
    return { positions, warnings, ...(warnings.length === 0 ? {} : { hasUnreadDebt: true }) };
  };
  return createLendingReader(PROTOCOL, marketsByChain, read, ({ morpho }) => [
    { form: "morpho", protocol: PROTOCOL, contract: morpho },
  ]);
}

/** Second trip: the state and the parameters of these markets. */
async function readMarkets(
  context: ReadContext,
  accounts: readonly Account[],
): Promise<readonly OpenAccount[]> {
  const calls = accounts.flatMap(({ morpho, id }) => [market(morpho, [id]), idToMarketParams(morpho, [id])]);
  const results = await readByMulticall(context.query.at, calls, context.signal);
  return accounts.flatMap((account, index): OpenAccount[] => {
    const [stateResult, paramsResult] = results.slice(index * CALLS_PER_MARKET);
    const words = decodeWords(stateResult, MARKET_WORDS);
    const params = decodeParams(decodeWords(paramsResult, PARAMS_WORDS));
    const state = decodeState(words);
    if (words === null || state === null || params === null) {
      warnUnreadable(context, account);
      return [];
    }
    const paramsWords = decodeWords(paramsResult, PARAMS_WORDS) ?? [];
    return [{ ...account, ...params, state, words: [...paramsWords, ...words] }];
  });
}

function decodeState(words: readonly bigint[] | null): MarketState | null {
  const [supplyAssets, supplyShares, borrowAssets, borrowShares, lastUpdate, fee] = words ?? [];
  if (supplyAssets === undefined || supplyShares === undefined || borrowAssets === undefined) return null;
  if (borrowShares === undefined || lastUpdate === undefined || fee === undefined) return null;
  // A market that was never created was never updated.
  if (lastUpdate === 0n || words?.some((word) => word > TOKEN_AMOUNT_MAX)) return null;
  return { supplyAssets, supplyShares, borrowAssets, borrowShares, lastUpdate, fee };
}

function decodeParams(words: readonly bigint[] | null): MarketParams | null {
  const [loan, collateral, oracle, rateModel, liquidationRatio] = words ?? [];
  const loanAsset = wordToAddress(loan);
  if (loanAsset === null || liquidationRatio === undefined || liquidationRatio > WAD) return null;
  return {
    loanAsset,
    collateralAsset: wordToAddress(collateral),
    oracle: wordToAddress(oracle),
    rateModel: wordToAddress(rateModel),
    liquidationRatio,
  };
}

/** Third trip: what interest is due, what the oracles say, and the metadata of the assets. */
async function readPositions(
  context: ReadContext,
  accounts: readonly OpenAccount[],
): Promise<readonly ProtocolPosition[]> {
  const { at } = context.query;
  const contracts = accounts
    .flatMap(({ loanAsset, collateralAsset }) => [loanAsset, collateralAsset ?? []])
    .flat();
  const lookup = prepareAssetLookup(context.query, contracts);
  const calls = accounts.map((account) => [...encodeRateCall(account), ...encodePriceCall(account)]);
  const results = await readByMulticall(at, [...calls.flat(), ...lookup.calls], context.signal);
  const assets = lookup.decode(results.slice(calls.flat().length));
  let start = 0;
  return accounts.flatMap((account, index) => {
    const own = results.slice(start, start + (calls[index]?.length ?? 0));
    start += own.length;
    const rate = needsRate(account) ? decodeWord(own[0]) : 0n;
    if (rate === null || rate > RATE_PER_SECOND_MAX) {
      warnUnreadable(context, account);
      return [];
    }
    const state = accrueInterest(account.state, rate, BigInt(at.block.timestamp));
    const oraclePrice = encodePriceCall(account).length > 0 ? decodeWord(own.at(-1)) : null;
    return buildPositions(context, { ...account, state }, assets, oraclePrice);
  });
}

/** Without debt or without a model there is no interest. */
function needsRate({ rateModel, state }: OpenAccount): boolean {
  return rateModel !== null && state.borrowAssets > 0n;
}

function encodeRateCall(account: OpenAccount): readonly ContractRead[] {
  const { rateModel, words } = account;
  if (rateModel === null || !needsRate(account)) return [];
  const [loan, collateral, oracle, model, ratio, ...state] = words;
  const params = [
    ...[loan, collateral, oracle, model].map((word) => wordToAddress(word) ?? ZERO_ADDRESS),
    ratio,
  ];
  return [borrowRateView(rateModel, [params, state])];
}

const ZERO_ADDRESS: Hex = `0x${"0".repeat(40)}`;

function encodePriceCall({ oracle, collateral }: OpenAccount): readonly ContractRead[] {
  return oracle === null || collateral === 0n ? [] : [price(oracle, [], ORACLE_GAS_MAX)];
}

function buildPositions(
  context: ReadContext,
  account: OpenAccount,
  assets: Assets,
  oraclePrice: bigint | null,
): readonly ProtocolPosition[] {
  const { loanAsset, collateralAsset, collateral, state } = account;
  const loan = getAsset(assets, loanAsset);
  const secured = collateralAsset === null ? null : getAsset(assets, collateralAsset);
  const supplied = toSuppliedAssets(account.supplyShares, state);
  const borrowed = toBorrowedAssets(account.borrowShares, state);
  if ([supplied, borrowed, collateral].some((amount) => amount > TOKEN_AMOUNT_MAX)) {
    warnUnreadable(context, account);
    return [];
  }
  const pair = [secured?.symbol, loan.symbol].filter((symbol) => symbol).join("/");
  const ratio = formatDecimal({ units: account.liquidationRatio, scale: WAD_PERCENT_SCALE });
  const create = (kind: PositionKind, role: string, asset: PositionAsset): ProtocolPosition => ({
    protocol: PROTOCOL,
    kind,
    name: `Morpho Blue ${pair} ${ratio} %: ${role}`,
    contract: account.morpho,
    // What is supplied secures nothing: only collateral and debt are one account.
    market: role === "supply" ? null : `${PROTOCOL}:${account.id}`,
    assets: [asset],
    receiptTokens: [],
  });
  const marketRate = secured && toMarketRate(account, secured, loan, oraclePrice);
  return [
    ...(secured && collateral > 0n
      ? [
          create("supplied", "collateral", {
            ...secured,
            rawBalance: collateral,
            ...(marketRate && { marketRate }),
          }),
        ]
      : []),
    ...(supplied > 0n ? [create("supplied", "supply", { ...loan, rawBalance: supplied })] : []),
    ...(borrowed > 0n ? [create("borrowed", "debt", { ...loan, rawBalance: borrowed })] : []),
  ];
}

/** How the market itself values the collateral; null when it does not say. */
function toMarketRate(
  { oracle }: OpenAccount,
  collateral: Asset,
  loan: Asset,
  oraclePrice: bigint | null,
): MarketRate | null {
  if (oracle === null || !oraclePrice || collateral.decimals === null || loan.decimals === null) return null;
  const scale = ORACLE_SCALE + loan.decimals - collateral.decimals;
  if (scale < 0 || scale > SCALE_MAX / 2) return null;
  return {
    per: loan,
    rate: { units: oraclePrice, scale },
    ...{ source: PROTOCOL, contract: oracle, timestamp: null },
  };
}

function warnUnreadable({ query, warnings }: ReadContext, { id }: Account): void {
  warnings.push(`Positions in the Morpho Blue market ${id} on ${query.at.chain.name} could not be read.`);
}
