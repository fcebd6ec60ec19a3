// Morpho Blue: collateral, debt and supplied assets of a wallet in known markets, with interest up to the pinned block.

import { TOKEN_AMOUNT_MAX } from "../../../lib/abi/return-data.ts";
import { formatDecimal, SCALE_MAX } from "../../../lib/decimal.ts";
import { joinEach } from "../../contract-reads/reads.ts";
import type {
  Asset,
  MarketRate,
  PositionAsset,
  PositionKind,
  PositionReader,
  ProtocolPosition,
} from "../../types.ts";
import { type Assets, declareAssets, getAsset } from "../asset-metadata.ts";
import { defineReader, type PositionRead } from "../position-read.ts";
import { accrueInterest, type MarketState, toBorrowedAssets, toSuppliedAssets } from "./accrual.ts";
import {
  declareRate,
  type MarketParams,
  type MorphoBlueMarkets,
  morphoCalls,
  ORACLE_SCALE,
  oraclePrice,
} from "./contracts.ts";
import { createAccountScan, type MorphoAccount } from "./scan-accounts.ts";

const PROTOCOL = "morpho-blue";
const WAD_PERCENT_SCALE = 16;
/** In units of 10^-18. Morpho's model stays below 10^12, eight times the debt a year; a thousand times that is broken. */
const RATE_PER_SECOND_MAX = 10n ** 15n;

type OpenAccount = MorphoAccount & MarketParams & { readonly state: MarketState };

/** One round trip for a wallet without positions, two more for one with. */
export function createMorphoBlueReader(
  markets: ReadonlyMap<number, readonly MorphoBlueMarkets[]>,
): PositionReader {
  const scanAccounts = createAccountScan();
  return defineReader({
    protocol: PROTOCOL,
    markets,
    readsDebt: true,
    delegationsOf: ({ morpho }) => [{ form: "morpho", protocol: PROTOCOL, contract: morpho }],
    async read(run, onChain) {
      const { accounts, unreadable } = await scanAccounts(run.at, run.wallet, onChain, run.signal);
      const warning = `Morpho Blue markets on ${run.chain} that could not be read and are missing: ${unreadable}.`;
      run.warnOfMarkets(unreadable > 0 ? [PROTOCOL] : [], warning);
      return readPositions(run, await readMarkets(run, accounts));
    },
  });
}

/** Second trip: the state and the parameters of these markets. */
async function readMarkets(
  run: PositionRead,
  accounts: readonly MorphoAccount[],
): Promise<readonly OpenAccount[]> {
  const read = await run.askEach(accounts, ({ morpho, id }) => ({
    state: morphoCalls.market(morpho, [id]),
    params: morphoCalls.idToMarketParams(morpho, [id]),
  }));
  return read.flatMap(([account, { state, params }]) => {
    if (!state || !params) warnUnreadable(run, account);
    return state && params ? [{ ...account, ...params, state }] : [];
  });
}

/** Third trip: what interest is due, what the oracles say, and the metadata of the assets. */
async function readPositions(
  run: PositionRead,
  accounts: readonly OpenAccount[],
): Promise<readonly ProtocolPosition[]> {
  const contracts = accounts.flatMap(({ loanAsset, collateralAsset }) => [loanAsset, collateralAsset]);
  const { terms, assets } = await run.ask({
    terms: joinEach(accounts, (account) => ({
      rate: declareRate(account, account.state),
      price: account.oracle === null || account.collateral === 0n ? null : oraclePrice(account.oracle),
    })),
    assets: declareAssets(await run.withTokens(), contracts),
  });
  return terms.flatMap(([account, { rate, price }]) => {
    const isPlausible = rate !== null && rate <= RATE_PER_SECOND_MAX;
    const positions = isPlausible
      ? buildPositions(
          account,
          accrueInterest(account.state, rate, BigInt(run.at.block.timestamp)),
          assets,
          price,
        )
      : null;
    if (positions === null) warnUnreadable(run, account);
    return positions ?? [];
  });
}

/** Null if an amount is not plausible. */
function buildPositions(
  account: OpenAccount,
  state: MarketState,
  assets: Assets,
  price: bigint | null,
): readonly ProtocolPosition[] | null {
  const { loanAsset, collateralAsset, collateral } = account;
  const loan = getAsset(assets, loanAsset);
  const secured = collateralAsset === null ? null : getAsset(assets, collateralAsset);
  const supplied = toSuppliedAssets(account.supplyShares, state);
  const borrowed = toBorrowedAssets(account.borrowShares, state);
  if ([supplied, borrowed, collateral].some((amount) => amount > TOKEN_AMOUNT_MAX)) return null;
  const pair = [secured?.symbol, loan.symbol].filter((symbol) => symbol).join("/");
  const ratio = formatDecimal({ units: account.liquidationRatio, scale: WAD_PERCENT_SCALE });
  const create = (kind: PositionKind, role: string, asset: PositionAsset): readonly ProtocolPosition[] =>
    asset.rawBalance === 0n
      ? []
      : [
          {
            protocol: PROTOCOL,
            kind,
            name: `Morpho Blue ${pair} ${ratio} %: ${role}`,
            contract: account.morpho,
            // A supply secures nothing: only collateral and debt are one account.
            market: role === "supply" ? null : `${PROTOCOL}:${account.id}`,
            assets: [asset],
            receiptTokens: [],
          },
        ];
  const marketRate = secured && toMarketRate(account, secured, loan, price);
  const pledge = secured && { ...secured, rawBalance: collateral, ...(marketRate && { marketRate }) };
  return [
    ...(pledge ? create("supplied", "collateral", pledge) : []),
    ...create("supplied", "supply", { ...loan, rawBalance: supplied }),
    ...create("borrowed", "debt", { ...loan, rawBalance: borrowed }),
  ];
}

/** How the market itself values the collateral; null when it does not say. */
function toMarketRate(
  { oracle }: OpenAccount,
  collateral: Asset,
  loan: Asset,
  price: bigint | null,
): MarketRate | null {
  if (oracle === null || !price || collateral.decimals === null || loan.decimals === null) return null;
  const scale = ORACLE_SCALE + loan.decimals - collateral.decimals;
  if (scale < 0 || scale > SCALE_MAX / 2) return null;
  return {
    per: loan,
    rate: { units: price, scale },
    source: PROTOCOL,
    contract: oracle,
    timestamp: null,
  };
}

function warnUnreadable(run: PositionRead, { id }: MorphoAccount): void {
  run.warnOfMarkets([id], `Positions in the Morpho Blue market ${id} on ${run.chain} could not be read.`);
}
