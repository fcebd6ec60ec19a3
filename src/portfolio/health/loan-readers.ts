// Reads the loan of an account from each lending protocol: collateral, debt and limit in the numbers of its own market.
import { createSignatureCodec } from "../../lib/abi/codec.ts";
import { decodeAddress, decodeWord, decodeWords } from "../../lib/abi/return-data.ts";
import { nullIfMalformed } from "../../lib/abi/words.ts";
import type { Hex } from "../../lib/hex.ts";
import { ask } from "../contract-reads/read-groups.ts";
import { defineRead, joinEach, joinReads, type Reads } from "../contract-reads/reads.ts";
import { AAVE_V2_MARKETS } from "../positions/aave-v3/markets.ts";
import { getUserAccountData } from "../positions/aave-v3/reader.ts";
import {
  comptrollerCalls,
  getUnderlyingPrice,
  marketCalls,
  UNDERLYING_PRICE_DECIMALS,
} from "../positions/compound-v2/contracts.ts";
import { COMPOUND_V3_MARKETS, cometCalls, PRICE_DECIMALS } from "../positions/compound-v3/contracts.ts";
import { morphoCalls, ORACLE_SCALE, oraclePrice, WAD } from "../positions/morpho-blue/contracts.ts";
import type { ProtocolPosition } from "../types.ts";
import type { Loan, LoanReader } from "./loan.ts";

const WAD_DECIMALS = 18;

function listAssets(positions: readonly ProtocolPosition[], kind: ProtocolPosition["kind"]) {
  return positions.filter((position) => position.kind === kind).flatMap(({ assets }) => assets);
}

function sum(amounts: readonly bigint[]): bigint {
  return amounts.reduce((total, amount) => total + amount, 0n);
}

const USD_DECIMALS = 8;
const ETHER_DECIMALS = 18;
const THRESHOLD_DECIMALS = 4;

/** Aave, its older version and Spark: the pool's own account data, which includes e-mode. */
const readAaveLoan: LoanReader = function* ({ protocol, contract }, { at, wallet }) {
  if (contract === null) return null;
  const data = yield* ask(getUserAccountData(contract, [wallet]));
  if (data === null) return null;
  const [collateral, debt, , threshold, , factor] = data;
  const isV2 = protocol === "aave-v2";
  const scale = isV2 ? ETHER_DECIMALS : USD_DECIMALS;
  const quote = AAVE_V2_MARKETS.get(at.chain.chainId)?.find(({ pool }) => pool === contract)?.quote;
  const quoted: Loan["unit"] = quote === undefined ? null : { asset: quote, per: { units: 1n, scale: 0 } };
  return {
    collateral: { units: collateral, scale },
    debt: { units: debt, scale },
    limit: { units: collateral * threshold, scale: scale + THRESHOLD_DECIMALS },
    unit: isV2 ? quoted : "usd",
    healthFactor: { units: factor, scale: WAD_DECIMALS },
  };
};

const WORD_DIGITS = 64;

/** Listed, collateral factor, and in Venus the liquidation threshold; elsewhere a flag or nothing. */
const markets = defineRead("function markets(address)", (data): readonly bigint[] | null =>
  data ? decodeWords(data, Math.floor((data.length - 2) / WORD_DIGITS)) : null,
);

// Comptrollers cut after each multiplication; a millionth of the limit is far above that and far below any real loan.
const TOLERANCE_PARTS = 1_000_000n;

type Part = {
  readonly market: Hex;
  readonly supplied: bigint;
  readonly borrowed: bigint;
  readonly threshold: bigint;
};

/** Compound v2, Moonwell and Venus: each entered market at the comptroller's oracle and factor, checked by its own view. */
const readCompoundV2Loan: LoanReader = function* ({ contract: comptroller, positions }, { wallet }) {
  if (comptroller === null) return null;
  const used = [...new Set(positions.flatMap(({ contract }) => contract ?? []))];
  const read = yield* ask({
    oracle: comptrollerCalls.oracle(comptroller),
    entered: comptrollerCalls.getAssetsIn(comptroller, [wallet]),
    balance: comptrollerCalls.getAccountLiquidity(comptroller, [wallet]),
    parts: used.map((market) => declarePart(comptroller, market, wallet)),
  });
  const { oracle: priceOracle, entered, balance } = read;
  if (priceOracle === null || entered === null || balance === null || balance[0] !== 0n) return null;
  // A market that the wallet has not entered secures nothing.
  const parts = read.parts.flatMap((part) =>
    part ? [entered.includes(part.market) ? part : { ...part, supplied: 0n }] : [],
  );
  if (parts.length < used.length) return null;
  const prices = yield* ask(joinEach(parts, ({ market }) => getUnderlyingPrice(priceOracle, [market])));
  if (prices.some(([, price]) => !price)) return null;
  const total = (worth: (part: Part) => bigint) =>
    sum(prices.map(([part, price]) => worth(part) * (price ?? 0n)));
  const collateral = total(({ supplied }) => supplied);
  const debt = total(({ borrowed }) => borrowed);
  const limit = total(({ supplied, threshold }) => supplied * threshold);
  // The comptroller's balance has 18 decimals.
  const ownBalance = balance[1] - balance[2];
  const gap = limit / WAD - debt - ownBalance * WAD;
  if ((gap < 0n ? -gap : gap) > (limit / WAD + debt) / TOLERANCE_PARTS) return null;
  return {
    collateral: { units: collateral, scale: UNDERLYING_PRICE_DECIMALS },
    debt: { units: debt, scale: UNDERLYING_PRICE_DECIMALS },
    limit: { units: limit, scale: UNDERLYING_PRICE_DECIMALS + WAD_DECIMALS },
    unit: "usd",
    liquidatable: ownBalance < 0n,
  };
};

/** Null when it could not be read. */
function declarePart(comptroller: Hex, market: Hex, wallet: Hex): Reads<Part | null> {
  const group = {
    terms: markets(comptroller, [market]),
    snapshot: marketCalls.getAccountSnapshot(market, [wallet]),
  };
  return joinReads(group).map(({ terms, snapshot }) => {
    const [, factor, third = 0n] = terms ?? [];
    if (factor === undefined || snapshot === null || snapshot[0] !== 0n) return null;
    const [, shares, borrowed, rate] = snapshot;
    return { market, supplied: (shares * rate) / WAD, borrowed, threshold: third > 1n ? third : factor };
  });
}

/** Compound v3: each collateral at the market's own price and liquidation factor, and the market's own check. */
const readCompoundV3Loan: LoanReader = function* ({ contract, positions }, { at, wallet }) {
  if (contract === null) return null;
  // A supply of the base asset secures nothing: it is the receipt token's position.
  const pledged = positions.filter(({ receiptTokens }) => receiptTokens.length === 0);
  const collaterals = listAssets(pledged, "supplied");
  const debts = listAssets(positions, "borrowed");
  const owed = sum(debts.map(({ rawBalance }) => rawBalance));
  const read = yield* ask({
    baseFeed: cometCalls.baseTokenPriceFeed(contract),
    scale: cometCalls.baseScale(contract),
    check: cometCalls.isLiquidatable(contract, [wallet]),
    infos: joinEach(collaterals, (asset) => cometCalls.getAssetInfoByAddress(contract, [asset.contract])),
  });
  const { baseFeed, scale, check } = read;
  const pledges = read.infos.flatMap(([{ rawBalance }, info]) => {
    if (!info?.feed || !info.scale) return [];
    return [{ amount: rawBalance, feed: info.feed, scale: info.scale, factor: info.liquidationFactor }];
  });
  if (baseFeed === null || !scale || check === null || pledges.length < collaterals.length) return null;
  const { basePrice, values } = yield* ask({
    basePrice: cometCalls.getPrice(contract, [baseFeed]),
    values: joinEach(pledges, ({ amount, feed, scale: unit }) =>
      cometCalls.getPrice(contract, [feed]).map((price) => price !== null && (amount * price) / unit),
    ),
  });
  if (!basePrice || values.some(([, value]) => value === false)) return null;
  const collateral = sum(values.map(([, value]) => value || 0n));
  const limit = sum(values.map(([{ factor }, value]) => (value || 0n) * factor));
  const market = COMPOUND_V3_MARKETS.get(at.chain.chainId)?.find(({ comet }) => comet === contract);
  const base = debts[0]?.contract ?? null;
  const perBase: Loan["unit"] = base && { asset: base, per: { units: basePrice, scale: PRICE_DECIMALS } };
  return {
    collateral: { units: collateral, scale: PRICE_DECIMALS },
    debt: { units: (owed * basePrice) / scale, scale: PRICE_DECIMALS },
    limit: { units: limit, scale: PRICE_DECIMALS + WAD_DECIMALS },
    unit: market === undefined ? null : market.isInDollars ? "usd" : perBase,
    liquidatable: check !== 0n,
  };
};

/**
 * Morpho Blue: the collateral at the price of the market's own oracle, times the market's liquidation loan-to-value.
 * Rounded as Morpho itself does when it decides whether an account is healthy.
 */
const readMorphoBlueLoan: LoanReader = function* ({ contract, market, positions }) {
  const id = market.split(":")[1] as Hex;
  if (contract === null) return null;
  const sumOf = (kind: "supplied" | "borrowed") =>
    sum(listAssets(positions, kind).map(({ rawBalance }) => rawBalance));
  const params = yield* ask(morphoCalls.idToMarketParams(contract, [id]));
  if (!params?.oracle) return null;
  const price = yield* ask(oraclePrice(params.oracle));
  if (price === null) return null;
  const value = (sumOf("supplied") * price) / 10n ** BigInt(ORACLE_SCALE);
  const { contract: asset = null, decimals = null } = listAssets(positions, "borrowed")[0] ?? {};
  const scale = decimals ?? 0;
  return {
    collateral: { units: value, scale },
    debt: { units: sumOf("borrowed"), scale },
    limit: { units: (value * params.liquidationRatio) / WAD, scale },
    unit: asset === null || decimals === null ? null : { asset, per: { units: 1n, scale: 0 } },
  };
};

const LIQUIDITY =
  "function accountLiquidityFull(address account, bool liquidation) view returns (address[] collaterals, uint256[] values, uint256 liability)";
const accountLiquidityFull = defineRead(LIQUIDITY, decodeLiquidity);
const unitOfAccount = defineRead("function unitOfAccount()", decodeAddress);
const ltvLiquidation = defineRead("function LTVLiquidation(address)", decodeWord);

/** The number of the dollar in ISO 4217, as an address. */
const DOLLAR: Hex = "0x0000000000000000000000000000000000000348";
const LTV_ONE = 10_000n;
// The vault controller lets an account enable ten.
const COLLATERALS_MAX = 20;

/** Euler: the borrowed vault's own liquidity of the account, at its liquidation loan-to-value ratios. */
const readEulerLoan: LoanReader = function* ({ contract: vault, market }) {
  const account = market.split(":")[1] as Hex;
  if (vault === null) return null;
  const { liquidity, unit } = yield* ask({
    liquidity: accountLiquidityFull(vault, [account, true]),
    unit: unitOfAccount(vault),
  });
  if (liquidity === null) return null;
  const counted = liquidity.collaterals.filter(({ limit }) => limit > 0n);
  const ratios = yield* ask(joinEach(counted, (collateral) => ltvLiquidation(vault, [collateral.vault])));
  if (ratios.some(([, ratio]) => !ratio)) return null;
  const values = ratios.map(([{ limit }, ratio]) => (limit * LTV_ONE) / (ratio ?? 1n));
  return {
    collateral: { units: sum(values), scale: WAD_DECIMALS },
    debt: { units: liquidity.liability, scale: WAD_DECIMALS },
    limit: { units: sum(counted.map(({ limit }) => limit)), scale: WAD_DECIMALS },
    unit: unit === DOLLAR ? "usd" : null,
  };
};

/** The limit of each collateral vault is its value at its liquidation ratio. */
function decodeLiquidity(data: Hex | null) {
  const result = data && nullIfMalformed(() => createSignatureCodec(LIQUIDITY).decodeResult(data));
  if (!result) return null;
  const [vaults, values, liability] = result;
  if (vaults.length !== values.length || vaults.length > COLLATERALS_MAX) return null;
  const collaterals = vaults.map((vault, index) => ({
    vault: vault.toLowerCase() as Hex,
    limit: values[index] ?? 0n,
  }));
  return { collaterals, liability };
}

export const LOAN_READERS: ReadonlyMap<string, LoanReader> = new Map([
  ["aave-v2", readAaveLoan],
  ["aave-v3", readAaveLoan],
  ["spark", readAaveLoan],
  ["compound-v2", readCompoundV2Loan],
  ["moonwell", readCompoundV2Loan],
  ["venus", readCompoundV2Loan],
  ["compound-v3", readCompoundV3Loan],
  ["morpho-blue", readMorphoBlueLoan],
  ["euler", readEulerLoan],
]);
