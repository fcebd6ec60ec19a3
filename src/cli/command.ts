// A `sextant` subcommand: its type, the context it runs in, the parsing of its command line, and its help text.
import { type ParseArgsConfig, parseArgs } from "node:util";
import type { Environment } from "../config/read-config.ts";
import { Fault } from "../lib/fault.ts";
import type { Log } from "../lib/log.ts";
import type { Display } from "./display/display.ts";
import { EXIT_CODES } from "./exit-codes.ts";

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

/** Options that the description of the API adds to a command, apart from the command's own. */
export type ApiOptions = Readonly<Record<string, string | undefined>>;

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

/** The additional parts of commands that use the services rather than run them. */
export type ClientContext = Omit<CommandContext, "print"> & {
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
  readonly options: Readonly<Record<string, CommandOption>>;
  /** Between the description and the options. */
  readonly formatHelp: (operands: readonly string[]) => {
    readonly text: string;
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
  readonly load: () => Promise<RunClientCommand>;
  /** Works on the database of a running service, or on the configured one, and says which. */
  readonly isOperator?: true;
  /** Help of commands that use the services: operands, commands to copy, and what the API adds. */
  readonly client?: {
    readonly operands: string;
    readonly operandsMax: number;
    readonly examples: readonly string[];
    readonly extend?: () => Promise<CommandExtension>;
  };
};

type Invocation =
  | { readonly kind: "help"; readonly text: string }
  | {
      readonly kind: "run";
      readonly command: Command;
      readonly options: CommandOptions;
      readonly filters: ApiOptions;
      readonly operands: readonly string[];
    };

const GLOBAL_OPTIONS: Record<string, CommandOption> = {
  help: { type: "boolean", description: "show this text" },
  debug: { type: "boolean", description: "show stack traces when a command fails" },
};

const NO_EXTENSION: CommandExtension = { options: {}, formatHelp: () => ({ text: "", options: {} }) };

/** As the descriptions of commands. */
export const HELP_WIDTH = 116;

/** How to start it. Only this is ours everywhere: outside the clone npx would run another author's package. */
export const PROGRAM = "node bin/sextant.mjs";

export async function parseArguments(
  argv: readonly string[],
  commands: readonly Command[],
): Promise<Invocation> {
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
  const extension = (await command.client?.extend?.()) ?? NO_EXTENSION;
  const { options, filters, operands } = parseOptions(command, extension, rest);
  return options.help
    ? { kind: "help", text: formatCommandHelp(command, extension.formatHelp(operands)) }
    : { kind: "run", command, options, filters, operands };
}

function parseOptions(command: Command, extension: CommandExtension, argv: readonly string[]) {
  const own = { ...command.options, ...GLOBAL_OPTIONS };
  const declared = Object.entries({ ...extension.options, ...own });
  const config: NonNullable<ParseArgsConfig["options"]> = Object.fromEntries(
    declared.flatMap(([key, { type, alias, repeatable = false }]) => [
      [key, key === "help" ? { type, short: "h" } : { type, multiple: repeatable }],
      ...(alias === undefined ? [] : [[alias, { type }]]),
    ]),
  );
  const hint = `run \`${PROGRAM} ${command.name} --help\` to list its options.`;
  const operandsMax = command.client?.operandsMax ?? 0;
  try {
    const parsed = parseArgs({
      args: [...argv],
      options: config,
      strict: true,
      allowPositionals: operandsMax > 0,
    });
    const { positionals: operands } = parsed;
    if (operands.length > operandsMax) throw new TypeError(`Unexpected argument '${operands[operandsMax]}'`);
    // Only what is not strict may mix text and booleans in one list.
    const values = parsed.values as CommandOptions;
    const given = declared.map(([key, { alias }]) => [key, values[key] ?? (alias && values[alias])] as const);
    const isOwn = ([key]: (typeof given)[number]) => Object.hasOwn(own, key);
    return {
      options: Object.fromEntries(given.filter(isOwn)) as CommandOptions,
      filters: Object.fromEntries(given.filter((each) => !isOwn(each))) as ApiOptions,
      operands,
    };
  } catch (cause) {
    // The first sentence of parseArgs is the problem; the rest advises about "--", which we do not use.
    const [problem] = cause instanceof Error ? cause.message.split(/\. |\n/) : [];
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
  const rows = (isClient: boolean) =>
    formatPairs(
      commands
        .filter(({ client }) => (client !== undefined) === isClient)
        .map(({ name, summary }) => [name, summary]),
    );
  return [
    "Sextant: wallet snapshots for AI agents, paid with x402, and an indexing API of an agent commerce protocol.",
    "",
    `Usage: ${PROGRAM} <command> [options]`,
    "",
    "Use the services",
    ...rows(true),
    "",
    "Run the services",
    ...rows(false),
    "",
    `Run \`${PROGRAM} <command> --help\` for the options of a command. Configuration comes from`,
    "environment variables and a .env file in the working directory: see .env.example.",
    "",
  ].join("\n");
}

function formatCommandHelp(
  { name, description, options, client }: Command,
  extension: ReturnType<CommandExtension["formatHelp"]>,
): string {
  const pairs = Object.entries({ ...extension.options, ...options, ...GLOBAL_OPTIONS }).map(
    ([key, option]) =>
      [
        `--${key}${option.valueName ? ` ${option.valueName}` : ""}`,
        `${option.description}${formatHints(option)}`,
      ] as const,
  );
  const operands = client === undefined || client.operands === "" ? "" : ` ${client.operands}`;
  return [
    `Usage: ${PROGRAM} ${name}${operands} [options]`,
    "",
    description,
    "",
    ...(extension.text === "" ? [] : [extension.text, ""]),
    ...formatPairs(pairs),
    "",
    ...(client === undefined
      ? []
      : [
          "Examples",
          ...(extension.examples ?? client.examples).map((each) => `  ${PROGRAM} ${each}`),
          "",
          "Exit codes",
          ...formatPairs(Object.entries(EXIT_CODES)),
          "",
        ]),
  ].join("\n");
}

/** Two columns, the right one wrapped. */
export function formatPairs(pairs: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(0, ...pairs.map(([left]) => left.length));
  const indent = " ".repeat(width + 4);
  return pairs.flatMap(([left, right]) => {
    const [first = "", ...rest] = wrapText(right, Math.max(HELP_WIDTH - indent.length, 40));
    return [`  ${left.padEnd(width)}  ${first}`, ...rest.map((line) => indent + line)];
  });
}

export function wrapText(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
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
