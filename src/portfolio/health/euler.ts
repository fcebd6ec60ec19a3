// Euler: the borrowed vault's own liquidity of the account, at its liquidation loan-to-value ratios.
import { createSignatureCodec } from "../../lib/abi/codec.ts";
import { decodeAddress, decodeWord } from "../../lib/abi/return-data.ts";
import { MalformedAbiError } from "../../lib/abi/words.ts";
import type { Hex } from "../../lib/hex.ts";
import { createCallEncoder } from "../multicall.ts";
import type { LoanProbe, PrepareProbe } from "./loan.ts";

const LIQUIDITY =
  "function accountLiquidityFull(address account, bool liquidation) view returns (address[] collaterals, uint256[] values, uint256 liability)";
const accountLiquidityFull = createCallEncoder(LIQUIDITY);
const unitOfAccount = createCallEncoder("function unitOfAccount() view returns (address)");
const ltvLiquidation = createCallEncoder("function LTVLiquidation(address) view returns (uint16)");

/** The number of the dollar in ISO 4217, as an address. */
const DOLLAR: Hex = "0x0000000000000000000000000000000000000348";
const VALUE_DECIMALS = 18;
const LTV_ONE = 10_000n;
// The vault controller lets an account enable ten.
const COLLATERALS_MAX = 20;

export const prepareEuler: PrepareProbe = ({ contract: vault, market }) => {
  const account = market.split(":")[1] as Hex;
  if (vault === null) return null;
  return {
    calls: [accountLiquidityFull(vault, [account, true]), unitOfAccount(vault)],
    decode([data, unit]) {
      const liquidity = decodeLiquidity(data);
      return liquidity && readRatios(vault, liquidity, decodeAddress(unit) === DOLLAR);
    },
  };
};

type Liquidity = {
  readonly collaterals: readonly { readonly vault: Hex; readonly limit: bigint }[];
  readonly liability: bigint;
};

function decodeLiquidity(data: Hex | null | undefined): Liquidity | null {
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

function readRatios(vault: Hex, { collaterals, liability }: Liquidity, isInDollars: boolean): LoanProbe {
  const counted = collaterals.filter(({ limit }) => limit > 0n);
  return {
    calls: counted.map((collateral) => ltvLiquidation(vault, [collateral.vault])),
    decode(results) {
      const ratios = results.map(decodeWord);
      if (ratios.some((ratio) => !ratio)) return null;
      const scale = VALUE_DECIMALS;
      return {
        collateral: {
          units: counted.reduce(
            (sum, { limit }, index) => sum + (limit * LTV_ONE) / (ratios[index] ?? 1n),
            0n,
          ),
          scale,
        },
        debt: { units: liability, scale },
        limit: { units: counted.reduce((sum, { limit }) => sum + limit, 0n), scale },
        unit: isInDollars ? "usd" : null,
      };
    },
  };
}
