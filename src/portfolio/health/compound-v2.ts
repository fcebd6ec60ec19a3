// Compound v2, Moonwell and Venus: each entered market at the comptroller's oracle and factor, checked by its own view.
import { decodeAddress, decodeAddressArray, decodeWord, decodeWords } from "../../lib/abi/return-data.ts";
import type { Hex } from "../../lib/hex.ts";
import { createCallEncoder } from "../multicall.ts";
import type { Loan, LoanProbe, PrepareProbe } from "./loan.ts";

const oracle = createCallEncoder("function oracle() view returns (address)");
const getAssetsIn = createCallEncoder("function getAssetsIn(address) view returns (address[])");
const getAccountLiquidity = createCallEncoder("function getAccountLiquidity(address)");
const markets = createCallEncoder("function markets(address)");
const getAccountSnapshot = createCallEncoder("function getAccountSnapshot(address)");
const getUnderlyingPrice = createCallEncoder("function getUnderlyingPrice(address) view returns (uint256)");

const ACCOUNT_CALLS = 3;
const CALLS_PER_MARKET = 2;
const MARKETS_MAX = 200;
const LIQUIDITY_WORDS = 3;
const SNAPSHOT_WORDS = 4;
const WORD_DIGITS = 64;
const WAD_DECIMALS = 18;
const WAD = 10n ** 18n;
/** Oracles return dollars with 36 decimals less those of the underlying token. */
const VALUE_DECIMALS = 36;
// Comptrollers cut after each multiplication; a millionth of the limit is far above that and far below any real loan.
const TOLERANCE_PARTS = 1_000_000n;

type Part = {
  readonly market: Hex;
  readonly supplied: bigint;
  readonly borrowed: bigint;
  readonly threshold: bigint;
};

export const prepareCompoundV2: PrepareProbe = ({ contract: comptroller, positions }, { wallet }) => {
  if (comptroller === null) return null;
  const used = [...new Set(positions.flatMap(({ contract }) => (contract === null ? [] : [contract])))];
  return {
    calls: [
      ...[
        oracle(comptroller),
        getAssetsIn(comptroller, [wallet]),
        getAccountLiquidity(comptroller, [wallet]),
      ],
      ...used.flatMap((market) => [markets(comptroller, [market]), getAccountSnapshot(market, [wallet])]),
    ],
    decode(results) {
      const priceOracle = decodeAddress(results[0]);
      const entered = decodeAddressArray(results[1], MARKETS_MAX);
      const [error, liquidity, shortfall] = decodeWords(results[2], LIQUIDITY_WORDS) ?? [];
      if (priceOracle === null || entered === null || error !== 0n) return null;
      const parts = used.map((market, index) => {
        const own = results.slice(ACCOUNT_CALLS + index * CALLS_PER_MARKET);
        return decodePart(market, entered.includes(market), own);
      });
      const known = parts.filter((part) => part !== null);
      if (known.length < parts.length || liquidity === undefined || shortfall === undefined) return null;
      return readPrices(priceOracle, known, liquidity - shortfall);
    },
  };
};

/** Null when it could not be read. What the wallet has not entered secures nothing. */
function decodePart(market: Hex, isEntered: boolean, [data, snapshot]: readonly (Hex | null)[]): Part | null {
  // Listed, collateral factor, and in Venus the liquidation threshold; elsewhere a flag or nothing.
  const words = data ? decodeWords(data, Math.floor((data.length - 2) / WORD_DIGITS)) : null;
  const [, factor, third = 0n] = words ?? [];
  const [error, shares, borrowed, rate] = decodeWords(snapshot, SNAPSHOT_WORDS) ?? [];
  if (factor === undefined || error !== 0n || shares === undefined) return null;
  if (borrowed === undefined || rate === undefined) return null;
  const supplied = isEntered ? (shares * rate) / WAD : 0n;
  return { market, supplied, borrowed, threshold: third > 1n ? third : factor };
}

function readPrices(priceOracle: Hex, parts: readonly Part[], ownBalance: bigint): LoanProbe {
  return {
    calls: parts.map(({ market }) => getUnderlyingPrice(priceOracle, [market])),
    decode(results): Loan | null {
      const prices = results.map(decodeWord);
      if (prices.some((price) => !price)) return null;
      const total = (worth: (part: Part) => bigint) =>
        parts.reduce((sum, part, index) => sum + worth(part) * (prices[index] ?? 0n), 0n);
      const collateral = total(({ supplied }) => supplied);
      const debt = total(({ borrowed }) => borrowed);
      const limit = total(({ supplied, threshold }) => supplied * threshold);
      // The comptroller's balance has 18 decimals.
      const balance = limit / WAD - debt - ownBalance * WAD;
      const difference = balance < 0n ? -balance : balance;
      if (difference > (limit / WAD + debt) / TOLERANCE_PARTS) return null;
      return {
        collateral: { units: collateral, scale: VALUE_DECIMALS },
        debt: { units: debt, scale: VALUE_DECIMALS },
        limit: { units: limit, scale: VALUE_DECIMALS + WAD_DECIMALS },
        unit: "usd",
        liquidatable: ownBalance < 0n,
      };
    },
  };
}
