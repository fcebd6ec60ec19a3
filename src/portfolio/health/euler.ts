// Euler: the borrowed vault's own liquidity of the account, at its liquidation loan-to-value ratios.
import { createSignatureCodec } from "../../lib/abi/codec.ts";
import { decodeAddress, decodeWord } from "../../lib/abi/return-data.ts";
import { MalformedAbiError } from "../../lib/abi/words.ts";
import type { Hex } from "../../lib/hex.ts";
import { ask } from "../contract-reads/read-routines.ts";
import { defineRead, joinEach } from "../contract-reads/reads.ts";
import type { LoanReader } from "./loan.ts";

const LIQUIDITY =
  "function accountLiquidityFull(address account, bool liquidation) view returns (address[] collaterals, uint256[] values, uint256 liability)";
const accountLiquidityFull = defineRead(LIQUIDITY, decodeLiquidity);
const unitOfAccount = defineRead("function unitOfAccount()", decodeAddress);
const ltvLiquidation = defineRead("function LTVLiquidation(address)", decodeWord);

/** The number of the dollar in ISO 4217, as an address. */
const DOLLAR: Hex = "0x0000000000000000000000000000000000000348";
const VALUE_DECIMALS = 18;
const LTV_ONE = 10_000n;
// The vault controller lets an account enable ten.
const COLLATERALS_MAX = 20;

export const readEulerLoan: LoanReader = function* ({ contract: vault, market }) {
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
  const sum = (values: readonly bigint[]) => ({
    units: values.reduce((total, value) => total + value, 0n),
    scale: VALUE_DECIMALS,
  });
  return {
    collateral: sum(ratios.map(([{ limit }, ratio]) => (limit * LTV_ONE) / (ratio ?? 1n))),
    debt: sum([liquidity.liability]),
    limit: sum(counted.map(({ limit }) => limit)),
    unit: unit === DOLLAR ? "usd" : null,
  };
};

type Liquidity = {
  readonly collaterals: readonly { readonly vault: Hex; readonly limit: bigint }[];
  readonly liability: bigint;
};

function decodeLiquidity(data: Hex | null): Liquidity | null {
  if (!data) return null;
  try {
    const [vaults, values, liability] = createSignatureCodec(LIQUIDITY).decodeResult(data);
    if (vaults.length !== values.length || vaults.length > COLLATERALS_MAX) return null;
    return {
      collaterals: vaults.map((vault, index) => ({
        vault: vault.toLowerCase() as Hex,
        limit: values[index] ?? 0n,
      })),
      liability,
    };
  } catch (error) {
    if (error instanceof MalformedAbiError) return null;
    throw error;
  }
}
