// Arbitrary wallets with any balances, decimals, prices and positions, for property tests.
import fc from "fast-check";
import type { Decimal } from "../../../src/lib/decimal.ts";
import {
  type AssetKey,
  type AssetPrice,
  getAssetKey,
  type Holding,
  type PositionAsset,
  type ProtocolPosition,
  quotePrice,
} from "../../../src/portfolio/types.ts";
import type { ChainData } from "../../../src/portfolio/valuation/snapshot-data.ts";
import {
  makeChainConfig,
  makeChainData,
  makeListedToken,
  makePosition,
  numberedContract,
} from "./portfolio-parts.ts";

const TOKENS = 8;
const tokens = Array.from({ length: TOKENS }, (_, index) => makeListedToken(index + 1, `T${index}`));
const chainConfig = (slug: string, chainId: number) =>
  makeChainConfig(slug, chainId, tokens.slice(2), {
    stablecoins: new Set([numberedContract(3), numberedContract(4)]),
  });
const chainConfigs = [chainConfig("one", 1), chainConfig("two", 2), chainConfig("three", 3)];

const rawBalance = fc.oneof(fc.bigInt(0n, 10n), fc.bigInt(0n, 10n ** 20n), fc.bigInt(0n, 2n ** 256n - 1n));
const decimals = fc.option(fc.oneof(fc.integer({ min: 0, max: 18 }), fc.integer({ min: 0, max: 255 })));
const price: fc.Arbitrary<Decimal> = fc.record({
  units: fc.oneof(fc.bigInt(0n, 5n), fc.bigInt(0n, 10n ** 24n)),
  scale: fc.integer({ min: 0, max: 40 }),
});

function holdings(max: number): fc.Arbitrary<Holding[]> {
  const holding = fc.record({
    contract: fc.option(fc.integer({ min: 1, max: TOKENS }).map(numberedContract)),
    symbol: fc.constantFrom("A", "B", null),
    ...{ name: fc.constant(null), decimals, logo: fc.constant(null), rawBalance },
  });
  return fc.uniqueArray(holding, { selector: getAssetKey, maxLength: max });
}

const positionAssets: fc.Arbitrary<PositionAsset[]> = holdings(2).chain((assets) =>
  fc.array(fc.option(price), { minLength: assets.length, maxLength: assets.length }).map((found) =>
    assets.map((asset, index) => {
      const usd = found[index] ?? null;
      return { ...asset, marketPrice: usd && { ...quotePrice(usd), source: "market" } };
    }),
  ),
);

const positions: fc.Arbitrary<ProtocolPosition[]> = fc.uniqueArray(
  fc
    .record({
      kind: fc.constantFrom("supplied" as const, "borrowed" as const, "liquidity" as const),
      name: fc.string({ maxLength: 3 }),
      market: fc.constantFrom(null, "m", "n"),
      incomplete: fc.constantFrom(false, false, false, true),
      assets: positionAssets,
      receiptTokens: fc.array(fc.integer({ min: 1, max: TOKENS }).map(numberedContract), { maxLength: 2 }),
    })
    .map(makePosition),
  { selector: ({ name }) => name, maxLength: 4 },
);

const prices: fc.Arbitrary<ReadonlyMap<AssetKey, AssetPrice>> = fc
  .uniqueArray(fc.tuple(fc.integer({ min: 0, max: TOKENS }), price, fc.option(price)), {
    selector: ([token]) => token,
  })
  .map(
    (entries) =>
      new Map(
        entries.map(([token, found, payableUsdMax]) => [
          keyOf(token),
          { ...quotePrice(found, { payableUsdMax }), source: "feed" },
        ]),
      ),
  );

function keyOf(token: number): AssetKey {
  return token === 0 ? "native" : numberedContract(token);
}

/** Some of three chains with the same eight tokens, two of them unlisted and two of them stablecoins. */
export const walletArbitrary: fc.Arbitrary<ChainData[]> = fc
  .tuple(
    ...chainConfigs.map((chain) =>
      fc.record({ holdings: holdings(TOKENS), positions, prices }).map((data) => makeChainData(chain, data)),
    ),
  )
  .chain((chains) => fc.shuffledSubarray(chains, { minLength: 1 }));
