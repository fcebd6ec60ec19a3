// The registry of position readers: one per protocol, and no receipt token in two of them.
import { describe, expect, it } from "vitest";
import { AAVE_V2_MARKETS, AAVE_V3_MARKETS, SPARK_MARKETS } from "./aave-v3/markets.ts";
import { COMPOUND_V2_POOLS, MOONWELL_POOLS, VENUS_POOLS } from "./compound-v2/contracts.ts";
import { COMPOUND_V3_MARKETS } from "./compound-v3/contracts.ts";
import { VAULT_REGISTRIES } from "./erc4626/registries.ts";
import { LIDO_MARKETS } from "./lido/reader.ts";
import { MORPHO_BLUE_MARKETS } from "./morpho-blue/contracts.ts";
import { ETHER_FI_TOKENS, ROCKET_POOL_TOKENS, SKY_TOKENS } from "./rate-reader.ts";
import { POSITION_READERS } from "./readers.ts";

describe("the position readers", () => {
  it("has one reader per protocol, in order", () => {
    expect(POSITION_READERS.map(({ protocol }) => protocol)).toEqual([
      "aave-v3",
      "aave-v2",
      "spark",
      "compound-v3",
      "compound-v2",
      "moonwell",
      "venus",
      "aave-staking",
      "erc-4626",
      "morpho-blue",
      "lido",
      "rocket-pool",
      "ether-fi",
      "sky",
      "ethena",
      "uniswap-v2 and its forks",
      "uniswap-v3 and its forks",
      "uniswap-v4",
    ]);
  });

  it("exactly the readers of lending protocols say that they read debt", () => {
    const lending = POSITION_READERS.filter(({ readsDebt }) => readsDebt).map(({ protocol }) => protocol);
    expect(lending).toEqual([
      ...["aave-v3", "aave-v2", "spark", "compound-v3", "compound-v2", "moonwell", "venus"],
      // Among its vaults are Euler's, which lend.
      ...["erc-4626", "morpho-blue"],
    ]);
  });

  it("lists addresses of vaults and ids of markets in lower case, each once", () => {
    for (const [chainId, { vaults, proofs, eulerConnector }] of VAULT_REGISTRIES) {
      const registries = [...proofs.map(({ registry }) => registry), eulerConnector ?? []].flat();
      // Who knows Euler's vaults has to ask for what is owed to them.
      expect(proofs.some(({ kind }) => kind === "eulerFactory")).toBe(eulerConnector !== undefined);
      for (const address of [...vaults, ...registries]) expect(address).toMatch(/^0x[0-9a-f]{40}$/);
      expect(new Set(proofs.map(({ kind, registry }) => `${kind} ${registry}`)).size).toBe(proofs.length);
      const ids = (MORPHO_BLUE_MARKETS.get(chainId) ?? []).flatMap((market) => market.ids);
      for (const id of ids) expect(id).toMatch(/^0x[0-9a-f]{64}$/);
      expect(new Set(ids).size).toBe(ids.length);
      expect(ids.length).toBeGreaterThan(0);
    }
  });

  it("no two position readers share a receipt token", () => {
    for (const chainId of new Set([
      ...AAVE_V3_MARKETS.keys(),
      ...COMPOUND_V3_MARKETS.keys(),
      ...LIDO_MARKETS.keys(),
    ])) {
      const aave = [AAVE_V3_MARKETS, AAVE_V2_MARKETS, SPARK_MARKETS]
        .flatMap((markets) => markets.get(chainId) ?? [])
        .flatMap(({ reserves }) => reserves.flatMap(({ aToken, debtToken }) => [aToken, debtToken]));
      const cTokens = [COMPOUND_V2_POOLS, MOONWELL_POOLS, VENUS_POOLS]
        .flatMap((pools) => pools.get(chainId) ?? [])
        .flatMap(({ markets }) => markets);
      const comets = (COMPOUND_V3_MARKETS.get(chainId) ?? []).map(({ comet }) => comet);
      const lido = (LIDO_MARKETS.get(chainId) ?? []).map(({ wstEth }) => wstEth);
      const rated = [ROCKET_POOL_TOKENS, ETHER_FI_TOKENS, SKY_TOKENS].flatMap((tokens) =>
        (tokens.get(chainId) ?? []).map(({ token }) => token),
      );
      const vaults = [...(VAULT_REGISTRIES.get(chainId)?.vaults ?? [])];
      const tokens = [aave, cTokens, comets, lido, rated, vaults].flat();
      expect(tokens.every((token) => /^0x[0-9a-f]{40}$/.test(token))).toBe(true);
      expect(new Set(tokens).size).toBe(tokens.length);
    }
  });
});
