// Every way Sextant can fail, in one table, and the error class that carries a row of it.

/** The meaning of a failure for a caller: an HTTP status, whether a retry can help, and a process exit code. */
type FaultKind = {
  readonly status: number;
  readonly retry: boolean;
  readonly exit: number;
  readonly description: string;
};

// Exit codes follow sysexits(3): 64 usage, 65 data, 69 unavailable, 70 software, 78 configuration.
export const FAULTS = {
  INPUT_INVALID: {
    status: 400,
    retry: false,
    exit: 65,
    description: "The request is malformed or out of range.",
  },
  CURSOR_FOREIGN: {
    status: 400,
    retry: false,
    exit: 65,
    description: "The cursor belongs to the events of another chain or of other contracts.",
  },
  STATE_UNAVAILABLE: {
    status: 400,
    retry: false,
    exit: 65,
    description: "No node has the state of a requested block; the error names the oldest one that was found.",
  },
  PAYMENT_REQUIRED: {
    status: 402,
    retry: false,
    exit: 70,
    description: "The resource requires payment, and the request carries no acceptable one.",
  },
  PAYMENT_CONFLICT: {
    status: 409,
    retry: false,
    exit: 70,
    description: "The payment, or its identifier, belongs to another request.",
  },
  PAYMENT_PENDING: {
    status: 503,
    retry: true,
    exit: 69,
    description:
      "The outcome of a payment is not known yet; the same signature gets the response and is charged once.",
  },
  FACILITATOR_UNAVAILABLE: {
    status: 503,
    retry: true,
    exit: 69,
    description: "Payments cannot be checked at the moment; nothing was charged.",
  },
  WRITE_UNAUTHENTICATED: {
    status: 401,
    retry: false,
    exit: 70,
    description: "The write is not signed, or its signature, version or deadline is not acceptable.",
  },
  WRITE_FORBIDDEN: {
    status: 403,
    retry: false,
    exit: 70,
    description:
      "The write is signed by someone who may not make it, or for something else than what was sent.",
  },
  NOT_FOUND: { status: 404, retry: false, exit: 70, description: "There is no record of that name." },
  ROUTE_UNKNOWN: { status: 404, retry: false, exit: 70, description: "No such path." },
  METHOD_NOT_ALLOWED: {
    status: 405,
    retry: false,
    exit: 70,
    description: "The path exists, but not with this method; see the Allow header.",
  },
  CONFLICT: {
    status: 409,
    retry: false,
    exit: 70,
    description: "The write contradicts what is stored or indexed.",
  },
  HASH_MISMATCH: {
    status: 409,
    retry: false,
    exit: 70,
    description: "The content has another hash than the one given for it or committed on chain.",
  },
  WRITE_REPLAYED: {
    status: 409,
    retry: false,
    exit: 70,
    description: "The signer has used this version, or a higher one, for this resource before.",
  },
  REQUEST_TOO_SLOW: {
    status: 408,
    retry: true,
    exit: 70,
    description: "The request did not arrive within its time limit.",
  },
  BODY_TOO_LARGE: {
    status: 413,
    retry: false,
    exit: 70,
    description: "The request body is larger than allowed.",
  },
  CONTENT_TYPE_UNSUPPORTED: {
    status: 415,
    retry: false,
    exit: 70,
    description: "The request body has a content type that the path does not take.",
  },
  RATE_LIMITED: {
    status: 429,
    retry: true,
    exit: 70,
    description: "The client has sent more than it may; Retry-After says when to try again.",
  },
  HEADERS_TOO_LARGE: {
    status: 431,
    retry: false,
    exit: 70,
    description: "The address and headers of the request are larger than allowed.",
  },
  INTERNAL: {
    status: 500,
    retry: false,
    exit: 70,
    description: "A defect in the service; the log has its cause.",
  },
  PROVIDER_FAILED: {
    status: 500,
    retry: false,
    exit: 69,
    description: "The balances of a requested chain could not be read completely; nothing was charged.",
  },
  OVERLOADED: {
    status: 503,
    retry: true,
    exit: 69,
    description: "Too much work is queued already.",
  },
  SHUTTING_DOWN: {
    status: 503,
    retry: true,
    exit: 69,
    description: "The process is shutting down; another one will respond.",
  },
  TIMED_OUT: {
    status: 503,
    retry: true,
    exit: 69,
    description: "The work did not finish within its time limit.",
  },
  DATABASE_UNREACHABLE: {
    status: 503,
    retry: true,
    exit: 69,
    description: "PostgreSQL does not respond or rejects the connection.",
  },
  DATABASE_BUSY: {
    status: 503,
    retry: true,
    exit: 69,
    description:
      "PostgreSQL aborted this transaction in favour of another one; the same work may succeed when repeated.",
  },
  DATABASE_FULL: {
    status: 503,
    retry: true,
    exit: 69,
    description: "PostgreSQL has no disk space or memory left; nothing was written.",
  },
  STORAGE_FULL: {
    status: 503,
    retry: true,
    exit: 69,
    description: "The storage for written data is full; nothing was written, and reads still work.",
  },
  DATABASE_LOCK_LOST: {
    status: 503,
    retry: true,
    exit: 69,
    description:
      "The connection that made this process the only writer is gone; another process may have taken over.",
  },
  DATABASE_INCOMPATIBLE: {
    status: 500,
    retry: false,
    exit: 78,
    description: "The database is too old, not UTF-8, or has a schema this version of Sextant does not know.",
  },
  DATABASE_IN_USE: {
    status: 500,
    retry: false,
    exit: 69,
    description: "Another process runs the embedded database of this folder, and it could not be joined.",
  },
  DATABASE_START_FAILED: {
    status: 500,
    retry: false,
    exit: 69,
    description: "The embedded database is not installed, or could not be initialised or started.",
  },
  NODE_UNAVAILABLE: {
    status: 503,
    retry: true,
    exit: 69,
    description: "No configured node gave a usable response.",
  },
  NODE_REFUSED: {
    status: 500,
    retry: false,
    exit: 70,
    description:
      "A node rejected a request as invalid, unsupported or reverted; a repeated request fails the same way.",
  },
  NODES_DISAGREE: {
    status: 503,
    retry: true,
    exit: 69,
    description:
      "Two nodes show different logs of a final block, and nothing shows which is wrong; nothing was indexed.",
  },
  BLOCK_MISSING: {
    status: 503,
    retry: true,
    exit: 69,
    description: "A node does not have a requested block or transaction, not yet or no longer.",
  },
  NODE_STATE_MISSING: {
    status: 503,
    retry: true,
    exit: 69,
    description:
      "An event's details are only in a state that no configured node has; an archive node or traces are needed.",
  },
  LOGS_TOO_LARGE: {
    status: 500,
    retry: false,
    exit: 69,
    description: "A response cannot be made smaller and still exceeds the limit of a node or our own.",
  },
  CHAIN_MISMATCH: {
    status: 500,
    retry: false,
    exit: 78,
    description: "A node serves another chain, or a contract of the deployment has no code there.",
  },
  NOT_READY: {
    status: 503,
    retry: true,
    exit: 69,
    description: "The index is not ready or no longer reliable.",
  },
  BLOCK_NOT_INDEXED: {
    status: 503,
    retry: true,
    exit: 69,
    description:
      "The index has not reached the block that x-min-block or min_block asks for; x-block-number says which it has.",
  },
  INDEX_EMPTY: { status: 503, retry: true, exit: 69, description: "Nothing is indexed yet." },
  REORG_TOO_DEEP: {
    status: 503,
    retry: false,
    exit: 65,
    description: "The chain differs from the index below a block that was final; nothing was deleted.",
  },
  DEPLOYMENT_MISMATCH: {
    status: 503,
    retry: false,
    exit: 78,
    description: "The database belongs to another chain or to other contracts than the configuration names.",
  },
  USAGE_INVALID: {
    status: 400,
    retry: false,
    exit: 64,
    description: "The command line names an unknown command or option.",
  },
  CONFIG_INVALID: {
    status: 500,
    retry: false,
    exit: 78,
    description: "An environment variable is missing, unknown or has a value that is not allowed.",
  },
  LISTEN_FAILED: {
    status: 500,
    retry: false,
    exit: 69,
    description:
      "The configured address or port cannot be listened on, usually because another process uses it.",
  },
} as const satisfies Record<string, FaultKind>;

export type FaultCode = keyof typeof FAULTS;

/** The error that we throw on purpose. The message is a clear sentence, safe to show to the caller. */
export class Fault extends Error {
  readonly code: FaultCode;
  /** The time to try again, if it is known: the Retry-After of the response. */
  readonly retryAfterSeconds: number | null;
  /** Further headers of the response, for programs. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: FaultCode,
    message: string,
    options: {
      cause?: unknown;
      retryAfterSeconds?: number;
      headers?: Readonly<Record<string, string>>;
    } = {},
  ) {
    super(message, options);
    this.name = "Fault";
    this.code = code;
    this.retryAfterSeconds = options.retryAfterSeconds ?? null;
    this.headers = options.headers ?? {};
  }

  get status(): number {
    return FAULTS[this.code].status;
  }

  get retry(): boolean {
    return FAULTS[this.code].retry;
  }

  get exit(): number {
    return FAULTS[this.code].exit;
  }
}

// Their messages are for the operator: they name hosts, users and settings that a client must not see.
const OPERATOR_ONLY = /^(?:DATABASE|NODE|CHAIN|DEPLOYMENT|CONFIG|LISTEN)_/;

/** The message that a client may see. */
export function publicMessage(fault: Fault): string {
  return OPERATOR_ONLY.test(fault.code) ? FAULTS[fault.code].description : fault.message;
}

/** Wraps anything thrown into a Fault; a foreign error becomes INTERNAL and shows nothing of its text. */
export function toFault(thrown: unknown): Fault {
  if (thrown instanceof Fault) return thrown;
  return new Fault("INTERNAL", "Something went wrong on our side.", { cause: thrown });
}
