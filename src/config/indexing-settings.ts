// Settings of the index: the indexer, its API with writes and webhooks, and the nodes that they read.
import type { Secret } from "../lib/secret.ts";
import {
  baseUrl,
  booleanText,
  commaSeparated,
  integer,
  matchingText,
  oneOf,
  optionalSetting,
  port,
  postgresUrl,
  privateKey,
  secret,
  setting,
  textValue,
  url,
  usdAmount,
} from "./setting-kinds.ts";

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
  apiProofPriceUsd: optionalSetting(
    "API_PROOF_PRICE_USD",
    usdAmount,
    "What `proof=1` adds to the price of a sold record. Default: nothing.",
  ),
  signReads: setting(
    "SEXTANT_SIGN_READS",
    booleanText,
    false,
    "Sign all GET responses of the API, not only with `signed=1`.",
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

export const webhookSettings = {
  webhookKey: optionalSetting(
    "SEXTANT_WEBHOOK_KEY",
    secret(privateKey),
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

type Urls = readonly Secret<string>[];

/** Splits configured nodes by transport: HTTP for requests, WebSocket only for new heads. */
export function splitRpcUrls(urls: Urls): { readonly http: Urls; readonly sockets: Urls } {
  const isSocket = (url: Secret<string>) => /^wss?:/i.test(url.reveal());
  return { http: urls.filter((url) => !isSocket(url)), sockets: urls.filter(isSocket) };
}
