// The difference of snapshots: it leads from one to the other, and its parts add up to the last digit.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { walletArbitrary } from "../../../tests/support/portfolio/arbitrary-wallet.ts";
import {
  ETHER_ASSET,
  makeChainConfig,
  makeChainData,
  makeHolding,
  makeListedToken,
  makePosition,
  makePrices,
  makeSnapshot,
} from "../../../tests/support/portfolio/portfolio-parts.ts";
import { runsOf } from "../../../tests/support/test-depth.ts";
import { parseDecimal } from "../../lib/decimal.ts";
import type { ValueChange } from "../../schema/portfolio/diff.ts";
import { quotePrice } from "../types.ts";
import type { ChainData } from "../valuation/snapshot-data.ts";
import { applyDiff } from "./apply-diff.ts";
import { diffFigures } from "./diff-snapshots.ts";
import { addUsd, extractFigures } from "./figures.ts";

const usdc = makeListedToken(1, "USDC", 6);
const base = makeChainConfig("base", 8453, [usdc]);
const ETHER = 10n ** 18n;
const RUNS = runsOf(100, { min: 25 });

const figuresOf = (...chains: readonly ChainData[]) => extractFigures(makeSnapshot(...chains));
const diffOf = (a: Partial<ChainData>, b: Partial<ChainData>) =>
  diffFigures(figuresOf(makeChainData(base, a)), figuresOf(makeChainData(base, b)));
const parts = ({ changeUsd, quantityUsd, priceUsd }: ValueChange) => [changeUsd, quantityUsd, priceUsd];

/** Two wallets on the same chains, in the same order. */
const twoWallets = fc
  .tuple(walletArbitrary, walletArbitrary)
  .map(([a, b]) => {
    const slugs = b.map(({ chain }) => chain.slug);
    const shared = a.filter(({ chain }) => slugs.includes(chain.slug));
    const others = shared.map(({ chain }) => b.find((data) => data.chain.slug === chain.slug));
    return [shared, others] as [ChainData[], ChainData[]];
  })
  .filter(([a]) => a.length > 0);

describe("a difference", () => {
  it("a difference applied to the first snapshot gives the second", () => {
    fc.assert(
      fc.property(twoWallets, ([a, b]) => {
        const [before, after] = [figuresOf(...a), figuresOf(...b)];
        const diff = { ...diffFigures(before, after), timestamp: after.timestamp };
        expect(applyDiff(before, diff)).toEqual(after);
        expect(JSON.stringify(applyDiff(before, diff))).toBe(JSON.stringify(after));
      }),
      { numRuns: RUNS },
    );
  });

  it("the parts of a difference add up exactly for every entry, chain and total", () => {
    fc.assert(
      fc.property(twoWallets, ([a, b]) => {
        const [before, after] = [figuresOf(...a), figuresOf(...b)];
        const { tokens, positions, chains, total } = diffFigures(before, after);
        for (const { changeUsd, quantityUsd, priceUsd } of [
          ...tokens,
          ...positions,
          ...positions.flatMap(({ assets }) => assets),
        ]) {
          expect(priceUsd === null).toBe(quantityUsd === null);
          if (changeUsd === null) expect(quantityUsd).toBeNull();
          if (quantityUsd !== null) expect(addUsd(quantityUsd, priceUsd)).toBe(changeUsd);
        }
        for (const { beforeUsd, afterUsd, changeUsd, quantityUsd, priceUsd, otherUsd } of [
          total,
          ...chains,
        ]) {
          expect(addUsd(beforeUsd, changeUsd)).toBe(changeUsd === null ? null : afterUsd);
          expect(addUsd(addUsd(quantityUsd, priceUsd), otherUsd)).toBe(changeUsd);
        }
        for (const token of tokens) {
          const known = token.before?.valueUsd ?? (token.before === null ? "0" : null);
          const now = token.after?.valueUsd ?? (token.after === null ? "0" : null);
          if (token.changeUsd !== null) expect(addUsd(known, token.changeUsd)).toBe(now);
        }
      }),
      { numRuns: RUNS },
    );
  });

  it("finds no difference between a snapshot and itself", () => {
    fc.assert(
      fc.property(walletArbitrary, (chains) => {
        const figures = figuresOf(...chains);
        expect(diffFigures(figures, figures)).toMatchObject({ tokens: [], positions: [], unknownCount: 0 });
      }),
      { numRuns: RUNS },
    );
  });

  it("rejects applying a difference to figures that it does not start from", () => {
    const [a, b] = [{ holdings: [makeHolding(usdc, 1n)] }, { holdings: [makeHolding(usdc, 2n)] }];
    const diff = { ...diffOf(a, b), timestamp: "2026-01-01T00:00:00.000Z" };
    const other = figuresOf(makeChainData(base, { holdings: [makeHolding(usdc, 3n)] }));
    expect(() => applyDiff(other, diff)).toThrow(/does not start from these figures/);
  });
});

describe("the split", () => {
  const ether = (amount: bigint, price: string): Partial<ChainData> => ({
    holdings: [makeHolding(ETHER_ASSET, amount)],
    prices: makePrices({ native: price }),
  });

  it("values the change of the balance at the price before, and leaves the rest to the price", () => {
    const { tokens, total } = diffOf(ether(2n * ETHER, "3000"), ether(3n * ETHER, "3100"));
    expect(tokens.map(parts)).toEqual([["3300", "3000", "300"]]);
    expect(total).toEqual({
      ...{ beforeUsd: "6000", afterUsd: "9300", changeUsd: "3300" },
      ...{ quantityUsd: "3000", priceUsd: "300", otherUsd: "0" },
    });
  });

  it("puts all change on the price if the balance stays, and on the quantity if the price does", () => {
    expect(diffOf(ether(ETHER, "3000"), ether(ETHER, "2900")).tokens.map(parts)).toEqual([
      ["-100", "0", "-100"],
    ]);
    expect(diffOf(ether(ETHER, "3000"), ether(3n * ETHER, "3000")).tokens.map(parts)).toEqual([
      ["6000", "6000", "0"],
    ]);
  });

  it("puts all change on the quantity for a token that came or went", () => {
    expect(diffOf({}, ether(ETHER, "3000")).tokens.map(parts)).toEqual([["3000", "3000", "0"]]);
    expect(diffOf(ether(ETHER, "3000"), {}).tokens.map(parts)).toEqual([["-3000", "-3000", "0"]]);
  });

  it("counts an asset unpriced on one side as unknown, and totals what cannot be split", () => {
    const unpriced = {
      holdings: [makeHolding(ETHER_ASSET, ETHER), makeHolding(usdc, 5_000_000n)],
      prices: makePrices({ [usdc.contract]: "1" }),
    };
    const priced = { ...unpriced, prices: makePrices({ [usdc.contract]: "1", native: "3000" }) };
    const { tokens, total, unknownCount } = diffOf(unpriced, priced);
    expect(tokens.map(parts)).toEqual([[null, null, null]]);
    expect(unknownCount).toBe(1);
    expect([...parts(total), total.otherUsd]).toEqual(["3000", "0", "0", "3000"]);
  });

  it("splits no change of a balance that markets could not pay for", () => {
    const limited = (amount: bigint): Partial<ChainData> => ({
      holdings: [makeHolding(usdc, amount)],
      prices: new Map([
        [
          usdc.contract,
          {
            ...quotePrice({ units: 1n, scale: 0 }, { payableUsdMax: { units: 1_000n, scale: 0 } }),
            source: "pools",
          },
        ],
      ]),
    });
    const { tokens, total } = diffOf(limited(500_000_000n), limited(10n ** 24n));
    expect(tokens.map(parts)).toEqual([["500", null, null]]);
    expect(total).toMatchObject({ changeUsd: "500", quantityUsd: "0", priceUsd: "0", otherUsd: "500" });
  });

  it("counts a growing debt as a negative change", () => {
    const owing = (amount: bigint, price: string): Partial<ChainData> => ({
      positions: [
        makePosition({
          protocol: "Lend",
          kind: "supplied",
          market: "m",
          assets: [makeHolding(ETHER_ASSET, 10n * ETHER)],
        }),
        makePosition({
          protocol: "Lend",
          kind: "borrowed",
          market: "m",
          assets: [makeHolding(usdc, amount)],
        }),
      ],
      prices: makePrices({ native: price, [usdc.contract]: "1" }),
    });
    const { positions, total } = diffOf(owing(100_000_000n, "3000"), owing(150_000_000n, "2900"));
    expect(positions.map(({ kind, ...change }) => [kind, ...parts(change)])).toEqual([
      ["borrowed", "-50", "-50", "0"],
      ["supplied", "-1000", "0", "-1000"],
    ]);
    expect(parts(total)).toEqual(["-1050", "-50", "-1000"]);
  });

  it("splits a change exactly although values are rounded", () => {
    fc.assert(
      fc.property(
        fc.bigInt(0n, 10n ** 30n),
        fc.bigInt(0n, 10n ** 30n),
        fc.bigInt(1n, 10n ** 12n),
        fc.bigInt(1n, 10n ** 12n),
        (a, b, p, q) => {
          const price = (units: bigint) =>
            `${units / 10n ** 9n}.${String(units % 10n ** 9n).padStart(9, "0")}`;
          const [change] = diffOf(ether(a + 1n, price(p)), ether(b + 1n, price(q))).tokens;
          if (change === undefined) return;
          const exact = (b - a) * p;
          const quantity = parseDecimal(change.quantityUsd ?? "", "quantity");
          // 18 decimals of the balance and 9 of the price: within half of the sixth decimal.
          const shown = quantity.units * 10n ** BigInt(27 - quantity.scale);
          expect(2n * (shown > exact ? shown - exact : exact - shown)).toBeLessThanOrEqual(10n ** 21n);
        },
      ),
    );
  });
});
