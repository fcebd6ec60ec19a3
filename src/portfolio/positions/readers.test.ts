// The registry of position readers: one per protocol, and no receipt token in two of them.
import { describe, expect, it } from "vitest";
import { AAVE_V3_MARKETS } from "./aave-v3/markets.ts";
import { COMPOUND_V3_MARKETS } from "./compound-v3/markets.ts";
import { LIDO_MARKETS } from "./lido/markets.ts";
import { POSITION_READERS } from "./readers.ts";

describe("the position readers", () => {
  it("are one per protocol", () => {
    expect(POSITION_READERS.map(({ protocol }) => protocol)).toEqual([
      "aave-v3",
      "compound-v3",
      "erc-4626",
      "lido",
      "uniswap-v2 and its forks",
      "uniswap-v3 and its forks",
      "uniswap-v4",
    ]);
  });

  it("do not share receipt tokens", () => {
    for (const chainId of new Set([
      ...AAVE_V3_MARKETS.keys(),
      ...COMPOUND_V3_MARKETS.keys(),
      ...LIDO_MARKETS.keys(),
    ])) {
      const aave = (AAVE_V3_MARKETS.get(chainId) ?? []).flatMap(({ reserves }) =>
        reserves.flatMap(({ aToken, debtToken }) => [aToken, debtToken]),
      );
      const comets = (COMPOUND_V3_MARKETS.get(chainId) ?? []).map(({ comet }) => comet);
      const lido = LIDO_MARKETS.get(chainId)?.wstEth ?? [];
      const tokens = [aave, comets, lido].flat();
      expect(new Set(tokens).size).toBe(tokens.length);
    }
  });
});
