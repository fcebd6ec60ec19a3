// Compound v3: each collateral at the market's own price and liquidation factor, and the market's own check.
import { ask } from "../contract-reads/read-routines.ts";
import { joinEach } from "../contract-reads/reads.ts";
import { COMPOUND_V3_MARKETS, cometCalls, PRICE_DECIMALS } from "../positions/compound-v3/contracts.ts";
import type { Loan, LoanReader } from "./loan.ts";

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
