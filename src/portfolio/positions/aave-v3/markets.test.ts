// The Aave data files match the published address book.
import * as book from "@aave-dao/aave-address-book";
import { describe, expect, it } from "vitest";
import { AAVE_V2_MARKETS } from "../aave-v3/markets.ts";
import { AAVE_V3_MARKETS } from "./markets.ts";

type Entry = {
  readonly CHAIN_ID: number;
  readonly POOL: string;
  readonly ORACLE: string;
  readonly ASSETS: Readonly<
    Record<string, { readonly UNDERLYING: string; readonly A_TOKEN: string; readonly V_TOKEN: string }>
  >;
};

const SUPPORTED = [1, 10, 137, 8453, 42161];

describe("Aave markets", () => {
  it.each([
    ["AaveV3", AAVE_V3_MARKETS, []],
    // Arc is for institutions on a list of their own.
    ["AaveV2", AAVE_V2_MARKETS, ["AaveV2EthereumArc"]],
  ] as const)("includes every %s market and reserve of the five chains", (prefix, markets, without) => {
    const published = Object.entries(book)
      .filter(([name]) => name.startsWith(prefix) && !(without as readonly string[]).includes(name))
      .map(([, market]) => market as unknown as Entry)
      .filter(({ CHAIN_ID }) => SUPPORTED.includes(CHAIN_ID))
      .map(({ CHAIN_ID, POOL, ORACLE, ASSETS }) => [
        CHAIN_ID,
        POOL.toLowerCase(),
        ORACLE.toLowerCase(),
        Object.entries(ASSETS).map(([symbol, { UNDERLYING, A_TOKEN, V_TOKEN }]) => ({
          symbol,
          underlying: UNDERLYING.toLowerCase(),
          aToken: A_TOKEN.toLowerCase(),
          debtToken: V_TOKEN.toLowerCase(),
        })),
      ]);
    const ours = [...markets].flatMap(([chainId, ofChain]) =>
      ofChain.map(({ pool, oracle, reserves }) => [chainId, pool, oracle, reserves]),
    );
    const byPool = (a: readonly unknown[], b: readonly unknown[]) =>
      `${a[0]} ${a[1]}`.localeCompare(`${b[0]} ${b[1]}`);
    expect([...ours].sort(byPool)).toEqual([...published].sort(byPool));
  });

  it("lists the main market of each chain first, because its oracle is the price source", () => {
    const main = [...AAVE_V3_MARKETS.values()].map(([market]) => market?.pool);
    const { AaveV3Ethereum, AaveV3Optimism, AaveV3Polygon, AaveV3Base, AaveV3Arbitrum } = book;
    expect(main).toEqual(
      [AaveV3Ethereum, AaveV3Optimism, AaveV3Polygon, AaveV3Base, AaveV3Arbitrum].map(({ POOL }) =>
        POOL.toLowerCase(),
      ),
    );
  });

  it("lists each asset of a market once", () => {
    for (const { name, reserves } of [...AAVE_V3_MARKETS.values()].flat()) {
      expect(new Set(reserves.map(({ underlying }) => underlying)).size, name).toBe(reserves.length);
    }
  });

  it("never uses one token for two positions", () => {
    for (const [chainId, markets] of AAVE_V3_MARKETS) {
      const tokens = markets.flatMap(({ reserves }) =>
        reserves.flatMap(({ aToken, debtToken }) => [aToken, debtToken]),
      );
      expect(new Set(tokens).size, `chain ${chainId}`).toBe(tokens.length);
      expect(tokens.every((token) => /^0x[0-9a-f]{40}$/.test(token))).toBe(true);
    }
  });
});
