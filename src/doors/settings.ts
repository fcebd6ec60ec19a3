// Every environment variable Sextant reads, grouped by what needs it.
import { LOG_LEVELS } from "../kit/log.ts";
import {
  baseUrl,
  flag,
  integer,
  listOf,
  matching,
  oneOf,
  optional,
  port,
  secret,
  setting,
  text,
  url,
} from "../kit/setting.ts";

export const processSettings = {
  logLevel: setting("SEXTANT_LOG_LEVEL", oneOf(LOG_LEVELS), "info", "How much is logged."),
  debug: setting("SEXTANT_DEBUG", flag, false, "Show stack traces when a command fails."),
};

export const listenSettings = {
  host: setting(
    "HOST",
    text,
    "127.0.0.1",
    "Address the services listen on; 0.0.0.0 opens them to the network.",
  ),
};

export const requestSettings = {
  bodyBytesMax: setting(
    "SEXTANT_BODY_BYTES_MAX",
    integer(1_024, 16_777_216),
    262_144,
    "Largest request body in bytes.",
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
    text,
    "base-sepolia",
    "Deployment to index: a name under deployments/ or the path of a deployment file.",
  ),
  rpcUrls: setting(
    "RPC_URL",
    listOf(secret(url("http", "https", "ws", "wss"))),
    [],
    "Nodes in order of preference, separated by commas; ws:// ones tell of new heads.",
  ),
  logRangeMax: setting(
    "SEXTANT_LOG_RANGE_MAX",
    integer(1, 1_000_000),
    10_000,
    "Most blocks asked for in one log query; the range adapts below it.",
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
    flag,
    false,
    "Needed beside WRITE_AUTH=open on a chain that is not local.",
  ),
};

export const portfolioSettings = {
  portfolioPort: setting(
    "PORTFOLIO_PORT",
    port,
    3002,
    "Port of the portfolio service; 0 lets the system choose.",
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
    matching(/^[a-z_][a-z0-9_]{0,47}$/, "a lower-case SQL name of at most 48 characters"),
    "sextant",
    "Schema that separates several deployments in one database.",
  ),
  dataFolder: setting(
    "SEXTANT_DATA",
    text,
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
  ...databaseSettings,
};

export const variableRules = {
  prefixes: ["SEXTANT_"],
  known: Object.values(allSettings).map((each) => each.variable),
  families: [],
};
