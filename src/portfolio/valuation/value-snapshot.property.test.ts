// Any wallet: values exact to the last digit by a model in plain fractions, totals that re-add, order, counts.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { walletArbitrary as wallet } from "../../../tests/support/portfolio/arbitrary-wallet.ts";
import { makeSnapshot, numberedContract } from "../../../tests/support/portfolio/portfolio-parts.ts";
import type { PortfolioAsset } from "../snapshot-types.ts";
import { type AssetKey, getAssetKey } from "../types.ts";
import type { AssetPrice } from "./snapshot-data.ts";

/** Text of `numerator / denominator` with at most `digits` decimals, half up in magnitude, written digit by digit. */
function written(numerator: bigint, denominator: bigint, digits: number): string {
  const magnitude = numerator < 0n ? -numerator : numerator;
  let rest = (magnitude * 2n * 10n ** BigInt(digits) + denominator) / (2n * denominator);
  let fraction = "";
  for (let digit = 0; digit < digits; digit += 1) {
    if (fraction !== "" || rest % 10n !== 0n) fraction = `${rest % 10n}${fraction}`;
    rest /= 10n;
  }
  const text = fraction === "" ? `${rest}` : `${rest}.${fraction}`;
  return numerator < 0n && text !== "0" ? `-${text}` : text;
}

/** Millionths, from the text a client reads. */
function micros(text: string): bigint {
  const [whole = "", fraction = ""] = text.replace("-", "").split(".");
  const magnitude = BigInt(whole) * 1_000_000n + BigInt(fraction.padEnd(6, "0"));
  return text.startsWith("-") ? -magnitude : magnitude;
}

function readded(values: readonly (string | null)[]): string | null {
  const known = values.filter((value) => value !== null);
  if (values.length > 0 && known.length === 0) return null;
  return written(
    known.map(micros).reduce((a, b) => a + b, 0n),
    1_000_000n,
    6,
  );
}

function expectExact(shown: PortfolioAsset, found: AssetPrice | undefined, sign: bigint): void {
  const raw = BigInt(shown.rawBalance);
  if (shown.decimals === null) {
    expect([shown.balance, shown.valueUsd]).toEqual([null, null]);
    return;
  }
  const unit = 10n ** BigInt(shown.decimals);
  expect(shown.balance).toBe(written(raw, unit, shown.decimals));
  if (!found) {
    expect([shown.priceUsd, shown.valueUsd]).toEqual([null, null]);
    return;
  }
  const { units, scale } = found.price;
  expect(shown.priceUsd).toBe(written(units, 10n ** BigInt(scale), scale));
  expect(shown.valueUsd).toBe(written(sign * raw * units, unit * 10n ** BigInt(scale), 6));
}

describe("any wallet", () => {
  it("is valued exactly", () => {
    fc.assert(
      fc.property(wallet, (chains) => {
        const { tokens, positions } = makeSnapshot(...chains);
        const priceOf = (chain: string, { contract }: PortfolioAsset) =>
          chains.find((parts) => parts.chain.slug === chain)?.prices.get((contract ?? "native") as AssetKey);
        for (const token of tokens) expectExact(token, priceOf(token.chain, token), 1n);
        for (const { chain, kind, assets, valueUsd } of positions) {
          for (const asset of assets)
            expectExact(asset, priceOf(chain, asset), kind === "borrowed" ? -1n : 1n);
          const values = assets.map((asset) => asset.valueUsd);
          expect(valueUsd).toBe(values.includes(null) ? null : readded(values));
        }
      }),
    );
  });

  it("has totals and counts that anyone can re-add from the answer", () => {
    fc.assert(
      fc.property(wallet, (chains) => {
        const { tokens, positions, summary } = makeSnapshot(...chains);
        const counted = tokens.filter(({ spam }) => !spam);
        const within = (slug: string) => [...counted, ...positions].filter(({ chain }) => chain === slug);
        const valuesOf = (things: readonly { valueUsd: string | null }[]) =>
          things.map(({ valueUsd }) => valueUsd);
        expect(summary.totalValueUsd).toBe(readded(valuesOf([...counted, ...positions])));
        expect(summary.totalValueUsd).toBe(
          readded(
            summary.chains
              .filter(({ chain }) => within(chain).length > 0)
              .map((chain) => chain.totalValueUsd),
          ),
        );
        for (const chain of summary.chains)
          expect(chain.totalValueUsd).toBe(readded(valuesOf(within(chain.chain))));
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

  it("counts its stablecoins by address, in the wallet and in positions that have a value", () => {
    const stable = ({ contract }: PortfolioAsset) =>
      contract === numberedContract(3) || contract === numberedContract(4);
    fc.assert(
      fc.property(wallet, (chains) => {
        const { tokens, positions, summary } = makeSnapshot(...chains);
        const placed = positions.flatMap(({ assets, valueUsd }) =>
          assets.filter(stable).map((asset) => (valueUsd === null ? null : asset.valueUsd)),
        );
        const held = tokens.filter((token) => stable(token) && !token.spam).map(({ valueUsd }) => valueUsd);
        expect(summary.stablecoinValueUsd).toBe(readded([...held, ...placed]));
      }),
    );
  });

  it("is listed completely, once, by value, then chain, then contract", () => {
    fc.assert(
      fc.property(wallet, (chains) => {
        const { tokens, positions, summary } = makeSnapshot(...chains);
        const expected = chains.flatMap(({ chain, holdings, positions: found }) => {
          const standing = found.filter(({ name }) =>
            positions.some((shown) => shown.chain === chain.slug && shown.name === name),
          );
          const replaced = new Set<AssetKey>(standing.flatMap(({ receiptTokens: replaces }) => replaces));
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
          place: `${order.indexOf(chain)} ${contract ?? ""}`,
        });
        tokens.slice(1).forEach((token, index) => {
          const before = rank(tokens[index] ?? token);
          const after = rank(token);
          expect(
            before.value > after.value || (before.value === after.value && before.place < after.place),
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

  it("looks the same in whatever order its parts arrive", () => {
    const shuffled = wallet.chain((chains) =>
      fc.tuple(
        fc.constant(chains),
        fc.tuple(
          ...chains.map(({ holdings, positions, prices }) =>
            fc.record({
              holdings: whole(holdings),
              positions: whole(positions),
              prices: whole([...prices]).map((entries) => new Map(entries)),
            }),
          ),
        ),
      ),
    );
    fc.assert(
      fc.property(shuffled, ([chains, others]) => {
        const again = chains.map((parts, index) => ({ ...parts, ...others[index] }));
        expect(makeSnapshot(...again)).toEqual(makeSnapshot(...chains));
      }),
    );
  });
});

function whole<T>(items: readonly T[]): fc.Arbitrary<T[]> {
  return fc.shuffledSubarray([...items], { minLength: items.length });
}
