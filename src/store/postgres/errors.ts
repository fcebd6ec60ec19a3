// What the driver throws → a Fault that says what to do; errors about the data itself stay as they are.
import { DatabaseError } from "pg";
import { Fault, type FaultCode } from "../../lib/fault.ts";

/** How a database is called in messages: never with its user's password. */
export type DatabaseTarget = { readonly server: string; readonly database: string; readonly user: string };

type Sentence = (place: DatabaseTarget) => string;

const away: Sentence = ({ server }) =>
  `PostgreSQL does not answer at ${server}; start it, or correct DATABASE_URL.`;
const cut: Sentence = ({ server }) => `The connection to PostgreSQL at ${server} was lost.`;
const refused: Sentence = ({ server, user }) =>
  `PostgreSQL at ${server} refuses the user "${user}" or its password; correct DATABASE_URL.`;
const untrusted: Sentence = ({ server }) =>
  `The certificate of PostgreSQL at ${server} is not trusted; add sslrootcert=<file> to DATABASE_URL.`;

// By SQLSTATE, SQLSTATE class, or the system's code; the longest match wins.
const BY_CODE: Readonly<Record<string, readonly [FaultCode, Sentence]>> = {
  ECONNREFUSED: ["DATABASE_UNREACHABLE", away],
  ENOENT: ["DATABASE_UNREACHABLE", away],
  EACCES: ["DATABASE_UNREACHABLE", ({ server }) => `This user may not open the socket in ${server}.`],
  EHOSTUNREACH: ["DATABASE_UNREACHABLE", away],
  ENETUNREACH: ["DATABASE_UNREACHABLE", away],
  ETIMEDOUT: ["DATABASE_UNREACHABLE", away],
  ENOTFOUND: [
    "DATABASE_UNREACHABLE",
    ({ server }) => `The host name in ${server} is unknown; correct DATABASE_URL.`,
  ],
  EAI_AGAIN: [
    "DATABASE_UNREACHABLE",
    ({ server }) => `The host name in ${server} can not be looked up at the moment.`,
  ],
  ECONNRESET: ["DATABASE_UNREACHABLE", cut],
  EPIPE: ["DATABASE_UNREACHABLE", cut],
  DEPTH_ZERO_SELF_SIGNED_CERT: ["DATABASE_UNREACHABLE", untrusted],
  SELF_SIGNED_CERT_IN_CHAIN: ["DATABASE_UNREACHABLE", untrusted],
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: ["DATABASE_UNREACHABLE", untrusted],
  ERR_TLS_CERT_ALTNAME_INVALID: ["DATABASE_UNREACHABLE", untrusted],
  "08": ["DATABASE_UNREACHABLE", cut],
  "57P": ["DATABASE_UNREACHABLE", ({ server }) => `PostgreSQL at ${server} is starting or stopping.`],
  "28": ["DATABASE_UNREACHABLE", refused],
  "3D000": [
    "DATABASE_UNREACHABLE",
    ({ server, database }) =>
      `The database "${database}" does not exist on ${server}; create it, or correct DATABASE_URL.`,
  ],
  "53300": [
    "DATABASE_UNREACHABLE",
    ({ server }) =>
      `PostgreSQL at ${server} has no connection left; raise max_connections or lower the pool.`,
  ],
  "53": ["DATABASE_FULL", ({ server }) => `PostgreSQL at ${server} has no disk space or memory left.`],
  "58030": ["DATABASE_FULL", ({ server }) => `PostgreSQL at ${server} can not read or write its disk.`],
  "40": ["DATABASE_BUSY", () => "The database gave up this transaction in favour of another one; try again."],
  "55P03": ["DATABASE_BUSY", () => "Another transaction holds what this one needs; try again."],
  "57014": ["TIMED_OUT", () => "The database did not finish within its time limit."],
  "25P0": ["TIMED_OUT", () => "The transaction was open for longer than allowed."],
};

// A migration changed what a prepared statement returns, or the server forgot it: only a new connection prepares it anew.
const STALE_STATEMENT: ReadonlySet<string> = new Set(["0A000", "26000"]);

// The driver has no codes for these.
const BY_MESSAGE: readonly (readonly [RegExp, FaultCode, Sentence])[] = [
  [
    /^timeout exceeded when trying to connect/,
    "OVERLOADED",
    () => "All connections to the database are busy.",
  ],
  [/^Query read timeout/, "TIMED_OUT", () => "The database did not answer within its time limit."],
  [/after calling end on the pool|Client was closed/, "SHUTTING_DOWN", () => "The database has been closed."],
  [/^cached plan must not change/, "DATABASE_BUSY", () => "The schema has just changed; try again."],
  [/connection timeout|^timeout expired/, "DATABASE_UNREACHABLE", away],
  [/^Connection terminated|not queryable/, "DATABASE_UNREACHABLE", cut],
  [/password must be a/, "DATABASE_UNREACHABLE", refused],
  [
    /does not support SSL/,
    "DATABASE_UNREACHABLE",
    ({ server }) => `PostgreSQL at ${server} does not speak TLS; remove sslmode from DATABASE_URL.`,
  ],
];

/** A Fault where waiting, retrying or a change of configuration is the answer; anything else is returned unchanged. */
export function toDatabaseFault(error: unknown, place: DatabaseTarget): unknown {
  if (error instanceof Fault || !(error instanceof Error)) return error;
  const row = byCode(error) ?? byMessage(error);
  if (!row) return error;
  const [code, sentence] = row;
  return new Fault(code, sentence(place), { cause: error });
}

/** Whether the connection that threw it must not be used again. */
export function isConnectionBroken(error: unknown): boolean {
  if (error instanceof DatabaseError) {
    return error.severity === "FATAL" || error.severity === "PANIC" || STALE_STATEMENT.has(error.code ?? "");
  }
  return error instanceof Error && (byCode(error) ?? byMessage(error)) !== undefined;
}

/** SQLSTATE of an error of the server, through any Fault around it. */
export function sqlState(error: unknown): string | undefined {
  const origin = error instanceof Fault ? error.cause : error;
  return origin instanceof DatabaseError ? origin.code : undefined;
}

function byCode(error: Error): readonly [FaultCode, Sentence] | undefined {
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  for (let length = code.length; length >= 2; length -= 1) {
    const row = BY_CODE[code.slice(0, length)];
    // A prefix is a class of SQLSTATEs; the names of system errors only match whole.
    if (row && (length === code.length || error instanceof DatabaseError)) return row;
  }
  // Several addresses were tried (localhost as IPv4 and IPv6): they fail for the same reason mostly.
  const [first] = error instanceof AggregateError ? error.errors : [];
  return first instanceof Error ? byCode(first) : undefined;
}

function byMessage(error: Error): readonly [FaultCode, Sentence] | undefined {
  const row = BY_MESSAGE.find(([pattern]) => pattern.test(error.message));
  return row && [row[1], row[2]];
}
