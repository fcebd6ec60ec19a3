// Every environment variable Sextant reads, grouped by what needs it.
import type { Hex } from "../lib/hex.ts";
import { LOG_LEVELS } from "../lib/log.ts";
import {
  baseUrl,
  booleanText,
  commaSeparated,
  gweiAmount,
  integer,
  matchingText,
  oneOf,
  optional,
  origin,
  port,
  type SettingKind,
  secret,
  setting,
  textValue,
  url,
  usdAmount,
} from "./setting-kinds.ts";

export const processSettings = {
  logLevel: setting("SEXTANT_LOG_LEVEL", oneOf(LOG_LEVELS), "info", "How much is logged."),
  debug: setting("SEXTANT_DEBUG", booleanText, false, "Show stack traces when a command fails."),
};

export const listenSettings = {
  host: setting(
    "HOST",
    textValue,
    "127.0.0.1",
    "Address the services listen on; 0.0.0.0 opens them to the network.",
  ),
};

export const requestSettings = {
  bodyBytesMax: setting(
    "SEXTANT_BODY_BYTES_MAX",
    integer(1_024, 16_777_216),
    262_144,
    "Largest request body in bytes; endpoints that need less take less.",
  ),
  requestMsMax: setting(
    "SEXTANT_REQUEST_MS_MAX",
    integer(100, 600_000),
    30_000,
    "Longest time for receiving one request, and for answering it, in milliseconds.",
  ),
  requestsPerMinuteMax: setting(
    "SEXTANT_REQUESTS_PER_MINUTE",
    integer(0, 1_000_000),
    1_200,
    "Most requests per client and minute; 0 is no limit.",
  ),
  bodyBytesPerMinuteMax: setting(
    "SEXTANT_BODY_BYTES_PER_MINUTE",
    integer(0, 1_000_000_000_000),
    // 64 bodies of the largest size: one a second, which keeps a process busy for less than a hundredth of the time.
    16_777_216,
    "Most bytes of request bodies per client and minute; 0 is no limit.",
  ),
  connectionsMax: setting(
    "SEXTANT_CONNECTIONS_MAX",
    integer(0, 1_000_000),
    // Four services in one process stay below the smallest hard limit of descriptors in common use, 4,096, and unread
    // responses of the largest size on all connections below a gigabyte.
    1_000,
    "Most connections open at once; 0 is no limit.",
  ),
  connectionsPerClientMax: setting(
    "SEXTANT_CONNECTIONS_PER_CLIENT",
    integer(0, 1_000_000),
    // More than the connection pool of any one program; four addresses are needed to take all.
    256,
    "Most of these per client address; 0 is no limit. Without meaning where SEXTANT_TRUST_PROXY is set.",
  ),
  proxies: setting(
    "SEXTANT_TRUST_PROXY",
    integer(0, 10),
    0,
    "How many proxies of yours stand in front and name the client in X-Forwarded-For; 0 trusts none.",
  ),
};

export const indexerSettings = {
  indexerPort: setting("INDEXER_PORT", port, 3003, "Port of the indexer's own /health, /ready and /metrics."),
  network: setting(
    "NETWORK",
    textValue,
    "base-sepolia",
    "Deployment to index: a name under deployments/ or the path of a deployment file.",
  ),
  rpcUrls: setting(
    "RPC_URL",
    commaSeparated(secret(url("http", "https", "ws", "wss"))),
    [],
    "Nodes in order of preference, separated by commas; ws:// ones tell of new heads.",
  ),
  logRangeMax: setting(
    "SEXTANT_LOG_RANGE_MAX",
    integer(1, 1_000_000),
    10_000,
    "Most blocks asked for in one log query; the range adapts below it.",
  ),
  comparedPercent: setting(
    "SEXTANT_COMPARED_PERCENT",
    integer(0, 100),
    5,
    "Percentage of large log ranges of history that a second node reads too and must agree on; small ones always are.",
  ),
  auditSeconds: setting(
    "SEXTANT_AUDIT_SECONDS",
    integer(0, 86_400),
    120,
    "Seconds between two samples of history and rows that the indexer compares with the chain again; 0 turns it off.",
  ),
};

export const apiSettings = {
  apiPort: setting("API_PORT", port, 3001, "Port of the indexing API; 0 lets the system choose."),
};

export const writeSettings = {
  publicBaseUrl: setting(
    "PUBLIC_BASE_URL",
    optional(baseUrl),
    null,
    "Where clients reach the service; part of document addresses and of what writers sign. Without it, the address listened on.",
  ),
  writeAuth: setting(
    "WRITE_AUTH",
    optional(oneOf(["open", "signed"])),
    null,
    "Who may write: everybody, or whoever signs. Without it, open on a local chain and signed elsewhere.",
  ),
  allowOpenWrites: setting(
    "ALLOW_OPEN_WRITES",
    booleanText,
    false,
    "Needed beside WRITE_AUTH=open on a chain that is not local.",
  ),
  // 512 documents of the largest size, or tens of thousands of quotes: more than one publisher needs.
  clientBytesPerDayMax: setting(
    "SEXTANT_CLIENT_BYTES_PER_DAY",
    integer(0, 1_000_000_000_000),
    67_108_864,
    "Most bytes that one client may store in a day (UTC); 0 is no limit.",
  ),
  // Room for five clients that use up their day, every day, until what nothing refers to expires.
  storedBytesMax: setting(
    "SEXTANT_STORED_BYTES_MAX",
    integer(0, 1_000_000_000_000_000),
    10_737_418_240,
    "Most bytes that all records people write may take up; beyond it writes are 503. 0 is no limit.",
  ),
  // Documents are published before the transaction that names them: minutes before, or as long as a deal takes.
  unreferredDays: setting(
    "SEXTANT_UNREFERRED_DAYS",
    integer(1, 36_500),
    30,
    "Days after which records that people wrote and no indexed row refers to are deleted.",
  ),
};

const address = matchingText(/^0x[0-9a-fA-F]{40}$/, "an address: 0x followed by 40 hex digits");
const key = matchingText(/^0x[0-9a-fA-F]{64}$/, "a private key: 0x followed by 64 hex digits");

const nodes = commaSeparated(secret(url("http", "https")));
const nodesOf = (name: string) =>
  `Nodes of ${name} for the portfolio service, in order of preference, separated by commas.`;

export const portfolioSettings = {
  portfolioPort: setting(
    "PORTFOLIO_PORT",
    port,
    3002,
    "Port of the portfolio service; 0 lets the system choose.",
  ),
  portfolioPublicUrl: setting(
    "PORTFOLIO_PUBLIC_URL",
    optional(origin),
    null,
    "Where clients reach the portfolio service; part of what they pay for. Without it, the address listened on.",
  ),
  portfolioProvider: setting(
    "PORTFOLIO_PROVIDER",
    oneOf(["rpc", "alchemy"]),
    "rpc",
    "Who tells the balances: the nodes themselves, or Alchemy.",
  ),
  alchemyApiKey: setting(
    "ALCHEMY_API_KEY",
    optional(secret(matchingText(/^[A-Za-z0-9_-]{8,128}$/, "an Alchemy key: letters, digits, - and _"))),
    null,
    "Needed beside PORTFOLIO_PROVIDER=alchemy; chains without nodes of their own are then read through Alchemy's.",
  ),
  portfolioTokenLists: setting(
    "PORTFOLIO_TOKEN_LISTS",
    commaSeparated(textValue),
    [],
    "Token lists of your own, as files or web addresses, separated by commas; they come before the built-in ones.",
  ),
  portfolioDefiLlama: setting(
    "PORTFOLIO_DEFILLAMA",
    booleanText,
    false,
    "Whether prices that no oracle on chain knows are asked of DefiLlama.",
  ),
  rpcUrlsEthereum: setting("RPC_URL_1", nodes, [], nodesOf("Ethereum")),
  rpcUrlsOptimism: setting("RPC_URL_10", nodes, [], nodesOf("OP Mainnet")),
  rpcUrlsPolygon: setting("RPC_URL_137", nodes, [], nodesOf("Polygon")),
  rpcUrlsBase: setting("RPC_URL_8453", nodes, [], nodesOf("Base")),
  rpcUrlsArbitrum: setting("RPC_URL_42161", nodes, [], nodesOf("Arbitrum One")),
};

export const paywallSettings = {
  portfolioPriceUsd: setting(
    "PORTFOLIO_PRICE_USD",
    usdAmount,
    "0.01",
    "Price of one snapshot, in US dollars.",
  ),
  payTo: setting("PAY_TO", optional(address), null, "Address that is paid; needed to sell anything."),
  facilitatorUrl: setting(
    "FACILITATOR_URL",
    optional(secret(url("http", "https"))),
    null,
    "Facilitator that carries out payments. Without it, this process does so with FACILITATOR_PRIVATE_KEY.",
  ),
  devBypass: setting(
    "X402_DEV_BYPASS",
    booleanText,
    false,
    "Gives snapshots away, for development; refused where payments are worth money or NODE_ENV is production.",
  ),
  nodeEnvironment: setting(
    "NODE_ENV",
    optional(textValue),
    null,
    "With production, what is only meant for development is refused.",
  ),
};

export const paymentSettings = {
  paymentNetwork: setting(
    "PAYMENT_NETWORK",
    matchingText(/^eip155:[1-9][0-9]{0,14}$/, "eip155: followed by a chain id"),
    "eip155:84532",
    "Chain that payments are made on.",
  ),
  paymentRpcUrls: setting(
    "PAYMENT_RPC_URL",
    commaSeparated(secret(url("http", "https"))),
    [],
    "Nodes of that chain in order of preference, separated by commas.",
  ),
  paymentAsset: setting(
    "PAYMENT_ASSET",
    optional(address),
    null,
    "Token that is paid with; it must take signed transfers (EIP-3009). Without it, USDC on Base and Base Sepolia.",
  ),
  paymentAssetName: setting(
    "PAYMENT_ASSET_NAME",
    optional(textValue),
    null,
    "Name in the EIP-712 domain of PAYMENT_ASSET.",
  ),
  paymentAssetVersion: setting(
    "PAYMENT_ASSET_VERSION",
    optional(textValue),
    null,
    "Version in the EIP-712 domain of PAYMENT_ASSET.",
  ),
};

/** Who carries payments out, and what that may cost: in a process of its own, or within the portfolio service. */
export const gasSettings = {
  facilitatorPrivateKey: setting(
    "FACILITATOR_PRIVATE_KEY",
    optional(secret(key as SettingKind<Hex>)),
    null,
    "Key of the account that carries out payments and pays their gas.",
  ),
  facilitatorGasPriceMax: setting(
    "FACILITATOR_GAS_PRICE_MAX",
    optional(gweiAmount),
    null,
    "Most paid per gas, in gwei. Without it, the cap of the payment chain; needed on a chain Sextant does not know.",
  ),
  facilitatorGasPercentMax: setting(
    "FACILITATOR_GAS_PERCENT_MAX",
    integer(1, 1_000_000),
    100,
    "Most that the gas of one transfer may cost, in percent of what it moves; applies where the coin's price is known.",
  ),
  facilitatorRevertedGasMax: setting(
    "FACILITATOR_REVERTED_GAS_MAX",
    integer(0, 1_000_000_000),
    2_000_000,
    "Gas that reverted transfers of contract accounts may cost within an hour; 0 serves no contract account.",
  ),
};

export const facilitatorSettings = {
  facilitatorPort: setting(
    "FACILITATOR_PORT",
    port,
    3004,
    "Port of the facilitator; 0 lets the system choose.",
  ),
  ...gasSettings,
  facilitatorAmountMin: setting(
    "FACILITATOR_AMOUNT_MIN",
    integer(1, 1_000_000_000_000),
    1_000,
    "Smallest payment that is worth its gas, in the token's smallest units.",
  ),
  facilitatorPayees: setting(
    "FACILITATOR_PAYEES",
    commaSeparated(address),
    [],
    "Who may be paid at our cost. Without it everybody, which is refused on a mainnet.",
  ),
};

export const databaseSettings = {
  databaseUrl: setting(
    "DATABASE_URL",
    optional(secret(url("postgres", "postgresql"))),
    null,
    "PostgreSQL 14 or newer. Without it an embedded server runs in the data folder.",
  ),
  databaseSchema: setting(
    "DATABASE_SCHEMA",
    matchingText(/^[a-z_][a-z0-9_]{0,47}$/, "a lower-case SQL name of at most 48 characters"),
    "sextant",
    "Schema that separates several deployments in one database.",
  ),
  dataFolder: setting(
    "SEXTANT_DATA",
    textValue,
    ".sextant",
    "Folder of the embedded database and of local state.",
  ),
};

/** All of them: what is not here and carries our prefix is a typo. */
export const allSettings = {
  ...processSettings,
  ...listenSettings,
  ...requestSettings,
  ...indexerSettings,
  ...apiSettings,
  ...writeSettings,
  ...portfolioSettings,
  ...paywallSettings,
  ...paymentSettings,
  ...facilitatorSettings,
  ...databaseSettings,
};

export const variableRules = {
  prefixes: ["SEXTANT_"],
  known: Object.values(allSettings).map((each) => each.variable),
};
