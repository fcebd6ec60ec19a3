// Compound v3: each collateral at the market's own price and liquidation factor, and the market's own check.
import { decodeAddress, decodeWord, decodeWords, wordToAddress } from "../../lib/abi/return-data.ts";
import type { Hex } from "../../lib/hex.ts";
import { createCallEncoder } from "../multicall.ts";
import { COMPOUND_V3_MARKETS } from "../positions/compound-v3/markets.ts";
import type { Loan, LoanProbe, PrepareProbe } from "./loan.ts";

const getAssetInfoByAddress = createCallEncoder("function getAssetInfoByAddress(address)");
const baseTokenPriceFeed = createCallEncoder("function baseTokenPriceFeed() view returns (address)");
const baseScale = createCallEncoder("function baseScale() view returns (uint256)");
const isLiquidatable = createCallEncoder("function isLiquidatable(address) view returns (bool)");
const getPrice = createCallEncoder("function getPrice(address) view returns (uint256)");

const MARKET_CALLS = 3;
const INFO = { words: 8, feed: 2, scale: 3, liquidateFactor: 5 } as const;
const PRICE_DECIMALS = 8;
const FACTOR_DECIMALS = 18;

type Pledge = {
  readonly amount: bigint;
  readonly feed: Hex;
  readonly scale: bigint;
  readonly factor: bigint;
};

export const prepareCompoundV3: PrepareProbe = ({ contract, positions }, { at, wallet }) => {
  if (contract === null) return null;
  // What is supplied of the base asset secures nothing: it is the receipt token's position.
  const collaterals = positions
    .filter(({ kind, receiptTokens }) => kind === "supplied" && receiptTokens.length === 0)
    .flatMap(({ assets }) => assets);
  const debts = positions.filter(({ kind }) => kind === "borrowed").flatMap(({ assets }) => assets);
  const owed = debts.reduce((sum, { rawBalance }) => sum + rawBalance, 0n);
  const market = COMPOUND_V3_MARKETS.get(at.chain.chainId)?.find(({ comet }) => comet === contract);
  return {
    calls: [
      ...[baseTokenPriceFeed(contract), baseScale(contract), isLiquidatable(contract, [wallet])],
      ...collaterals.map(({ contract: asset }) => getAssetInfoByAddress(contract, [asset])),
    ],
    decode(results) {
      const [baseFeed, scale, check] = [
        decodeAddress(results[0]),
        decodeWord(results[1]),
        decodeWord(results[2]),
      ];
      const pledges = collaterals.map(({ rawBalance }, index): Pledge | null => {
        const words = decodeWords(results[MARKET_CALLS + index], INFO.words);
        const feed = wordToAddress(words?.[INFO.feed]);
        const [unit, factor] = [words?.[INFO.scale], words?.[INFO.liquidateFactor]];
        if (!feed || !unit || factor === undefined) return null;
        return { amount: rawBalance, feed, scale: unit, factor };
      });
      const known = pledges.filter((pledge) => pledge !== null);
      if (baseFeed === null || !scale || check === null || known.length < pledges.length) return null;
      const base = { amount: owed, feed: baseFeed, scale, asset: debts[0]?.contract ?? null };
      return readPrices(contract, known, base, {
        liquidatable: check !== 0n,
        isInDollars: market?.isInDollars ?? null,
      });
    },
  };
};

type Base = Omit<Pledge, "factor"> & { readonly asset: Hex | null };

function readPrices(
  comet: Hex,
  pledges: readonly Pledge[],
  base: Base,
  { liquidatable, isInDollars }: { readonly liquidatable: boolean; readonly isInDollars: boolean | null },
): LoanProbe {
  return {
    calls: [base, ...pledges].map(({ feed }) => getPrice(comet, [feed])),
    decode(results) {
      const [basePrice, ...prices] = results.map(decodeWord);
      if (!basePrice || prices.some((price) => price === null)) return null;
      const worth = ({ amount, scale }: Omit<Pledge, "factor">, price: bigint) => (amount * price) / scale;
      const values = pledges.map((pledge, index) => worth(pledge, prices[index] ?? 0n));
      const limit = pledges.reduce((sum, { factor }, index) => sum + (values[index] ?? 0n) * factor, 0n);
      const perBase = { units: basePrice, scale: PRICE_DECIMALS };
      const unit: Loan["unit"] =
        isInDollars === null || isInDollars
          ? isInDollars && "usd"
          : base.asset && { asset: base.asset, per: perBase };
      return {
        collateral: { units: values.reduce((sum, value) => sum + value, 0n), scale: PRICE_DECIMALS },
        debt: { units: worth(base, basePrice), scale: PRICE_DECIMALS },
        limit: { units: limit, scale: PRICE_DECIMALS + FACTOR_DECIMALS },
        unit: unit || null,
        liquidatable,
      };
    },
  };
}
