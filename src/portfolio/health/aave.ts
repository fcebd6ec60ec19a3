// Aave, its older version and Spark: the pool's own account data, which includes e-mode.
import { ask } from "../contract-reads/read-routines.ts";
import { defineRead, toWords } from "../contract-reads/reads.ts";
import { AAVE_V2_MARKETS } from "../positions/aave-v3/markets.ts";
import type { Loan, LoanReader } from "./loan.ts";

/** Collateral, debt, what can still be borrowed, threshold, loan to value, health factor. */
export const getUserAccountData = defineRead("function getUserAccountData(address)", toWords(6));

const USD_DECIMALS = 8;
const ETHER_DECIMALS = 18;
const THRESHOLD_DECIMALS = 4;
const FACTOR_DECIMALS = 18;

export const readAaveLoan: LoanReader = function* ({ protocol, contract }, { at, wallet }) {
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
    healthFactor: { units: factor, scale: FACTOR_DECIMALS },
  };
};
