// Any wallet: values match an exact model with fractions, totals and counts add up, and the order is stable.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { walletArbitrary as wallet } from "../../../tests/support/portfolio/arbitrary-wallet.ts";
import { makeSnapshot, numberedContract } from "../../../tests/support/portfolio/portfolio-parts.ts";
import type { PortfolioAsset } from "../snapshot-types.ts";
import { type AssetKey, type AssetPrice, getAssetKey } from "../types.ts";

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
  expect(asset.valueUsd).toBe(formatFraction(sign * raw * units, unit * 10n ** BigInt(scale), 6));
}

describe("any wallet", () => {
  it("is valued exactly", () => {
    fc.assert(
      fc.property(wallet, (chains) => {
        const { tokens, positions } = makeSnapshot(...chains);
        const priceOf = (chain: string, { contract }: PortfolioAsset) =>
          chains.find((data) => data.chain.slug === chain)?.prices.get((contract ?? "native") as AssetKey);
        for (const token of tokens) expectExact(token, priceOf(token.chain, token), 1n);
        for (const { chain, kind, assets, valueUsd } of positions) {
          for (const asset of assets)
            expectExact(asset, priceOf(chain, asset), kind === "borrowed" ? -1n : 1n);
          const values = assets.map((asset) => asset.valueUsd);
          expect(valueUsd).toBe(values.includes(null) ? null : sumValues(values));
        }
      }),
    );
  });

  it("has totals and counts that add up from the response", () => {
    fc.assert(
      fc.property(wallet, (chains) => {
        const { tokens, positions, summary } = makeSnapshot(...chains);
        const counted = tokens.filter(({ spam }) => !spam);
        const within = (slug: string) => [...counted, ...positions].filter(({ chain }) => chain === slug);
        const valuesOf = (things: readonly { valueUsd: string | null }[]) =>
          things.map(({ valueUsd }) => valueUsd);
        expect(summary.totalValueUsd).toBe(sumValues(valuesOf([...counted, ...positions])));
        expect(summary.totalValueUsd).toBe(
          sumValues(
            summary.chains
              .filter(({ chain }) => within(chain).length > 0)
              .map((chain) => chain.totalValueUsd),
          ),
        );
        for (const chain of summary.chains)
          expect(chain.totalValueUsd).toBe(sumValues(valuesOf(within(chain.chain))));
        expect(summary.tokenCount).toBe(counted.length);
        expect(summary.pricedTokenCount).toBe(counted.filter(({ valueUsd }) => valueUsd !== null).length);
        for (const count of ["tokenCount", "pricedTokenCount", "unpricedTokenCount"] as const) {
          expect(summary[count]).toBe(summary.chains.reduce((sum, chain) => sum + chain[count], 0));
        }
        for (const { tokenCount, pricedTokenCount, unpricedTokenCount } of [summary, ...summary.chains]) {
          expect(tokenCount).toBe(pricedTokenCount + unpricedTokenCount);
        }
      }),
    );
  });

  it("counts stablecoins by address, in the wallet and in positions with a value", () => {
    const stable = ({ contract }: PortfolioAsset) =>
      contract === numberedContract(3) || contract === numberedContract(4);
    fc.assert(
      fc.property(wallet, (chains) => {
        const { tokens, positions, summary } = makeSnapshot(...chains);
        const inPositions = positions.flatMap(({ assets, valueUsd }) =>
          assets.filter(stable).map((asset) => (valueUsd === null ? null : asset.valueUsd)),
        );
        const inWallet = tokens
          .filter((token) => stable(token) && !token.spam)
          .map(({ valueUsd }) => valueUsd);
        expect(summary.stablecoinValueUsd).toBe(sumValues([...inWallet, ...inPositions]));
      }),
    );
  });

  it("is listed completely, once, by value, then chain, then contract", () => {
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
        const top = tokens.filter(({ spam, valueUsd }) => !spam && valueUsd !== null).slice(0, 10);
        expect(summary.topHoldings).toEqual(
          top.map(({ chain, contract, symbol, name, valueUsd }) => ({
            chain,
            contract,
            symbol,
            name,
            valueUsd,
          })),
        );
      }),
    );
  });

  it("does not depend on the order of its data", () => {
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
    );
  });
});

function permutation<T>(items: readonly T[]): fc.Arbitrary<T[]> {
  return fc.shuffledSubarray([...items], { minLength: items.length });
}
