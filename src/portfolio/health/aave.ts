// Aave, its older version and Spark: the pool's own account data, which includes e-mode.
import { decodeWords } from "../../lib/abi/return-data.ts";
import { createCallEncoder } from "../multicall.ts";
import { AAVE_V2_MARKETS } from "../positions/aave-v3/markets.ts";
import type { Loan, PrepareProbe } from "./loan.ts";

const getUserAccountData = createCallEncoder("function getUserAccountData(address)");

const ACCOUNT_WORDS = 6;
const USD_DECIMALS = 8;
const ETHER_DECIMALS = 18;
const THRESHOLD_DECIMALS = 4;
const FACTOR_DECIMALS = 18;

export const prepareAave: PrepareProbe = ({ protocol, contract }, { at, wallet }) => {
  if (contract === null) return null;
  const isV2 = protocol === "aave-v2";
  const scale = isV2 ? ETHER_DECIMALS : USD_DECIMALS;
  return {
    calls: [getUserAccountData(contract, [wallet])],
    decode([data]) {
      const [collateral, debt, , threshold, , factor] = decodeWords(data, ACCOUNT_WORDS) ?? [];
      if (collateral === undefined || debt === undefined || threshold === undefined || factor === undefined) {
        return null;
      }
      const market = AAVE_V2_MARKETS.get(at.chain.chainId)?.find(({ pool }) => pool === contract);
      const quote = market?.quote;
      const unit: Loan["unit"] = isV2
        ? quote === undefined
          ? null
          : { asset: quote, per: { units: 1n, scale: 0 } }
        : "usd";
      return {
        collateral: { units: collateral, scale },
        debt: { units: debt, scale },
        limit: { units: collateral * threshold, scale: scale + THRESHOLD_DECIMALS },
        unit,
        healthFactor: { units: factor, scale: FACTOR_DECIMALS },
      };
    },
  };
};
