// docs/configuration.md and .env.example match the declared settings.
import { readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { describe, expect, it } from "vitest";
import { PORTFOLIO_CHAINS } from "../chain/chains/chains.ts";
import { portfolioNodeSettings, readPortfolioNodes } from "./portfolio-settings.ts";
import { readConfig } from "./read-config.ts";
import { allSettings, variableRules } from "./settings.ts";

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

describe("readPortfolioNodes", () => {
  it("reads the nodes of every chain that the portfolio service can be configured for", () => {
    const url = "http://127.0.0.1:1";
    for (const { chainId } of PORTFOLIO_CHAINS) {
      const nodes = readPortfolioNodes({ [`RPC_URL_${chainId}`]: url });
      const configured = [...nodes].filter(([, urls]) => urls.length > 0);
      expect(configured.map(([id, urls]) => [id, urls[0]?.reveal()])).toEqual([[chainId, url]]);
      expect(variableRules.known).toContain(`RPC_URL_${chainId}`);
    }
    expect(PORTFOLIO_CHAINS.length).toBeGreaterThanOrEqual(5);
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
    const {
      exposurePriceUsd,
      diffPriceUsd,
      simulatePriceUsd,
      priceUsdPerChain,
      priceUsdSummary,
      proofPriceUsd,
      goldRushApiKey,
    } = config;
    const { portfolioPublicUrl, alchemyApiKey, portfolioTokenLists, payTo, facilitatorUrl } = config;
    const nodes = Object.fromEntries(
      Object.entries(config).filter(([key]) => Object.hasOwn(portfolioNodeSettings, key)),
    );
    const { apiPriceUsd, apiProofPriceUsd, nodeEnvironment, webhookKey, webhooksFile, metricsPort, mppKey } =
      config;
    const { signingKeys, signingKeysFile } = config;
    const { channelsOn, channelKey, channelOldKeys, facilitatorChannelAuthorizers } = config;
    const channels = {
      ...{ channelsOn, channelKey, channelOldKeys, facilitatorChannelAuthorizers },
      channelDeposit: config.channelDeposit,
    };
    const portfolio = {
      ...{ apiPriceUsd, apiProofPriceUsd, mppKey },
      portfolioPublicUrl,
      ...{
        exposurePriceUsd,
        diffPriceUsd,
        simulatePriceUsd,
        priceUsdPerChain,
        priceUsdSummary,
        proofPriceUsd,
        goldRushApiKey,
      },
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
      ...channels,
      databaseUrl,
      databaseReadUrls,
      deployments,
      rpcUrls,
      publicBaseUrl,
      writeAuth,
      ...{ webhookKey, webhooksFile, signingKeys, signingKeysFile },
      metricsPort,
      ...payments,
      ...facilitator,
    };
    expect(config).toEqual({ ...fallbacks, ...examples });
    expect(config.databaseUrl?.reveal()).toMatch(/^postgres:/);
    expect(config.rpcUrls).toHaveLength(1);
  });
});
