// A `sextant` subcommand: its type, the context that it runs in, and its options.
import type { Environment } from "../config/read-config.ts";
import { Fault } from "../lib/fault.ts";
import type { Log } from "../lib/log.ts";
import type { Display } from "./display/display.ts";
import type { ProgressLine } from "./display/progress.ts";
import type { ExitCode } from "./exit-codes.ts";

export type CommandOption = {
  readonly type: "string" | "boolean";
  /** May be given more than once. */
  readonly repeatable?: true;
  /** Shown in --help after the option, such as `N` or `DIR`. */
  readonly valueName?: string;
  /** A former name that is still accepted. */
  readonly alias?: string;
  readonly description: string;
  /** The environment variable that the option replaces. */
  readonly variable?: string;
};

export type CommandOptions = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

/** Options that the description of the API adds to a command, apart from the command's own. */
export type ApiOptions = Readonly<Record<string, string | undefined>>;

export type CommandContext = {
  readonly environment: Environment;
  readonly options: CommandOptions;
  readonly log: Log;
  /** Writes to standard output: the result of the command, as opposed to its log. */
  readonly print: (text: string) => void;
  /** The width of the terminal that the result goes to; null or absent if it goes to a file or a program. */
  readonly columns?: number | null;
  /** Aborted on SIGTERM or SIGINT: finish what is in flight, then return. */
  readonly stop: AbortSignal;
  /** Shows how far long work is; absent if standard error is not a terminal, so that the log says it. */
  readonly progress?: ProgressLine | undefined;
  /** Called with the URL of a service once it listens. */
  readonly onListening?: (url: string) => void;
};

/** Runs to completion or until `stop` aborts, and returns the exit code. */
export type RunCommand = (context: CommandContext) => Promise<number>;

/** The additional parts of commands that use the services rather than run them. They write no log. */
export type ClientContext = Omit<CommandContext, "print" | "log" | "progress" | "columns"> & {
  /** The operands: arguments without an option's name. */
  readonly operands: readonly string[];
  /** Filters and parameters of the API. An option of the command itself is never one of them. */
  readonly filters: ApiOptions;
  readonly display: Display;
  /** Resolves when the reader has taken the text: a list is not read faster than it is shown. */
  readonly print: (text: string) => Promise<void>;
};

export type RunClientCommand = (context: ClientContext) => Promise<number>;

/** Options and help that come from the description of the API. */
export type CommandExtension = {
  /** The operands that a shell can complete. */
  readonly operands?: readonly string[];
  readonly options: Readonly<Record<string, CommandOption>>;
  readonly describe: (operands: readonly string[]) => {
    /** Between the description and the options: a paragraph, or pairs of a name and its meaning. */
    readonly text: readonly (string | readonly (readonly [string, string])[])[];
    /** The options to show: an operand may narrow them. */
    readonly options: Readonly<Record<string, CommandOption>>;
    /** Instead of those of the command. */
    readonly examples?: readonly string[];
  };
};

export type Command = {
  readonly name: string;
  /** One line for `sextant --help`. */
  readonly summary: string;
  /** A few sentences for `sextant <command> --help`. */
  readonly description: string;
  readonly options: Readonly<Record<string, CommandOption>>;
  /** Exit codes besides those of every command: their meaning here, or true for the general one. */
  readonly exits?: Readonly<Partial<Record<ExitCode, string | true>>>;
  /** Works on the database of a running service, or on the configured one, and says which. */
  readonly isOperator?: true;
} & (
  | { readonly client: ClientHelp; readonly load: () => Promise<RunClientCommand> }
  | { readonly client?: undefined; readonly load: () => Promise<RunCommand | RunClientCommand> }
);

/** Help of commands that use the services: operands, commands to copy, and what the API adds. */
type ClientHelp = {
  readonly operands: string;
  readonly operandsMax: number;
  readonly examples: readonly string[];
  readonly extend?: () => Promise<CommandExtension>;
};

export function readStringOption(options: CommandOptions, name: string): string | undefined {
  const value = options[name];
  return typeof value === "string" ? value : undefined;
}

/** Every value of a repeatable option, in order. */
export function readRepeatedOption(options: CommandOptions, name: string): readonly string[] {
  const values = options[name];
  return Array.isArray(values) ? values : [];
}

/** Returns null if the option is absent. */
export function readIntegerOption(options: CommandOptions, name: string, min: number): number | null {
  const value = readStringOption(options, name);
  if (value === undefined) return null;
  const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
  if (number >= min) return number;
  throw new Fault("USAGE_INVALID", `--${name} must be a whole number of at least ${min}, not "${value}".`);
}

/** The environment in which options that replace a variable have done so. */
export function withOptions(
  environment: Environment,
  command: Command,
  options: CommandOptions,
): Environment {
  const given = Object.entries(command.options).flatMap(([name, { variable }]) => {
    const value = readStringOption(options, name);
    return variable === undefined || value === undefined ? [] : [[variable, value]];
  });
  return { ...environment, ...Object.fromEntries(given) };
}
