// The error that this package throws, and how to read the errors of the file system, initdb and the server.

export type EmbeddedPostgresErrorCode =
  | "DATABASE_START_FAILED"
  | "DATABASE_IN_USE"
  | "DATABASE_INCOMPATIBLE"
  | "DATABASE_FULL";

/** The only error thrown on purpose. The message is one sentence that says what to do. */
export class EmbeddedPostgresError extends Error {
  override readonly name = "EmbeddedPostgresError";
  readonly code: EmbeddedPostgresErrorCode;

  constructor(code: EmbeddedPostgresErrorCode, message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.code = code;
  }
}

/** `holder` names the process that owns the server. */
export function databaseInUseError(folder: string, holder: string): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    "DATABASE_IN_USE",
    `The database in ${folder} is in use by process ${holder}; give this one another --data folder or a DATABASE_URL.`,
  );
}

// The reason is in the last lines; more would bury it.
const OUTPUT_LINES_MAX = 15;

/** Extracts the reason from the output of initdb or the server; the last lines of the output become the cause. */
export function createStartError(
  step: "initialised" | "started",
  folder: string,
  output: string,
): EmbeddedPostgresError {
  const lines = output.trim().split("\n").slice(-OUTPUT_LINES_MAX);
  const cause = new Error(lines.join("\n") || "no output");
  if (/No space left on device|Disk quota exceeded/.test(output)) {
    return new EmbeddedPostgresError(
      "DATABASE_FULL",
      `The disk that holds ${folder} is full; free some space and start again.`,
      { cause },
    );
  }
  const reason = lines.map((line) => /(?:FATAL|PANIC|error|ERROR):\s+(.*)/.exec(line)?.[1]).find(Boolean);
  return new EmbeddedPostgresError(
    "DATABASE_START_FAILED",
    `The embedded database in ${folder} could not be ${step}${reason ? `: ${reason}` : ""}.`,
    { cause },
  );
}

export function isNotFoundError(error: unknown): boolean {
  return systemErrorCode(error) === "ENOENT" || systemErrorCode(error) === "ENOTDIR";
}

/** rename() fails this way when another process created its complete folder first. */
export function isAlreadyExistsError(error: unknown): boolean {
  return systemErrorCode(error) === "ENOTEMPTY" || systemErrorCode(error) === "EEXIST";
}

export function systemErrorCode(error: unknown): string | undefined {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : undefined;
}
