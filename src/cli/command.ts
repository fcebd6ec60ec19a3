// Types of a `sextant` subcommand and of the context it runs in.
import type { Environment } from "../config/read-config.ts";
import type { Log } from "../lib/log.ts";

export type CommandOption = {
  readonly type: "string" | "boolean";
  /** Shown in --help after the option, such as `N` or `DIR`. */
  readonly valueName?: string;
  /** A former name that is still accepted. */
  readonly alias?: string;
  readonly description: string;
};

export type CommandOptions = Readonly<Record<string, string | boolean | undefined>>;

export type CommandContext = {
  readonly environment: Environment;
  readonly options: CommandOptions;
  readonly log: Log;
  /** Writes to standard output: the result of the command, as opposed to its log. */
  readonly print: (text: string) => void;
  /** Aborted on SIGTERM or SIGINT: finish what is in flight, then return. */
  readonly stop: AbortSignal;
  /** Called with the URL of a service once it listens. */
  readonly onListening?: (url: string) => void;
};

/** Runs to completion or until `stop` aborts, and returns the exit code. */
export type RunCommand = (context: CommandContext) => Promise<number>;

export type Command = {
  readonly name: string;
  /** One line for `sextant --help`. */
  readonly summary: string;
  /** A few sentences for `sextant <command> --help`. */
  readonly description: string;
  readonly options: Readonly<Record<string, CommandOption>>;
  readonly load: () => Promise<RunCommand>;
};
