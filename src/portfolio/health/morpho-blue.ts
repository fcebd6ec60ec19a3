// Morpho Blue: the collateral at the price of the market's own oracle, times the market's liquidation loan-to-value.
import { decodeWord, decodeWords, wordToAddress } from "../../lib/abi/return-data.ts";
import type { Hex } from "../../lib/hex.ts";
import { createCallEncoder } from "../multicall.ts";
import type { Loan, LoanProbe, PrepareProbe } from "./loan.ts";

const idToMarketParams = createCallEncoder("function idToMarketParams(bytes32)");
const price = createCallEncoder("function price() view returns (uint256)");

// Anyone may create a market with an oracle of their own.
const ORACLE_GAS_MAX = 500_000;
const PARAMS = { words: 5, loan: 0, oracle: 2, lltv: 4 } as const;
const ORACLE_SCALE = 10n ** 36n;
const WAD = 10n ** 18n;

export const prepareMorphoBlue: PrepareProbe = ({ contract, market, positions }) => {
  const id = market.split(":")[1] as Hex;
  if (contract === null) return null;
  const sum = (kind: "supplied" | "borrowed") =>
    positions
      .filter((position) => position.kind === kind)
      .flatMap(({ assets }) => assets)
      .reduce((total, { rawBalance }) => total + rawBalance, 0n);
  const loan = positions.find(({ kind }) => kind === "borrowed")?.assets[0];
  const amounts = { collateral: sum("supplied"), debt: sum("borrowed") };
  return {
    calls: [idToMarketParams(contract, [id])],
    decode([result]) {
      const words = decodeWords(result, PARAMS.words);
      const [oracle, lltv] = [wordToAddress(words?.[PARAMS.oracle]), words?.[PARAMS.lltv]];
      if (oracle === null || lltv === undefined) return null;
      return readPrice(oracle, lltv, {
        ...amounts,
        asset: loan?.contract ?? null,
        decimals: loan?.decimals ?? null,
      });
    },
  };
};

type Amounts = {
  readonly collateral: bigint;
  readonly debt: bigint;
  /** What is borrowed. */
  readonly asset: Hex | null;
  readonly decimals: number | null;
};

/** Rounded as Morpho itself does when it decides whether an account is healthy. */
function readPrice(oracle: Hex, lltv: bigint, { collateral, debt, asset, decimals }: Amounts): LoanProbe {
  return {
    calls: [price(oracle, [], ORACLE_GAS_MAX)],
    decode([result]): Loan | null {
      const oraclePrice = decodeWord(result);
      if (oraclePrice === null) return null;
      const value = (collateral * oraclePrice) / ORACLE_SCALE;
      const scale = decimals ?? 0;
      return {
        collateral: { units: value, scale },
        debt: { units: debt, scale },
        limit: { units: (value * lltv) / WAD, scale },
        unit: asset === null || decimals === null ? null : { asset, per: { units: 1n, scale: 0 } },
      };
    },
  };
}
