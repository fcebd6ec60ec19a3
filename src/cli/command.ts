// A `sextant` subcommand: its type, the context it runs in, the parsing of its command line, and its help text.
import { type ParseArgsConfig, parseArgs } from "node:util";
import type { Environment } from "../config/read-config.ts";
import { Fault } from "../lib/fault.ts";
import type { Log } from "../lib/log.ts";

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

type CommandOptions = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

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

type Invocation =
  | { readonly kind: "help"; readonly text: string }
  | { readonly kind: "run"; readonly command: Command; readonly options: CommandOptions };

const GLOBAL_OPTIONS: Record<string, CommandOption> = {
  help: { type: "boolean", description: "show this text" },
  debug: { type: "boolean", description: "show stack traces when a command fails" },
};

/** How to start it. Only this is ours everywhere: outside the clone npx would run another author's package. */
const PROGRAM = "node bin/sextant.mjs";

export function parseArguments(argv: readonly string[], commands: readonly Command[]): Invocation {
  const [name, ...rest] = argv;
  if (name === undefined || name === "--help" || name === "-h" || name === "help") {
    return { kind: "help", text: formatOverview(commands) };
  }
  const command = commands.find((each) => each.name === name);
  if (!command) {
    throw new Fault(
      "USAGE_INVALID",
      `Unknown command "${name}"; run \`${PROGRAM} --help\` to list the commands.`,
    );
  }
  const options = parseOptions(command, rest);
  return options.help
    ? { kind: "help", text: formatCommandHelp(command) }
    : { kind: "run", command, options };
}

function parseOptions({ name, options }: Command, argv: readonly string[]): CommandOptions {
  const declared = Object.entries({ ...options, ...GLOBAL_OPTIONS });
  const config: NonNullable<ParseArgsConfig["options"]> = Object.fromEntries(
    declared.flatMap(([key, { type, alias, repeatable = false }]) => [
      [key, key === "help" ? { type, short: "h" } : { type, multiple: repeatable }],
      ...(alias === undefined ? [] : [[alias, { type }]]),
    ]),
  );
  try {
    const parsed = parseArgs({ args: [...argv], options: config, strict: true, allowPositionals: false });
    // Only what is not strict may mix text and booleans in one list.
    const values = parsed.values as CommandOptions;
    return Object.fromEntries(
      declared.map(([key, { alias }]) => [key, values[key] ?? (alias && values[alias])]),
    );
  } catch (cause) {
    // The first sentence of parseArgs is the problem; the rest advises about "--", which we do not use.
    const [problem] = cause instanceof Error ? cause.message.split(/\. |\n/) : [];
    const hint = `run \`${PROGRAM} ${name} --help\` to list its options.`;
    throw new Fault("USAGE_INVALID", `${problem ?? "The options are invalid"}; ${hint}`, { cause });
  }
}

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

function formatOverview(commands: readonly Command[]): string {
  const width = Math.max(...commands.map(({ name }) => name.length));
  const rows = commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`);
  return [
    "Sextant: wallet snapshots for AI agents, paid with x402, and an indexing API of an agent commerce protocol.",
    "",
    `Usage: ${PROGRAM} <command> [options]`,
    "",
    ...rows,
    "",
    `Run \`${PROGRAM} <command> --help\` for the options of a command. Configuration comes from`,
    "environment variables and a .env file in the working directory: see .env.example.",
    "",
  ].join("\n");
}

function formatCommandHelp({ name, description, options }: Command): string {
  const entries = Object.entries({ ...options, ...GLOBAL_OPTIONS }).map(([key, option]) => ({
    left: `--${key}${option.valueName ? ` ${option.valueName}` : ""}`,
    right: `${option.description}${formatHints(option)}`,
  }));
  const width = Math.max(...entries.map(({ left }) => left.length));
  const rows = entries.map(({ left, right }) => `  ${left.padEnd(width)}  ${right}`);
  return [`Usage: ${PROGRAM} ${name} [options]`, "", description, "", ...rows, ""].join("\n");
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

function formatHints({ variable, alias, repeatable }: CommandOption): string {
  return `${repeatable ? " (repeatable)" : ""}${variable ? ` (instead of ${variable})` : ""}${alias ? ` (alias: --${alias})` : ""}`;
}
