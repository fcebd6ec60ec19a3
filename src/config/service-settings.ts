// Settings that every service has: the process, its addresses, requests and the database.
import {
  booleanText,
  integer,
  matchingText,
  oneOf,
  optionalSetting,
  portOrShared,
  postgresUrl,
  secret,
  setting,
  textValue,
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

/** For the services that sign responses: the API and the portfolio service. */
export const signingSettings = {
  signingKeys: optionalSetting(
    "SEXTANT_SIGNING_KEYS",
    secret(textValue),
    "Keys that sign responses and receipts, from `sextant signing-key`, the same for all processes. Default: nothing is signed.",
  ),
  signingKeysFile: optionalSetting(
    "SEXTANT_SIGNING_KEYS_FILE",
    textValue,
    "File with those keys, readable by its owner only.",
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
