// Maps errors of the driver to faults that say what to do; errors about the data itself stay unchanged.
import { DatabaseError } from "pg";
import { Fault, type FaultCode } from "../../lib/fault.ts";

/** The database as messages name it, without the password. */
export type DatabaseTarget = {
  readonly server: string;
  readonly database: string;
  readonly user: string;
  /** The setting that names it; DATABASE_URL if absent. */
  readonly variable?: string;
};

export const SQLSTATE = {
  uniqueViolation: "23505",
  readOnlyTransaction: "25006",
  insufficientPrivilege: "42501",
  undefinedColumn: "42703",
  undefinedTable: "42P01",
  duplicateSchema: "42P06",
  lockNotAvailable: "55P03",
  queryCanceled: "57014",
} as const;

type MessageTemplate = (target: DatabaseTarget) => string;

const URL_VARIABLE = "DATABASE_URL";

const unreachable: MessageTemplate = ({ server, variable = URL_VARIABLE }) =>
  `PostgreSQL does not respond at ${server}; start it, or correct ${variable}.`;
const disconnected: MessageTemplate = ({ server }) => `The connection to PostgreSQL at ${server} was lost.`;
const demoted: MessageTemplate = ({ server }) =>
  `PostgreSQL at ${server} accepts no writes: it is no longer the primary.`;
const authenticationFailed: MessageTemplate = ({ server, user, variable = URL_VARIABLE }) =>
  `PostgreSQL at ${server} rejects the user "${user}" or its password; correct ${variable}.`;
const untrustedCertificate: MessageTemplate = ({ server, variable = URL_VARIABLE }) =>
  `The certificate of PostgreSQL at ${server} is not trusted; add sslrootcert=<file> to ${variable}.`;

// Errors by SQLSTATE, SQLSTATE class, or system error code; the longest match wins.
const BY_CODE: Readonly<Record<string, readonly [FaultCode, MessageTemplate]>> = {
  ECONNREFUSED: ["DATABASE_UNREACHABLE", unreachable],
  ENOENT: ["DATABASE_UNREACHABLE", unreachable],
  EACCES: ["DATABASE_UNREACHABLE", ({ server }) => `This user may not open the socket in ${server}.`],
  EHOSTUNREACH: ["DATABASE_UNREACHABLE", unreachable],
  ENETUNREACH: ["DATABASE_UNREACHABLE", unreachable],
  ETIMEDOUT: ["DATABASE_UNREACHABLE", unreachable],
  ENOTFOUND: [
    "DATABASE_UNREACHABLE",
    ({ server, variable = URL_VARIABLE }) => `The host name in ${server} is unknown; correct ${variable}.`,
  ],
  EAI_AGAIN: [
    "DATABASE_UNREACHABLE",
    ({ server }) => `The host name in ${server} cannot be resolved right now.`,
  ],
  ECONNRESET: ["DATABASE_UNREACHABLE", disconnected],
  EPIPE: ["DATABASE_UNREACHABLE", disconnected],
  DEPTH_ZERO_SELF_SIGNED_CERT: ["DATABASE_UNREACHABLE", untrustedCertificate],
  SELF_SIGNED_CERT_IN_CHAIN: ["DATABASE_UNREACHABLE", untrustedCertificate],
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: ["DATABASE_UNREACHABLE", untrustedCertificate],
  ERR_TLS_CERT_ALTNAME_INVALID: ["DATABASE_UNREACHABLE", untrustedCertificate],
  "08": ["DATABASE_UNREACHABLE", disconnected],
  "57P": ["DATABASE_UNREACHABLE", ({ server }) => `PostgreSQL at ${server} is starting or stopping.`],
  // The server was demoted under the session, or the name in the URL leads to another server now.
  "25006": ["DATABASE_UNREACHABLE", demoted],
  "28": ["DATABASE_UNREACHABLE", authenticationFailed],
  "3D000": [
    "DATABASE_UNREACHABLE",
    ({ server, database, variable = URL_VARIABLE }) =>
      `The database "${database}" does not exist on ${server}; create it, or correct ${variable}.`,
  ],
  "53300": [
    "DATABASE_UNREACHABLE",
    ({ server }) =>
      `PostgreSQL at ${server} has no connection left; raise max_connections or lower the pool.`,
  ],
  "53": ["DATABASE_FULL", ({ server }) => `PostgreSQL at ${server} has no disk space or memory left.`],
  "58030": ["DATABASE_FULL", ({ server }) => `PostgreSQL at ${server} cannot read or write its disk.`],
  "40": ["DATABASE_BUSY", () => "The database aborted this transaction because of a conflict; try again."],
  "55P03": ["DATABASE_BUSY", () => "Another transaction holds what this one needs; try again."],
  "57014": ["TIMED_OUT", () => "The database did not finish within its time limit."],
  "25P0": ["TIMED_OUT", () => "The transaction was open for longer than allowed."],
};

// A migration changed the columns of a prepared statement, or the server forgot it: only a new connection helps.
const STALE_STATEMENT = ["0A000", "26000"];
const NEEDS_NEW_CONNECTION: ReadonlySet<string> = new Set([...STALE_STATEMENT, SQLSTATE.readOnlyTransaction]);

// Errors of the driver without a code, and of the server with one that says too little.
const BY_MESSAGE: readonly (readonly [RegExp, FaultCode, MessageTemplate])[] = [
  [
    /^timeout exceeded when trying to connect/,
    "OVERLOADED",
    () => "All connections to the database are busy.",
  ],
  [/^Query read timeout/, "TIMED_OUT", () => "The database did not respond within its time limit."],
  [/after calling end on the pool|Client was closed/, "SHUTTING_DOWN", () => "The database has been closed."],
  [/^cached plan must not change/, "DATABASE_BUSY", () => "The schema has just changed; try again."],
  // `BEGIN … read write` on a standby, with the SQLSTATE of features that do not exist.
  [/^cannot set transaction read-write mode during recovery/, "DATABASE_UNREACHABLE", demoted],
  [/connection timeout|^timeout expired/, "DATABASE_UNREACHABLE", unreachable],
  [/^Connection terminated|not queryable/, "DATABASE_UNREACHABLE", disconnected],
  [/password must be a/, "DATABASE_UNREACHABLE", authenticationFailed],
  [
    /does not support SSL/,
    "DATABASE_UNREACHABLE",
    ({ server, variable = URL_VARIABLE }) =>
      `PostgreSQL at ${server} does not support TLS; remove sslmode from ${variable}.`,
  ],
];

/** Returns a Fault if waiting, retrying or another configuration helps; returns anything else unchanged. */
export function toDatabaseFault(error: unknown, target: DatabaseTarget): unknown {
  if (error instanceof Fault || !(error instanceof Error)) return error;
  const row = byCode(error) ?? byMessage(error);
  if (!row) return error;
  const [code, formatMessage] = row;
  return new Fault(code, formatMessage(target), { cause: error });
}

/** Whether the connection that threw it must not be used again. */
export function isConnectionBroken(error: unknown): boolean {
  if (error instanceof DatabaseError) {
    return (
      error.severity === "FATAL" || error.severity === "PANIC" || NEEDS_NEW_CONNECTION.has(error.code ?? "")
    );
  }
  return error instanceof Error && (byCode(error) ?? byMessage(error)) !== undefined;
}

/** The SQLSTATE of a server error, also inside a Fault. */
export function sqlState(error: unknown): string | undefined {
  const origin = error instanceof Fault ? error.cause : error;
  return origin instanceof DatabaseError ? origin.code : undefined;
}

function byCode(error: Error): readonly [FaultCode, MessageTemplate] | undefined {
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  for (let length = code.length; length >= 2; length -= 1) {
    const row = BY_CODE[code.slice(0, length)];
    // A prefix is a class of SQLSTATEs; names of system errors match only in full.
    if (row && (length === code.length || error instanceof DatabaseError)) return row;
  }
  // All addresses failed (localhost as IPv4 and IPv6), usually for the same reason.
  const [first] = error instanceof AggregateError ? error.errors : [];
  return first instanceof Error ? byCode(first) : undefined;
}

function byMessage(error: Error): readonly [FaultCode, MessageTemplate] | undefined {
  const row = BY_MESSAGE.find(([pattern]) => pattern.test(error.message));
  return row && [row[1], row[2]];
}

/** For reads before the indexer has created its tables. */
export function createIndexEmptyFault(cause?: unknown): Fault {
  const options = cause === undefined ? {} : { cause };
  return new Fault("INDEX_EMPTY", "Nothing is indexed yet; retry when /ready returns 200.", options);
}
