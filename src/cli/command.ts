// What a subcommand of `sextant` is, and what it is handed when it runs.
import type { Environment } from "../config/read-config.ts";
import type { Log } from "../lib/log.ts";

export type CommandOption = {
  readonly type: "string" | "boolean";
  /** Shown in --help after the option, such as `N` or `DIR`. */
  readonly valueName?: string;
  readonly description: string;
};

export type CommandContext = {
  readonly environment: Environment;
  readonly options: Readonly<Record<string, string | boolean | undefined>>;
  readonly log: Log;
  /** Writes to standard output: what the command answers, as opposed to what it logs. */
  readonly print: (text: string) => void;
  /** Aborted on SIGTERM or SIGINT: finish what is in flight, then return. */
  readonly stop: AbortSignal;
  /** Called with the address of a service once it listens. */
  readonly onListening?: (url: string) => void;
};

/** Runs to its end, or until `stop`; the result is the exit code. */
export type RunCommand = (context: CommandContext) => Promise<number>;

export type Command = {
  readonly name: string;
  /** A few words for `sextant --help`. */
  readonly summary: string;
  /** A few sentences for `sextant <command> --help`. */
  readonly description: string;
  readonly options: Readonly<Record<string, CommandOption>>;
  readonly load: () => Promise<RunCommand>;
};

/** Resolves when the signal aborts. */
export function waitForAbort(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
