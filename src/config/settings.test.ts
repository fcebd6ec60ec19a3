// docs/configuration.md and .env.example match the declared settings.
import { readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { describe, expect, it } from "vitest";
import { readConfig } from "./read-config.ts";
import { allSettings, portfolioNodeSettings } from "./settings.ts";

const formatFallback = (value: unknown): string =>
  value === null || (Array.isArray(value) && value.length === 0) ? "" : `; default \`${String(value)}\``;

describe("docs/configuration.md", () => {
  it("has a line for every setting with its allowed values, fallback and description", () => {
    const lines = readFileSync("docs/configuration.md", "utf8")
      .split("\n")
      .filter((line) => /^- `[A-Z0-9_]+` \(/.test(line));
    const expected = Object.values(allSettings).map(
      ({ variable, kind, fallback, description }) =>
        `- \`${variable}\` (${kind.allowed}${formatFallback(fallback)}): ${description}`,
    );
    expect(lines.sort()).toEqual(expected.sort());
  });
});

describe(".env.example", () => {
  it("equals the defaults when fully uncommented, except for examples", () => {
    const text = readFileSync(".env.example", "utf8").replace(/^# ([A-Z0-9_]+=)/gm, "$1");
    const config = readConfig(parseEnv(text) as Record<string, string>, allSettings);
    const fallbacks = readConfig({}, allSettings);
    // Variables without a default have an example value.
    const { databaseUrl, databaseReadUrls, deployments, rpcUrls, publicBaseUrl, writeAuth } = config;
    const { paymentRpcUrls, paymentAsset, paymentAssetName, paymentAssetVersion } = config;
    const { facilitatorPrivateKey, facilitatorPayees, facilitatorGasPriceMax } = config;
    const payments = { paymentRpcUrls, paymentAsset, paymentAssetName, paymentAssetVersion };
    const facilitator = { facilitatorPrivateKey, facilitatorPayees, facilitatorGasPriceMax };
    const { exposurePriceUsd, diffPriceUsd, goldRushApiKey } = config;
    const { portfolioPublicUrl, alchemyApiKey, portfolioTokenLists, payTo, facilitatorUrl } = config;
    const nodes = Object.fromEntries(
      Object.entries(config).filter(([key]) => Object.hasOwn(portfolioNodeSettings, key)),
    );
    const { nodeEnvironment, webhookKey, webhooksFile, metricsPort } = config;
    const portfolio = {
      portfolioPublicUrl,
      ...{ exposurePriceUsd, diffPriceUsd, goldRushApiKey },
      alchemyApiKey,
      portfolioTokenLists,
      payTo,
      facilitatorUrl,
      nodeEnvironment,
    };
    const { apiUrl, portfolioUrl, payerKey, payerKeyFile, journalFile } = config;
    const { guardNetwork, guardAsset, guardPayees, guardNode, natsUrl } = config;
    const examples = {
      ...{ apiUrl, portfolioUrl, payerKey, payerKeyFile, journalFile },
      ...{ guardNetwork, guardAsset, guardPayees, guardNode, natsUrl },
      ...nodes,
      ...portfolio,
      databaseUrl,
      databaseReadUrls,
      deployments,
      rpcUrls,
      publicBaseUrl,
      writeAuth,
      webhookKey,
      webhooksFile,
      metricsPort,
      ...payments,
      ...facilitator,
    };
    expect(config).toEqual({ ...fallbacks, ...examples });
    expect(config.databaseUrl?.reveal()).toMatch(/^postgres:/);
    expect(config.rpcUrls).toHaveLength(1);
  });
});
