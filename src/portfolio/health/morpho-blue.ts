// Morpho Blue: the collateral at the price of the market's own oracle, times the market's liquidation loan-to-value.
import type { Hex } from "../../lib/hex.ts";
import { ask } from "../contract-reads/read-routines.ts";
import { morphoCalls, ORACLE_SCALE, oraclePrice, WAD } from "../positions/morpho-blue/contracts.ts";
import type { LoanReader } from "./loan.ts";

/** Rounded as Morpho itself does when it decides whether an account is healthy. */
export const readMorphoBlueLoan: LoanReader = function* ({ contract, market, positions }) {
  const id = market.split(":")[1] as Hex;
  if (contract === null) return null;
  const assetsOf = (kind: "supplied" | "borrowed") =>
    positions.filter((position) => position.kind === kind).flatMap(({ assets }) => assets);
  const sum = (kind: "supplied" | "borrowed") =>
    assetsOf(kind).reduce((total, { rawBalance }) => total + rawBalance, 0n);
  const params = yield* ask(morphoCalls.idToMarketParams(contract, [id]));
  if (!params?.oracle) return null;
  const price = yield* ask(oraclePrice(params.oracle));
  if (price === null) return null;
  const value = (sum("supplied") * price) / 10n ** BigInt(ORACLE_SCALE);
  const { contract: asset = null, decimals = null } = assetsOf("borrowed")[0] ?? {};
  const scale = decimals ?? 0;
  return {
    collateral: { units: value, scale },
    debt: { units: sum("borrowed"), scale },
    limit: { units: (value * params.liquidationRatio) / WAD, scale },
    unit: asset === null || decimals === null ? null : { asset, per: { units: 1n, scale: 0 } },
  };
};
