// Compound v2, Moonwell and Venus: each entered market at the comptroller's oracle and factor, checked by its own view.
import { decodeWords } from "../../lib/abi/return-data.ts";
import type { Hex } from "../../lib/hex.ts";
import { ask } from "../contract-reads/read-routines.ts";
import { defineRead, joinEach, joinReads, type Reads } from "../contract-reads/reads.ts";
import {
  comptrollerCalls,
  getUnderlyingPrice,
  marketCalls,
  PRICE_DECIMALS,
} from "../positions/compound-v2/contracts.ts";
import type { LoanReader } from "./loan.ts";

const WORD_DIGITS = 64;

/** Listed, collateral factor, and in Venus the liquidation threshold; elsewhere a flag or nothing. */
const markets = defineRead("function markets(address)", (data): readonly bigint[] | null =>
  data ? decodeWords(data, Math.floor((data.length - 2) / WORD_DIGITS)) : null,
);

const WAD_DECIMALS = 18;
const WAD = 10n ** 18n;
// Comptrollers cut after each multiplication; a millionth of the limit is far above that and far below any real loan.
const TOLERANCE_PARTS = 1_000_000n;

type Part = {
  readonly market: Hex;
  readonly supplied: bigint;
  readonly borrowed: bigint;
  readonly threshold: bigint;
};

export const readCompoundV2Loan: LoanReader = function* ({ contract: comptroller, positions }, { wallet }) {
  if (comptroller === null) return null;
  const used = [...new Set(positions.flatMap(({ contract }) => contract ?? []))];
  const read = yield* ask({
    oracle: comptrollerCalls.oracle(comptroller),
    entered: comptrollerCalls.getAssetsIn(comptroller, [wallet]),
    balance: comptrollerCalls.getAccountLiquidity(comptroller, [wallet]),
    parts: used.map((market) => declarePart(comptroller, market, wallet)),
  });
  const { oracle: priceOracle, entered, balance } = read;
  if (priceOracle === null || entered === null || balance === null || balance[0] !== 0n) return null;
  // A market that the wallet has not entered secures nothing.
  const parts = read.parts.flatMap((part) =>
    part ? [entered.includes(part.market) ? part : { ...part, supplied: 0n }] : [],
  );
  if (parts.length < used.length) return null;
  const prices = yield* ask(joinEach(parts, ({ market }) => getUnderlyingPrice(priceOracle, [market])));
  if (prices.some(([, price]) => !price)) return null;
  const total = (worth: (part: Part) => bigint) =>
    prices.reduce((sum, [part, price]) => sum + worth(part) * (price ?? 0n), 0n);
  const collateral = total(({ supplied }) => supplied);
  const debt = total(({ borrowed }) => borrowed);
  const limit = total(({ supplied, threshold }) => supplied * threshold);
  // The comptroller's balance has 18 decimals.
  const ownBalance = balance[1] - balance[2];
  const gap = limit / WAD - debt - ownBalance * WAD;
  if ((gap < 0n ? -gap : gap) > (limit / WAD + debt) / TOLERANCE_PARTS) return null;
  return {
    collateral: { units: collateral, scale: PRICE_DECIMALS },
    debt: { units: debt, scale: PRICE_DECIMALS },
    limit: { units: limit, scale: PRICE_DECIMALS + WAD_DECIMALS },
    unit: "usd",
    liquidatable: ownBalance < 0n,
  };
};

/** Null when it could not be read. */
function declarePart(comptroller: Hex, market: Hex, wallet: Hex): Reads<Part | null> {
  const group = {
    terms: markets(comptroller, [market]),
    snapshot: marketCalls.getAccountSnapshot(market, [wallet]),
  };
  return joinReads(group).map(({ terms, snapshot }) => {
    const [, factor, third = 0n] = terms ?? [];
    if (factor === undefined || snapshot === null || snapshot[0] !== 0n) return null;
    const [, shares, borrowed, rate] = snapshot;
    return { market, supplied: (shares * rate) / WAD, borrowed, threshold: third > 1n ? third : factor };
  });
}
