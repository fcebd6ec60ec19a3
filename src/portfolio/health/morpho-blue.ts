// Morpho Blue: the collateral at the price of the market's own oracle, times the market's liquidation loan-to-value.
import { decodeWord, wordToAddress } from "../../lib/abi/return-data.ts";
import type { Hex } from "../../lib/hex.ts";
import { ask } from "../contract-reads/read-routines.ts";
import { defineRead, toWords } from "../contract-reads/reads.ts";
import type { LoanReader } from "./loan.ts";

// Anyone may create a market with an oracle of their own.
const ORACLE_GAS_MAX = 500_000;
const ORACLE_SCALE = 10n ** 36n;
const WAD = 10n ** 18n;

/** Loan asset, collateral asset, oracle, interest rate model, liquidation loan-to-value. */
const idToMarketParams = defineRead("function idToMarketParams(bytes32)", toWords(5));
const price = defineRead("function price()", decodeWord, ORACLE_GAS_MAX);

/** Rounded as Morpho itself does when it decides whether an account is healthy. */
export const readMorphoBlueLoan: LoanReader = function* ({ contract, market, positions }) {
  const id = market.split(":")[1] as Hex;
  if (contract === null) return null;
  const assetsOf = (kind: "supplied" | "borrowed") =>
    positions.filter((position) => position.kind === kind).flatMap(({ assets }) => assets);
  const sum = (kind: "supplied" | "borrowed") =>
    assetsOf(kind).reduce((total, { rawBalance }) => total + rawBalance, 0n);
  const params = yield* ask(idToMarketParams(contract, [id]));
  const oracle = wordToAddress(params?.[2]);
  if (params === null || oracle === null) return null;
  const oraclePrice = yield* ask(price(oracle));
  if (oraclePrice === null) return null;
  const value = (sum("supplied") * oraclePrice) / ORACLE_SCALE;
  const { contract: asset = null, decimals = null } = assetsOf("borrowed")[0] ?? {};
  const scale = decimals ?? 0;
  return {
    collateral: { units: value, scale },
    debt: { units: sum("borrowed"), scale },
    limit: { units: (value * params[4]) / WAD, scale },
    unit: asset === null || decimals === null ? null : { asset, per: { units: 1n, scale: 0 } },
  };
};
