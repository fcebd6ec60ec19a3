// The page about configuration says what the declarations say.
import { readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { describe, expect, it } from "vitest";
import { readConfig } from "./read-config.ts";
import { allSettings } from "./settings.ts";

const shown = (value: unknown): string =>
  value === null || (Array.isArray(value) && value.length === 0) ? "not set" : `\`${String(value)}\``;

describe("docs/configuration.md", () => {
  it("has a row for every setting, with its allowed values, fallback and meaning", () => {
    const rows = readFileSync("docs/configuration.md", "utf8")
      .split("\n")
      .filter((line) => /^\| `[A-Z0-9_]+` \|/.test(line) && line.split("|").length === 6);
    const expected = Object.values(allSettings).map(
      ({ variable, kind, fallback, description: meaning }) =>
        `| \`${variable}\` | ${kind.allowed} | ${shown(fallback)} | ${meaning} |`,
    );
    expect(rows.sort()).toEqual(expected.sort());
  });
});

describe(".env.example", () => {
  it("can be uncommented as a whole and then says what holds without it", () => {
    const text = readFileSync(".env.example", "utf8").replace(/^# ([A-Z0-9_]+=)/gm, "$1");
    const config = readConfig(parseEnv(text) as Record<string, string>, allSettings);
    const fallbacks = readConfig({}, allSettings);
    // An example is shown where nothing is the fallback.
    const { databaseUrl, rpcUrls, publicBaseUrl, writeAuth } = config;
    const { paymentRpcUrls, paymentAsset, paymentAssetName, paymentAssetVersion } = config;
    const { facilitatorPrivateKey, facilitatorPayees, facilitatorGasPriceMax } = config;
    const payments = { paymentRpcUrls, paymentAsset, paymentAssetName, paymentAssetVersion };
    const facilitator = { facilitatorPrivateKey, facilitatorPayees, facilitatorGasPriceMax };
    const { portfolioPublicUrl, alchemyApiKey, portfolioTokenLists, payTo, facilitatorUrl } = config;
    const { rpcUrlsEthereum, rpcUrlsOptimism, rpcUrlsPolygon, rpcUrlsBase, rpcUrlsArbitrum } = config;
    const nodes = { rpcUrlsEthereum, rpcUrlsOptimism, rpcUrlsPolygon, rpcUrlsBase, rpcUrlsArbitrum };
    const { nodeEnvironment } = config;
    const seller = {
      portfolioPublicUrl,
      alchemyApiKey,
      portfolioTokenLists,
      payTo,
      facilitatorUrl,
      nodeEnvironment,
    };
    const examples = {
      ...nodes,
      ...seller,
      databaseUrl,
      rpcUrls,
      publicBaseUrl,
      writeAuth,
      ...payments,
      ...facilitator,
    };
    expect(config).toEqual({ ...fallbacks, ...examples });
    expect(config.databaseUrl?.reveal()).toMatch(/^postgres:/);
    expect(config.rpcUrls).toHaveLength(1);
  });
});
