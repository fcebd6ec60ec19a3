// Any wallet: values match an exact model with fractions, totals and counts add up, and the order is stable.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { walletArbitrary as wallet } from "../../../tests/support/portfolio/arbitrary-wallet.ts";
import { makeSnapshot, numberedContract } from "../../../tests/support/portfolio/portfolio-parts.ts";
import { runsOf } from "../../../tests/support/test-depth.ts";
import type { Decimal } from "../../lib/decimal.ts";
import type { PortfolioAsset, PortfolioPosition } from "../../schema/portfolio/snapshot.ts";
import { type AssetKey, type AssetPrice, getAssetKey } from "../types.ts";
import type { ChainData } from "./snapshot-data.ts";
import { excludeSpam } from "./value-snapshot.ts";

const RUNS = runsOf(100, { min: 25 });

/** `numerator / denominator` with at most `digits` decimals, rounded half away from zero, digit by digit. */
function formatFraction(numerator: bigint, denominator: bigint, digits: number): string {
  const magnitude = numerator < 0n ? -numerator : numerator;
  let remaining = (magnitude * 2n * 10n ** BigInt(digits) + denominator) / (2n * denominator);
  let fraction = "";
  for (let digit = 0; digit < digits; digit += 1) {
    if (fraction !== "" || remaining % 10n !== 0n) fraction = `${remaining % 10n}${fraction}`;
    remaining /= 10n;
  }
  const text = fraction === "" ? `${remaining}` : `${remaining}.${fraction}`;
  return numerator < 0n && text !== "0" ? `-${text}` : text;
}

/** A decimal text in millionths. */
function micros(text: string): bigint {
  const [whole = "", fraction = ""] = text.replace("-", "").split(".");
  const magnitude = BigInt(whole) * 1_000_000n + BigInt(fraction.padEnd(6, "0"));
  return text.startsWith("-") ? -magnitude : magnitude;
}

function sumValues(values: readonly (string | null)[]): string | null {
  const known = values.filter((value) => value !== null);
  if (values.length > 0 && known.length === 0) return null;
  return formatFraction(
    known.map(micros).reduce((a, b) => a + b, 0n),
    1_000_000n,
    6,
  );
}

/** The value without any limit, in millionths. */
function fullValue(asset: PortfolioAsset, { units, scale }: Decimal, sign: bigint): bigint {
  const unit = 10n ** BigInt(asset.decimals ?? 0);
  return micros(formatFraction(sign * BigInt(asset.rawBalance) * units, unit * 10n ** BigInt(scale), 6));
}

function expectExact(asset: PortfolioAsset, found: AssetPrice | undefined, sign: bigint): void {
  const raw = BigInt(asset.rawBalance);
  if (asset.decimals === null) {
    expect([asset.balance, asset.valueUsd]).toEqual([null, null]);
    return;
  }
  const unit = 10n ** BigInt(asset.decimals);
  expect(asset.balance).toBe(formatFraction(raw, unit, asset.decimals));
  if (!found) {
    expect([asset.priceUsd, asset.valueUsd]).toEqual([null, null]);
    return;
  }
  const { units, scale } = found.usd;
  expect(asset.priceUsd).toBe(formatFraction(units, 10n ** BigInt(scale), scale));
  const full = fullValue(asset, found.usd, sign);
  if (found.payableUsdMax === null || sign < 0n) expect(micros(asset.valueUsd ?? "")).toBe(full);
  else expect(micros(asset.valueUsd ?? "")).toBeLessThanOrEqual(full);
}

/** The price of each asset as the data has it: of a source, else of the market; found by position and place. */
function priceFinder(chains: readonly ChainData[]) {
  const dataOf = (chain: string) => chains.find((data) => data.chain.slug === chain);
  const sourced = (chain: string, { contract }: PortfolioAsset) =>
    dataOf(chain)?.prices.get(contract ?? "native");
  const inPosition = ({ chain, name }: PortfolioPosition, asset: PortfolioAsset) =>
    sourced(chain, asset) ??
    dataOf(chain)
      ?.positions.find((position) => position.name === name)
      ?.assets.find(({ contract }) => contract === asset.contract)?.marketPrice ??
    undefined;
  return { sourced, inPosition };
}

describe("any wallet", () => {
  it("values any wallet exactly", () => {
    fc.assert(
      fc.property(wallet, (chains) => {
        const { tokens, positions } = makeSnapshot(...chains);
        const prices = priceFinder(chains);
        for (const token of tokens) {
          // Spam has no price, whatever a source says.
          expectExact(token, token.spam ? undefined : prices.sourced(token.chain, token), 1n);
        }
        for (const position of positions) {
          const { kind, assets, valueUsd, partial } = position;
          for (const asset of assets)
            expectExact(asset, prices.inPosition(position, asset), kind === "borrowed" ? -1n : 1n);
          const values = assets.map((asset) => asset.valueUsd);
          const known = values.filter((value) => value !== null);
          expect(valueUsd).toBe(known.length === 0 ? null : sumValues(known));
          expect(partial).toBe(known.length > 0 && known.length < values.length);
        }
      }),
      { numRuns: RUNS },
    );
  });

  it("never counts more of an asset than its pools could pay, and no less than it must", () => {
    fc.assert(
      fc.property(wallet, (chains) => {
        const { tokens, positions, summary } = makeSnapshot(...chains);
        for (const { chain, prices } of chains)
          for (const [key, price] of prices) {
            if (price.payableUsdMax === null) continue;
            const { units, scale } = price.payableUsdMax;
            const payable = (units * 1_000_000n) / 10n ** BigInt(scale);
            const held = [
              ...tokens.filter((token) => token.chain === chain.slug && !token.spam),
              ...positions
                .filter((position) => position.chain === chain.slug && position.kind !== "borrowed")
                .flatMap(({ assets }) => assets),
            ].filter(({ contract, valueUsd }) => (contract ?? "native") === key && valueUsd !== null);
            const counted = held.reduce((sum, { valueUsd }) => sum + micros(valueUsd ?? ""), 0n);
            const full = held.reduce((sum, asset) => sum + fullValue(asset, price.usd, 1n), 0n);
            expect(counted).toBe(full < payable ? full : payable);
            const said = summary.warnings.some(
              (warning) =>
                warning.startsWith(`The markets behind the prices of these assets on ${chain.name} could`) &&
                warning.includes(key === "native" ? "the native coin" : key),
            );
            expect(said).toBe(full > payable && held.length > 0);
          }
      }),
      { numRuns: RUNS },
    );
  });

  it("any wallet has a total exactly when no debt, seen or not, is valued without the rest of its account", () => {
    fc.assert(
      fc.property(wallet, (chains) => {
        const { positions, summary } = makeSnapshot(...chains);
        for (const { chain, positions: read, prices } of chains) {
          const shown = positions.filter((position) => position.chain === chain.slug);
          const accountOf = (name: string) => read.find((position) => position.name === name);
          const isKnown = (position: PortfolioPosition) =>
            accountOf(position.name)?.incomplete === false &&
            position.assets.every((asset) => {
              const price = priceFinder(chains).inPosition(position, asset);
              if (asset.valueUsd === null || price === undefined) return false;
              return (
                position.kind === "borrowed" || micros(asset.valueUsd) === fullValue(asset, price.usd, 1n)
              );
            });
          const unknown = shown.some((debt) => {
            // The unread part of an account may be a debt.
            if (debt.kind !== "borrowed" && accountOf(debt.name)?.incomplete === false) return false;
            const market = accountOf(debt.name)?.market;
            const account = shown.filter(
              (other) => other === debt || (market !== null && accountOf(other.name)?.market === market),
            );
            return !account.every(isKnown);
          });
          const { totalValueUsd } = summary.chains.find((entry) => entry.chain === chain.slug) ?? {};
          if (unknown) expect([totalValueUsd, summary.totalValueUsd]).toEqual([null, null]);
          else if (prices.size > 0 && shown.some(({ valueUsd }) => valueUsd !== null))
            expect(totalValueUsd).not.toBeNull();
        }
      }),
      { numRuns: RUNS },
    );
  });

  it("totals and counts of any wallet add up from the response", () => {
    fc.assert(
      fc.property(wallet, (chains) => {
        const { tokens, positions, summary } = makeSnapshot(...chains);
        const counted = [...tokens.filter(({ spam }) => !spam), ...positions];
        const within = (slug: string) => counted.filter(({ chain }) => chain === slug);
        const valuesOf = (things: readonly { valueUsd: string | null }[]) =>
          things.map(({ valueUsd }) => valueUsd);
        const isUnknown = (name: string) =>
          summary.warnings.some((warning) => warning.startsWith(`The total value on ${name} is unknown`));
        const anyUnknown = chains.some(({ chain }) => isUnknown(chain.name));
        expect(summary.totalValueUsd).toBe(anyUnknown ? null : sumValues(valuesOf(counted)));
        for (const { chain } of chains) {
          const entry = summary.chains.find(({ chain: slug }) => slug === chain.slug);
          expect(entry?.totalValueUsd).toBe(
            isUnknown(chain.name) ? null : sumValues(valuesOf(within(chain.slug))),
          );
        }
        for (const { summary: counts, tokens: listed } of [
          { summary, tokens },
          excludeSpam(makeSnapshot(...chains)),
        ]) {
          expect(counts.tokenCount).toBe(listed.length);
          expect(counts.pricedTokenCount).toBe(listed.filter(({ valueUsd }) => valueUsd !== null).length);
          for (const count of ["tokenCount", "pricedTokenCount", "unpricedTokenCount"] as const) {
            expect(counts[count]).toBe(counts.chains.reduce((sum, chain) => sum + chain[count], 0));
          }
          for (const { tokenCount, pricedTokenCount, unpricedTokenCount } of [counts, ...counts.chains]) {
            expect(tokenCount).toBe(pricedTokenCount + unpricedTokenCount);
          }
        }
      }),
      { numRuns: RUNS },
    );
  });

  it("counts the stablecoins that are held, by address, in the wallet and in positions", () => {
    const stable = ({ contract }: PortfolioAsset) =>
      contract === numberedContract(3) || contract === numberedContract(4);
    fc.assert(
      fc.property(wallet, (chains) => {
        const { tokens, positions, summary } = makeSnapshot(...chains);
        const inPositions = positions
          .filter(({ kind }) => kind !== "borrowed")
          .flatMap(({ assets }) => assets.filter(stable));
        const inWallet = tokens.filter((token) => stable(token) && !token.spam);
        expect(summary.stablecoinValueUsd).toBe(
          sumValues([...inWallet, ...inPositions].map(({ valueUsd }) => valueUsd)),
        );
        expect(summary.stablecoinValueUsd ?? "").not.toContain("-");
      }),
      { numRuns: RUNS },
    );
  });

  it("lists any wallet completely, once, by value, then chain, then contract", () => {
    fc.assert(
      fc.property(wallet, (chains) => {
        const { tokens, positions, summary } = makeSnapshot(...chains);
        const expected = chains.flatMap(({ chain, holdings, positions: read }) => {
          const listed = read.filter(({ name }) =>
            positions.some((position) => position.chain === chain.slug && position.name === name),
          );
          const replaced = new Set<AssetKey>(listed.flatMap(({ receiptTokens }) => receiptTokens));
          return holdings
            .filter((holding) => holding.rawBalance > 0n && !replaced.has(getAssetKey(holding)))
            .map(({ contract }) => ({ chain: chain.slug, contract }));
        });
        expect(tokens).toHaveLength(expected.length);
        expect(tokens).toEqual(
          expect.arrayContaining(expected.map((token) => expect.objectContaining(token))),
        );
        const order = chains.map(({ chain }) => chain.slug);
        const rank = ({ chain, contract, valueUsd }: (typeof tokens)[number]) => ({
          value: valueUsd === null ? -1n : micros(valueUsd),
          position: `${order.indexOf(chain)} ${contract ?? ""}`,
        });
        tokens.slice(1).forEach((token, index) => {
          const before = rank(tokens[index] ?? token);
          const after = rank(token);
          expect(
            before.value > after.value || (before.value === after.value && before.position < after.position),
          ).toBe(true);
        });
        const held = [
          ...tokens.filter(({ spam }) => !spam),
          ...positions.filter(({ kind }) => kind !== "borrowed"),
        ].filter(({ valueUsd }) => valueUsd !== null);
        const values = held.map(({ valueUsd }) => micros(valueUsd ?? "")).sort((a, b) => (a > b ? -1 : 1));
        expect(summary.topHoldings.map(({ valueUsd }) => micros(valueUsd))).toEqual(values.slice(0, 10));
        for (const { chain, contract, name, valueUsd } of summary.topHoldings)
          expect(held).toContainEqual(expect.objectContaining({ chain, contract, name, valueUsd }));
      }),
      { numRuns: RUNS },
    );
  });

  it("a snapshot does not depend on the order of its data", () => {
    const shuffled = wallet.chain((chains) =>
      fc.tuple(
        fc.constant(chains),
        fc.tuple(
          ...chains.map(({ holdings, positions, prices }) =>
            fc.record({
              holdings: permutation(holdings),
              positions: permutation(positions),
              prices: permutation([...prices]).map((entries) => new Map(entries)),
            }),
          ),
        ),
      ),
    );
    fc.assert(
      fc.property(shuffled, ([chains, others]) => {
        const again = chains.map((data, index) => ({ ...data, ...others[index] }));
        expect(makeSnapshot(...again)).toEqual(makeSnapshot(...chains));
      }),
      { numRuns: RUNS },
    );
  });
});

function permutation<T>(items: readonly T[]): fc.Arbitrary<T[]> {
  return fc.shuffledSubarray([...items], { minLength: items.length });
}
