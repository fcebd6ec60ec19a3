// Settings of the portfolio service, apart from what it sells.
import { PORTFOLIO_CHAINS } from "../chain/chains/chains.ts";
import type { Secret } from "../lib/secret.ts";
import { type Environment, readConfig } from "./read-config.ts";
import {
  booleanText,
  commaSeparated,
  matchingText,
  oneOf,
  optionalSetting,
  origin,
  port,
  secret,
  setting,
  textValue,
  url,
} from "./setting-kinds.ts";

/** Derived from the list of chains, by variable: a chain without a setting could not be read. */
export const portfolioNodeSettings = Object.fromEntries(
  [...PORTFOLIO_CHAINS]
    .sort((a, b) => a.chainId - b.chainId)
    .map(({ chainId, name }) => {
      const kind = commaSeparated(secret(url("http", "https")));
      const description = `Nodes of ${name} for the portfolio service, in order of preference.`;
      return [`RPC_URL_${chainId}`, setting(`RPC_URL_${chainId}`, kind, [], description)];
    }),
);

export const portfolioSettings = {
  portfolioPort: setting(
    "PORTFOLIO_PORT",
    port,
    3002,
    "Port of the portfolio service; 0 lets the system choose.",
  ),
  portfolioPublicUrl: optionalSetting(
    "PORTFOLIO_PUBLIC_URL",
    origin,
    "URL of the portfolio service for clients; part of the payment terms. Default: the address listened on.",
  ),
  portfolioProvider: setting(
    "PORTFOLIO_PROVIDER",
    oneOf(["rpc", "alchemy"]),
    "rpc",
    "Source of balances: the nodes themselves, or Alchemy.",
  ),
  alchemyApiKey: optionalSetting(
    "ALCHEMY_API_KEY",
    secret(matchingText(/^[A-Za-z0-9_-]{8,128}$/, "an Alchemy key: letters, digits, - and _")),
    "Required with PORTFOLIO_PROVIDER=alchemy; chains without configured nodes are then read through Alchemy.",
  ),
  portfolioTokenLists: setting(
    "PORTFOLIO_TOKEN_LISTS",
    commaSeparated(textValue),
    [],
    "Additional token lists, as files or URLs; they take precedence over the built-in lists.",
  ),
  portfolioDefiLlama: setting(
    "PORTFOLIO_DEFILLAMA",
    booleanText,
    false,
    "Whether prices without an onchain oracle are requested from DefiLlama.",
  ),
  rememberWallets: setting(
    "PORTFOLIO_REMEMBER_WALLETS",
    booleanText,
    true,
    "Whether final transfer and approval logs of wallets are stored for the next read.",
  ),
  goldRushApiKey: optionalSetting(
    "GOLDRUSH_API_KEY",
    secret(matchingText(/^[A-Za-z0-9_-]{8,128}$/, "a GoldRush key: letters, digits, - and _")),
    "Compares every snapshot with GoldRush and reports the differences; the wallet's address is sent there.",
  ),
  ...portfolioNodeSettings,
};

/** The configured nodes of each chain that the portfolio service can read, by chain id. */
export function readPortfolioNodes(environment: Environment): ReadonlyMap<number, readonly Secret<string>[]> {
  const nodes = readConfig(environment, portfolioNodeSettings);
  return new Map(PORTFOLIO_CHAINS.map(({ chainId }) => [chainId, nodes[`RPC_URL_${chainId}`] ?? []]));
}
