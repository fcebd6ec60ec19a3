// One clear sentence from what initdb or the server said last, with its own words kept as the cause.
import { Fault } from "../../src/lib/fault.ts";

// The few file-system failures that are answers rather than errors.

export function isNotFoundError(error: unknown): boolean {
  return systemErrorCode(error) === "ENOENT" || systemErrorCode(error) === "ENOTDIR";
}

/** What rename says when another process put its complete folder there first. */
export function isAlreadyExistsError(error: unknown): boolean {
  return systemErrorCode(error) === "ENOTEMPTY" || systemErrorCode(error) === "EEXIST";
}

export function systemErrorCode(error: unknown): string | undefined {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : undefined;
}

// The reason stands in the last lines; more would bury it.
const LINES_KEPT = 15;

export function createStartError(step: "initialised" | "started", folder: string, output: string): Fault {
  const lines = output.trim().split("\n").slice(-LINES_KEPT);
  const cause = new Error(lines.join("\n") || "it said nothing");
  if (/No space left on device|Disk quota exceeded/.test(output)) {
    return new Fault(
      "DATABASE_FULL",
      `The disk that holds ${folder} is full; free some space and start again.`,
      {
        cause,
      },
    );
  }
  const reason = lines.map((line) => /(?:FATAL|PANIC|error|ERROR):\s+(.*)/.exec(line)?.[1]).find(Boolean);
  return new Fault(
    "DATABASE_START_FAILED",
    `The embedded database in ${folder} could not be ${step}${reason ? `: ${reason}` : ""}.`,
    { cause },
  );
}
