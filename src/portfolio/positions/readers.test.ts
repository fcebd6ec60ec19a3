// The registry of position readers: each protocol once, and no token that two of them would claim.
import { describe, expect, it } from "vitest";
import { AAVE_MARKETS } from "./aave-v3/markets.ts";
import { COMET_MARKETS } from "./compound-v3/markets.ts";
import { WST_ETH_MARKETS } from "./lido/markets.ts";
import { POSITION_READERS } from "./readers.ts";

describe("the position readers", () => {
  it("are one per protocol", () => {
    expect(POSITION_READERS.map(({ protocol }) => protocol)).toEqual([
      "aave-v3",
      "compound-v3",
      "erc-4626",
      "lido",
      "uniswap-v3",
    ]);
  });

  it("do not share receipt tokens", () => {
    for (const chainId of new Set([
      ...AAVE_MARKETS.keys(),
      ...COMET_MARKETS.keys(),
      ...WST_ETH_MARKETS.keys(),
    ])) {
      const aave = (AAVE_MARKETS.get(chainId) ?? []).flatMap(({ reserves }) =>
        reserves.flatMap(({ aToken, debtToken }) => [aToken, debtToken]),
      );
      const comets = (COMET_MARKETS.get(chainId) ?? []).map(({ comet }) => comet);
      const lido = WST_ETH_MARKETS.get(chainId)?.wstEth ?? [];
      const tokens = [aave, comets, lido].flat();
      expect(new Set(tokens).size).toBe(tokens.length);
    }
  });
});
