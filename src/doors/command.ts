// What a subcommand of `sextant` is, and what it is handed when it runs.
import type { Environment } from "../kit/config.ts";
import type { Log } from "../kit/log.ts";

export type CommandOption = {
  readonly type: "string" | "boolean";
  /** Shown in --help after the option, such as `N` or `DIR`. */
  readonly value?: string;
  readonly meaning: string;
};

export type CommandContext = {
  readonly environment: Environment;
  readonly options: Readonly<Record<string, string | boolean | undefined>>;
  readonly log: Log;
  /** Writes to standard output: what the command answers, as opposed to what it logs. */
  readonly say: (text: string) => void;
  /** Aborted on SIGTERM or SIGINT: finish what is in flight, then return. */
  readonly stop: AbortSignal;
};

/** What is known of a command before it is loaded. */
export type CommandEntry = {
  readonly name: string;
  readonly summary: string;
  readonly load: () => Promise<Command>;
};

export type Command = {
  /** A few sentences for `sextant <command> --help`. */
  readonly about: string;
  readonly options: Readonly<Record<string, CommandOption>>;
  /** Runs to its end, or until `stop`; the result is the exit code. */
  readonly run: (context: CommandContext) => Promise<number>;
};

/** Resolves when the signal aborts. */
export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
