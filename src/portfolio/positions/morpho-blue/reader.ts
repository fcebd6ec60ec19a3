// Morpho Blue: collateral, debt and supplied assets of a wallet in known markets, with interest up to the pinned block.

import { decodeWord, TOKEN_AMOUNT_MAX, type Words, wordToAddress } from "../../../lib/abi/return-data.ts";
import { formatDecimal, SCALE_MAX } from "../../../lib/decimal.ts";
import type { Hex } from "../../../lib/hex.ts";
import { readEach, readGroups } from "../../contract-reads/read-groups.ts";
import { defineRead, joinEach, Reads, toWords } from "../../contract-reads/reads.ts";
import type {
  Asset,
  MarketRate,
  PositionAsset,
  PositionKind,
  PositionQuery,
  PositionReader,
  ProtocolPosition,
} from "../../types.ts";
import { type Assets, declareAssets, getAsset } from "../asset-metadata.ts";
import { createLendingReader, type ReadMarkets } from "../market-reader.ts";
import { accrueInterest, type MarketState, toBorrowedAssets, toSuppliedAssets } from "./accrual.ts";
import type { MorphoBlueMarkets } from "./markets.ts";
import { createAccountScan, type MorphoAccount } from "./scan-accounts.ts";

const PROTOCOL = "morpho-blue";
const WAD = 10n ** 18n;
const WAD_PERCENT_SCALE = 16;
/** The oracle's price has 36 decimals, and those by which the two assets differ. */
const ORACLE_SCALE = 36;
/** Two feeds and two vaults, each behind a proxy. Anyone can write an oracle. */
const ORACLE_GAS_MAX = 500_000;
/** In units of 10^-18. Morpho's model stays below 10^12, eight times the debt a year; a thousand times that is broken. */
const RATE_PER_SECOND_MAX = 10n ** 15n;

const market = defineRead("function market(bytes32)", toWords(6));
/** Loan asset, collateral asset, oracle, interest rate model, liquidation ratio. */
const idToMarketParams = defineRead("function idToMarketParams(bytes32)", toWords(5));
const price = defineRead("function price()", decodeWord, ORACLE_GAS_MAX);
const borrowRateView = defineRead(
  "function borrowRateView((address, address, address, address, uint256), (uint128, uint128, uint128, uint128, uint128, uint128))",
  decodeWord,
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
type OpenAccount = MorphoAccount &
  MarketParams & { readonly state: MarketState; readonly words: readonly [Words<5>, Words<6>] };

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
  accounts: readonly MorphoAccount[],
): Promise<readonly OpenAccount[]> {
  const read = await readEach(context.query.at, context.signal, accounts, ({ morpho, id }) => ({
    words: market(morpho, [id]),
    paramsWords: idToMarketParams(morpho, [id]),
  }));
  return read.flatMap(([account, { words, paramsWords }]): OpenAccount[] => {
    const params = paramsWords && decodeParams(paramsWords);
    const state = words && decodeState(words);
    if (!state || !params) {
      warnUnreadable(context, account);
      return [];
    }
    return [{ ...account, ...params, state, words: [paramsWords, words] }];
  });
}

function decodeState(words: Words<6>): MarketState | null {
  const [supplyAssets, supplyShares, borrowAssets, borrowShares, lastUpdate, fee] = words;
  // A market that was never created was never updated.
  if (lastUpdate === 0n || words.some((word) => word > TOKEN_AMOUNT_MAX)) return null;
  return { supplyAssets, supplyShares, borrowAssets, borrowShares, lastUpdate, fee };
}

function decodeParams([
  loan,
  collateral,
  oracle,
  rateModel,
  liquidationRatio,
]: Words<5>): MarketParams | null {
  const loanAsset = wordToAddress(loan);
  if (loanAsset === null || liquidationRatio > WAD) return null;
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
  const contracts = accounts.flatMap(({ loanAsset, collateralAsset }) =>
    [loanAsset, collateralAsset].filter((contract) => contract !== null),
  );
  const { terms, assets } = await readGroups(at, context.signal, {
    terms: joinEach(accounts, (account) => ({
      rate: declareRate(account),
      price: account.oracle === null || account.collateral === 0n ? null : price(account.oracle),
    })),
    assets: declareAssets(context.query, contracts),
  });
  return terms.flatMap(([account, { rate, price: oraclePrice }]) => {
    if (rate === null || rate > RATE_PER_SECOND_MAX) {
      warnUnreadable(context, account);
      return [];
    }
    const state = accrueInterest(account.state, rate, BigInt(at.block.timestamp));
    return buildPositions(context, { ...account, state }, assets, oraclePrice);
  });
}

/** Without debt or without a model there is no interest. */
function declareRate({ rateModel, state, words: [params, market] }: OpenAccount): Reads<bigint | null> {
  if (rateModel === null || state.borrowAssets === 0n) return new Reads([], () => 0n);
  const [loan, collateral, oracle, model, ratio] = params;
  const addresses = [loan, collateral, oracle, model].map((word) => wordToAddress(word) ?? ZERO_ADDRESS);
  return borrowRateView(rateModel, [[...addresses, ratio], market]);
}

const ZERO_ADDRESS: Hex = `0x${"0".repeat(40)}`;

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
    // A supply secures nothing: only collateral and debt are one account.
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

function warnUnreadable({ query, warnings }: ReadContext, { id }: MorphoAccount): void {
  warnings.push(`Positions in the Morpho Blue market ${id} on ${query.at.chain.name} could not be read.`);
}
