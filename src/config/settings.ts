// Every environment variable of Sextant, grouped by the services that read it, and the version.
import { readFileSync } from "node:fs";
import { PORTFOLIO_CHAINS } from "../chain/chains/chains.ts";
import type { Hex } from "../lib/hex.ts";
import type { Secret } from "../lib/secret.ts";
import { type Environment, readConfig } from "./read-config.ts";
import {
  baseUrl,
  booleanText,
  commaSeparated,
  gweiAmount,
  integer,
  keyOfAccount,
  matchingText,
  oneOf,
  optionalSetting,
  origin,
  port,
  portOrShared,
  postgresUrl,
  secret,
  setting,
  textValue,
  url,
  usdAmount,
} from "./setting-kinds.ts";

const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;

export const processSettings = {
  logLevel: setting("SEXTANT_LOG_LEVEL", oneOf(LOG_LEVELS), "info", "Log level."),
  debug: setting("SEXTANT_DEBUG", booleanText, false, "Show stack traces when a command fails."),
};

export const listenSettings = {
  host: setting(
    "HOST",
    textValue,
    "127.0.0.1",
    "Address the services listen on; 0.0.0.0 exposes them to the network.",
  ),
};

/** For services that the public uses; others have a port for nothing but their status. */
export const metricsSettings = {
  metricsPort: optionalSetting(
    "SEXTANT_METRICS_PORT",
    portOrShared,
    "Port of /metrics of the API, the portfolio service and the facilitator; by default their own port plus 100. With shared, /metrics is on their own port. A number is for one process; sextant serve has the metrics of its API on it, and those of its portfolio service on the next one.",
  ),
  metricsHost: setting(
    "SEXTANT_METRICS_HOST",
    textValue,
    "127.0.0.1",
    "Address on which that port listens; 0.0.0.0 lets other machines read metrics.",
  ),
};

export const requestSettings = {
  bodyBytesMax: setting(
    "SEXTANT_BODY_BYTES_MAX",
    integer(1_024, 16_777_216),
    262_144,
    "Largest request body in bytes; some endpoints have a lower limit.",
  ),
  requestMsMax: setting(
    "SEXTANT_REQUEST_MS_MAX",
    integer(100, 600_000),
    30_000,
    "Time limit to receive a request, and again to respond to it, in milliseconds.",
  ),
  requestsPerMinuteMax: setting(
    "SEXTANT_REQUESTS_PER_MINUTE",
    integer(0, 1_000_000),
    1_200,
    "Maximum requests per client and minute; 0 disables the limit.",
  ),
  bodyBytesPerMinuteMax: setting(
    "SEXTANT_BODY_BYTES_PER_MINUTE",
    integer(0, 1_000_000_000_000),
    // 64 bodies of the largest size, about one per second: less than 1 % of the time of a process.
    16_777_216,
    "Maximum bytes of request bodies per client and minute; 0 disables the limit.",
  ),
  connectionsMax: setting(
    "SEXTANT_CONNECTIONS_MAX",
    integer(0, 1_000_000),
    // Four services in one process stay below the lowest common limit of file descriptors (4,096), and unread responses
    // of the largest size on all connections below one gigabyte.
    1_000,
    "Maximum open connections; 0 disables the limit.",
  ),
  connectionsPerClientMax: setting(
    "SEXTANT_CONNECTIONS_PER_CLIENT",
    integer(0, 1_000_000),
    // More than the connection pool of one program; exhausting all connections takes four addresses.
    256,
    "Maximum open connections per client address; 0 disables the limit. Ignored if SEXTANT_TRUST_PROXY is set.",
  ),
  trustedProxies: setting(
    "SEXTANT_TRUST_PROXY",
    integer(0, 10),
    0,
    "Number of trusted proxies in front that set X-Forwarded-For; 0 trusts none.",
  ),
};

export const indexerSettings = {
  indexerPort: setting("INDEXER_PORT", port, 3003, "Port of the indexer's /health, /ready and /metrics."),
  network: setting(
    "NETWORK",
    textValue,
    "base-sepolia",
    "Deployment to index: a name in deployments/ or the path of a deployment file.",
  ),
  deployments: setting(
    "DEPLOYMENTS",
    commaSeparated(matchingText(/^[^\s,]+$/, "a name in deployments/ or the path of a deployment file")),
    [],
    "Further deployments, each with a schema, an indexing loop and an API of its own.",
  ),
  rpcUrls: setting(
    "RPC_URL",
    commaSeparated(secret(url("http", "https", "ws", "wss"))),
    [],
    "Nodes in order of preference; ws:// nodes announce new heads.",
  ),
  logRangeMax: setting(
    "SEXTANT_LOG_RANGE_MAX",
    integer(1, 1_000_000),
    10_000,
    "Maximum block range of one log query; the range adapts below it.",
  ),
  comparedPercent: setting(
    "SEXTANT_COMPARED_PERCENT",
    integer(0, 100),
    5,
    "Percentage of large historical log ranges that a second node must confirm; small ranges always are.",
  ),
  auditSeconds: setting(
    "SEXTANT_AUDIT_SECONDS",
    integer(0, 86_400),
    120,
    "Seconds between two self-audits, in which the indexer compares samples of history and rows with the chain; 0 disables them.",
  ),
};

/** The nodes of a further deployment, which any chain may have. */
export function nodesOfChain(chainId: number) {
  const kind = commaSeparated(secret(url("http", "https", "ws", "wss")));
  return setting(`RPC_URL_${chainId}`, kind, [], `Nodes of the deployments on chain ${chainId}.`);
}

export const apiSettings = {
  apiPort: setting("API_PORT", port, 3001, "Port of the indexing API; 0 lets the system choose."),
  apiPriceUsd: optionalSetting(
    "API_PRICE_USD",
    usdAmount,
    "Price of a read, and of each minute of a stream, by payment channel. Default: free.",
  ),
};

export const replicaSettings = {
  databaseReadUrls: setting(
    "DATABASE_READ_URL",
    commaSeparated(secret(postgresUrl)),
    [],
    "Replicas of the database to read the index from. Default: the primary serves all reads.",
  ),
  databaseReadLagMsMax: setting(
    "DATABASE_READ_LAG_MS_MAX",
    integer(100, 3_600_000),
    // Replicas are behind by milliseconds, and by seconds under a large write; a client sees at most that much.
    5_000,
    "A replica that has been missing something for longer, in milliseconds, is not read from; it comes back at half of it.",
  ),
};

export const eventSettings = {
  eventStreamsMax: setting(
    "SEXTANT_EVENT_STREAMS_MAX",
    integer(0, 1_000_000),
    // Below the limit of connections, so that ordinary requests always find one.
    800,
    "Maximum open event streams; each takes a connection. 0 allows none.",
  ),
  eventStreamsPerClientMax: setting(
    "SEXTANT_EVENT_STREAMS_PER_CLIENT",
    integer(0, 1_000_000),
    // More than a person or a program needs; forty addresses are needed to take every slot.
    20,
    "Maximum open event streams per client.",
  ),
};

export const writeSettings = {
  publicBaseUrl: optionalSetting(
    "PUBLIC_BASE_URL",
    baseUrl,
    "URL for clients; part of document URIs and of signed writes. Default: the address listened on.",
  ),
  writeAuth: optionalSetting(
    "WRITE_AUTH",
    oneOf(["open", "signed"]),
    "Who may write: anyone, or signers only. Default: open on a local chain, signed elsewhere.",
  ),
  allowOpenWrites: setting(
    "ALLOW_OPEN_WRITES",
    booleanText,
    false,
    "Required with WRITE_AUTH=open on a chain that is not local.",
  ),
  // 512 documents of the largest size, or tens of thousands of quotes: more than a publisher needs.
  clientBytesPerDayMax: setting(
    "SEXTANT_CLIENT_BYTES_PER_DAY",
    integer(0, 1_000_000_000_000),
    67_108_864,
    "Maximum bytes that one client may store per day (UTC); 0 disables the limit.",
  ),
  // Fits five clients that use their daily limit every day until unreferenced records expire.
  storedBytesMax: setting(
    "SEXTANT_STORED_BYTES_MAX",
    integer(0, 1_000_000_000_000_000),
    10_737_418_240,
    "Maximum bytes of all written records; beyond it writes respond 503. 0 disables the limit.",
  ),
  // Documents are published before the transaction that references them: by minutes, or as long as a deal takes.
  unreferredDays: setting(
    "SEXTANT_UNREFERRED_DAYS",
    integer(1, 36_500),
    30,
    "Days after which written records without a reference in the index are deleted.",
  ),
};

const key = matchingText<Hex>(/^0x[0-9a-fA-F]{64}$/, "a private key: 0x followed by 64 hex digits");
const accountKey = keyOfAccount("a private key: 0x followed by 64 hex digits");

export const webhookSettings = {
  webhookKey: optionalSetting(
    "SEXTANT_WEBHOOK_KEY",
    secret(key),
    "Key from which the keys of all webhooks are derived, the same for all processes. Without it there are no webhooks.",
  ),
  webhooksFile: optionalSetting(
    "SEXTANT_WEBHOOKS_FILE",
    textValue,
    "JSON file with the operator's own webhooks.",
  ),
  webhooksMax: setting(
    "SEXTANT_WEBHOOKS_MAX",
    integer(0, 1_000),
    // As many as one process can deliver to at once.
    1_000,
    "Maximum webhooks of all owners; 0 leaves only those of the operator.",
  ),
  webhooksPerOwnerMax: setting(
    "SEXTANT_WEBHOOKS_PER_OWNER",
    integer(1, 1_000),
    10,
    "Maximum webhooks of one owner, and of all owners that name one account.",
  ),
  webhookDelivery: setting(
    "SEXTANT_WEBHOOK_DELIVERY",
    booleanText,
    true,
    "Whether API processes deliver to webhooks; with false only `sextant webhooks` does.",
  ),
};

export const webhookCommandSettings = {
  webhooksPort: setting(
    "WEBHOOKS_PORT",
    port,
    3005,
    "Port of /health, /ready and /metrics of `sextant webhooks`; 0 lets the system choose.",
  ),
};

const address = matchingText(/^0x[0-9a-fA-F]{40}$/, "an address: 0x followed by 40 hex digits");

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
export function readPortfolioNodes(environment: Environment): ReadonlyMap<number, Urls> {
  const nodes = readConfig(environment, portfolioNodeSettings);
  return new Map(PORTFOLIO_CHAINS.map(({ chainId }) => [chainId, nodes[`RPC_URL_${chainId}`] ?? []]));
}

export const paywallSettings = {
  portfolioPriceUsd: setting("PORTFOLIO_PRICE_USD", usdAmount, "0.01", "Price of one snapshot."),
  exposurePriceUsd: optionalSetting(
    "EXPOSURE_PRICE_USD",
    usdAmount,
    "Price of one exposure; unless set, that of a snapshot.",
  ),
  diffPriceUsd: optionalSetting(
    "DIFF_PRICE_USD",
    usdAmount,
    "Price of one difference of two snapshots; unless set, that of a snapshot.",
  ),
  priceUsdPerChain: optionalSetting(
    "PRICE_USD_PER_CHAIN",
    usdAmount,
    "What each chain after the first adds to the price of a request.",
  ),
  priceUsdSummary: optionalSetting(
    "PRICE_USD_SUMMARY",
    usdAmount,
    "Price of any paid response with `detail=summary`; unless set, that of the full one.",
  ),
  unpaidPerMinute: setting(
    "PORTFOLIO_UNPAID_PER_MINUTE",
    integer(0, 1_000_000),
    100,
    "Maximum rejected payments per client and minute, and a fifth as many unpaid runs; 0 disables both limits. Each process counts for itself.",
  ),
  payTo: optionalSetting("PAY_TO", address, "Address that receives payments; required to sell snapshots."),
  facilitatorUrl: optionalSetting(
    "FACILITATOR_URL",
    secret(url("http", "https")),
    "Facilitator that settles payments. Default: this process settles with FACILITATOR_PRIVATE_KEY.",
  ),
  mppKey: optionalSetting(
    "PAYMENT_MPP_KEY",
    secret(key),
    "Key of challenges by the Machine Payments Protocol, the same for all processes. Without it, only x402 pays.",
  ),
  devBypass: setting(
    "X402_DEV_BYPASS",
    booleanText,
    false,
    "Serves snapshots without payment, for development; rejected on a mainnet or if NODE_ENV is production.",
  ),
  nodeEnvironment: optionalSetting(
    "NODE_ENV",
    textValue,
    "With production, development-only settings are rejected.",
  ),
};

/** For what keeps a ledger of payments: the portfolio service and the facilitator. */
export const ledgerSettings = {
  allowAsyncLedger: setting(
    "SEXTANT_ALLOW_ASYNC_LEDGER",
    booleanText,
    false,
    "Sell although a fail-over of the database would lose payments, because no standby confirms commits.",
  ),
};

export const paymentSettings = {
  paymentNetwork: setting(
    "PAYMENT_NETWORK",
    matchingText(/^eip155:[1-9][0-9]{0,14}$/, "eip155: followed by a chain id"),
    "eip155:84532",
    "Payment chain (CAIP-2).",
  ),
  paymentRpcUrls: setting(
    "PAYMENT_RPC_URL",
    commaSeparated(secret(url("http", "https"))),
    [],
    "Nodes of the payment chain in order of preference.",
  ),
  paymentAsset: optionalSetting(
    "PAYMENT_ASSET",
    address,
    "Payment token; it must support signed transfers (EIP-3009). Default: USDC on Base and Base Sepolia.",
  ),
  paymentAssetName: optionalSetting(
    "PAYMENT_ASSET_NAME",
    textValue,
    "Name in the EIP-712 domain of PAYMENT_ASSET.",
  ),
  paymentAssetVersion: optionalSetting(
    "PAYMENT_ASSET_VERSION",
    textValue,
    "Version in the EIP-712 domain of PAYMENT_ASSET.",
  ),
};

/** Payment channels of the portfolio service. */
export const channelSettings = {
  channelsOn: setting(
    "PAYMENT_CHANNELS",
    booleanText,
    false,
    "Sell by payment channel too: one deposit pays for many calls.",
  ),
  channelKey: optionalSetting(
    "PAYMENT_CHANNEL_KEY",
    secret(accountKey),
    "Key that signs claims and refunds, the same for all processes; every channel contains its address.",
  ),
  channelOldKeys: setting(
    "PAYMENT_CHANNEL_OLD_KEYS",
    commaSeparated(secret(accountKey)),
    [],
    "Keys before that one, while their channels are not empty.",
  ),
  channelWithdrawSeconds: setting(
    "PAYMENT_CHANNEL_WITHDRAW_SECONDS",
    integer(900, 2_592_000),
    // A night in which nothing claims costs nothing.
    86_400,
    "Time between the start and the end of a payer's withdrawal; what is not claimed by then is lost.",
  ),
  channelDepositUsd: setting("PAYMENT_CHANNEL_DEPOSIT_USD", usdAmount, "0.10", "Smallest deposit."),
  channelExposureUsd: setting(
    "PAYMENT_CHANNEL_EXPOSURE_USD",
    usdAmount,
    "1",
    "Sum that a channel may owe before its deposit is final; at least a price.",
  ),
  channelFreeCalls: setting(
    "PAYMENT_CHANNEL_FREE_CALLS",
    integer(0, 1_000),
    0,
    "Free calls of a payer an hour; of all payers, a hundred times as many.",
  ),
  channelClaimUsd: setting(
    "PAYMENT_CHANNEL_CLAIM_USD",
    usdAmount,
    "1",
    "Sum of unclaimed purchases that is claimed; a channel that owes less than a hundredth of it is left out.",
  ),
  channelClaimSeconds: setting(
    "PAYMENT_CHANNEL_CLAIM_SECONDS",
    integer(60, 864_000),
    3_600,
    "Age at which a smaller sum is claimed; at most a third of the withdrawal's time.",
  ),
  channelsMax: setting(
    "PAYMENT_CHANNELS_MAX",
    integer(1, 10_000_000),
    100_000,
    "Maximum channels that were used within a day; others are paid by transfer.",
  ),
};

/** Key and gas limits for settling payments, in a facilitator process or within the portfolio service. */
export const gasSettings = {
  facilitatorPrivateKey: optionalSetting(
    "FACILITATOR_PRIVATE_KEY",
    secret(accountKey),
    "Key of the account that settles payments and pays their gas.",
  ),
  facilitatorGasPriceMax: optionalSetting(
    "FACILITATOR_GAS_PRICE_MAX",
    gweiAmount,
    "Maximum fee per gas, in gwei. Default: the cap of the payment chain; required on an unknown chain.",
  ),
  facilitatorGasPercentMax: setting(
    "FACILITATOR_GAS_PERCENT_MAX",
    integer(1, 1_000_000),
    100,
    "Maximum gas cost of a transfer, in percent of its amount; applies if the price of the native coin is known.",
  ),
  facilitatorRevertedGasMax: setting(
    "FACILITATOR_REVERTED_GAS_MAX",
    integer(0, 1_000_000_000),
    2_000_000,
    "Maximum gas per hour for reverted transfers of contract accounts; 0 rejects contract accounts.",
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
    "Smallest accepted payment, in the token's smallest unit.",
  ),
  facilitatorPayees: setting(
    "FACILITATOR_PAYEES",
    commaSeparated(address),
    [],
    "Payees to settle payments for. Default: any, which is rejected on a mainnet.",
  ),
  facilitatorChannelAuthorizers: setting(
    "FACILITATOR_CHANNEL_AUTHORIZERS",
    commaSeparated(address),
    [],
    "Accounts of PAYMENT_CHANNEL_KEY of the payees: transactions of their channels are sent. Default: of none.",
  ),
};

/** Settings of the commands that use the services: where those are, who pays, and how much may be spent. */
export const clientSettings = {
  apiUrl: optionalSetting(
    "SEXTANT_API_URL",
    baseUrl,
    "Indexing API that the client commands read. Default: that of a local run.",
  ),
  portfolioUrl: optionalSetting(
    "SEXTANT_PORTFOLIO_URL",
    baseUrl,
    "Portfolio service that they buy from. Default: that of a local run.",
  ),
  payerKey: optionalSetting(
    "SEXTANT_PAYER_KEY",
    secret(accountKey),
    "Key of the account that pays. Default: the payer of a local run.",
  ),
  payerKeyFile: optionalSetting(
    "SEXTANT_PAYER_KEY_FILE",
    textValue,
    "File with that key instead, readable by its owner only.",
  ),
  guardNetwork: optionalSetting(
    "SEXTANT_GUARD_NETWORK",
    matchingText<`eip155:${number}`>(/^eip155:[1-9][0-9]{0,14}$/, "eip155: followed by a chain id"),
    "The only chain that is paid on. Default: that of a local run, otherwise Base.",
  ),
  guardAsset: optionalSetting(
    "SEXTANT_GUARD_ASSET",
    matchingText<Hex>(/^0x[0-9a-fA-F]{40}$/, "an address: 0x followed by 40 hex digits"),
    "The only token that is paid with; six decimals. Default: that of a local run, otherwise USDC.",
  ),
  guardPayees: optionalSetting(
    "SEXTANT_GUARD_PAYEES",
    matchingText(
      /^(?:first|0x[0-9a-fA-F]{40}(?:, ?0x[0-9a-fA-F]{40})*)$/,
      "first, or addresses separated by commas",
    ),
    "Who may be paid; first trusts the payee of the first payment and no other after it. Default: that of a local run.",
  ),
  guardPerPayment: setting("SEXTANT_GUARD_PER_PAYMENT", usdAmount, "0.05", "Largest payment that is signed."),
  guardPerHour: setting("SEXTANT_GUARD_PER_HOUR", usdAmount, "1", "Most that is signed in an hour."),
  guardPerDay: setting("SEXTANT_GUARD_PER_DAY", usdAmount, "5", "Most that is signed in a day."),
  guardTotal: setting(
    "SEXTANT_GUARD_TOTAL",
    usdAmount,
    "50",
    "Most that is signed in all payments of the journal.",
  ),
  channelDeposit: optionalSetting(
    "SEXTANT_CHANNEL_DEPOSIT",
    usdAmount,
    "Deposit of a payment channel; without one, transfers pay.",
  ),
  guardNode: optionalSetting(
    "SEXTANT_GUARD_NODE",
    secret(url("http", "https")),
    "Node of that chain, by which `payments recover` releases reserved amounts that were not charged.",
  ),
  journalFile: optionalSetting(
    "SEXTANT_JOURNAL",
    textValue,
    "Journal of payments. Default: a file per payer in the state folder of the user, or in the data folder of a local run.",
  ),
  natsUrl: optionalSetting(
    "SEXTANT_NATS_URL",
    secret(url("nats", "tls")),
    "NATS server that `sextant publish` copies events to, with user and password or a token.",
  ),
};

export const databaseSettings = {
  databaseUrl: optionalSetting(
    "DATABASE_URL",
    secret(postgresUrl),
    "PostgreSQL 14 or newer; several hosts, comma-separated, for fail-over. Default: an embedded server in the data folder.",
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

/** Settings of `sextant local`. Variables with our prefix that are not listed here are rejected as typos. */
export const allSettings = {
  ...processSettings,
  ...listenSettings,
  ...metricsSettings,
  ...requestSettings,
  ...indexerSettings,
  ...apiSettings,
  ...replicaSettings,
  ...eventSettings,
  ...writeSettings,
  ...webhookSettings,
  ...webhookCommandSettings,
  ...portfolioSettings,
  ...paywallSettings,
  ...paymentSettings,
  ...channelSettings,
  ...facilitatorSettings,
  ...ledgerSettings,
  ...databaseSettings,
  ...clientSettings,
};

export const variableRules = {
  prefixes: ["SEXTANT_"],
  known: Object.values(allSettings).map((each) => each.variable),
};

type Urls = readonly Secret<string>[];

/** Splits configured nodes by transport: HTTP for requests, WebSocket only for new heads. */
export function splitRpcUrls(urls: Urls): { readonly http: Urls; readonly sockets: Urls } {
  const isSocket = (url: Secret<string>) => /^wss?:/i.test(url.reveal());
  return { http: urls.filter((url) => !isSocket(url)), sockets: urls.filter(isSocket) };
}

/** The version in package.json. */
export function readVersion(): string {
  const manifest = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(manifest) as { version: string }).version;
}
