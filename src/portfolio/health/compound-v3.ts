// Compound v3: each collateral at the market's own price and liquidation factor, and the market's own check.
import { decodeAddress, decodeWord, wordToAddress } from "../../lib/abi/return-data.ts";
import { ask } from "../contract-reads/read-routines.ts";
import { defineRead, joinEach, toWords } from "../contract-reads/reads.ts";
import { COMPOUND_V3_MARKETS } from "../positions/compound-v3/markets.ts";
import type { Loan, LoanReader } from "./loan.ts";

/** The feed, the scale and the liquidation factor are the third, the fourth and the sixth word. */
const getAssetInfoByAddress = defineRead("function getAssetInfoByAddress(address)", toWords(8));
const baseTokenPriceFeed = defineRead("function baseTokenPriceFeed()", decodeAddress);
const baseScale = defineRead("function baseScale()", decodeWord);
const isLiquidatable = defineRead("function isLiquidatable(address)", decodeWord);
const getPrice = defineRead("function getPrice(address)", decodeWord);

const PRICE_DECIMALS = 8;
const FACTOR_DECIMALS = 18;

export const readCompoundV3Loan: LoanReader = function* ({ contract, positions }, { at, wallet }) {
  if (contract === null) return null;
  // A supply of the base asset secures nothing: it is the receipt token's position.
  const collaterals = positions
    .filter(({ kind, receiptTokens }) => kind === "supplied" && receiptTokens.length === 0)
    .flatMap(({ assets }) => assets);
  const debts = positions.filter(({ kind }) => kind === "borrowed").flatMap(({ assets }) => assets);
  const owed = debts.reduce((sum, { rawBalance }) => sum + rawBalance, 0n);
  const read = yield* ask({
    baseFeed: baseTokenPriceFeed(contract),
    scale: baseScale(contract),
    check: isLiquidatable(contract, [wallet]),
    infos: joinEach(collaterals, (asset) => getAssetInfoByAddress(contract, [asset.contract])),
  });
  const { baseFeed, scale, check } = read;
  const pledges = read.infos.flatMap(([{ rawBalance }, info]) => {
    const feed = wordToAddress(info?.[2]);
    return info && feed && info[3] ? [{ amount: rawBalance, feed, scale: info[3], factor: info[5] }] : [];
  });
  if (baseFeed === null || !scale || check === null || pledges.length < collaterals.length) return null;
  const { basePrice, values } = yield* ask({
    basePrice: getPrice(contract, [baseFeed]),
    values: joinEach(pledges, ({ amount, feed, scale: unit }) =>
      getPrice(contract, [feed]).map((price) => price !== null && (amount * price) / unit),
    ),
  });
  if (!basePrice || values.some(([, value]) => value === false)) return null;
  const sum = (worth: (value: bigint, factor: bigint) => bigint) =>
    values.reduce((total, [{ factor }, value]) => total + worth(value || 0n, factor), 0n);
  const market = COMPOUND_V3_MARKETS.get(at.chain.chainId)?.find(({ comet }) => comet === contract);
  const base = debts[0]?.contract ?? null;
  const perBase: Loan["unit"] = base && { asset: base, per: { units: basePrice, scale: PRICE_DECIMALS } };
  return {
    collateral: { units: sum((value) => value), scale: PRICE_DECIMALS },
    debt: { units: (owed * basePrice) / scale, scale: PRICE_DECIMALS },
    limit: { units: sum((value, factor) => value * factor), scale: PRICE_DECIMALS + FACTOR_DECIMALS },
    unit: market === undefined ? null : market.isInDollars ? "usd" : perBase,
    liquidatable: check !== 0n,
  };
};
