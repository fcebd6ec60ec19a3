// Parses the command line: which command runs with which options and operands, or which help is shown.
import { type ParseArgsConfig, parseArgs } from "node:util";
import { Fault } from "../lib/fault.ts";
import { suggestName } from "../lib/nearest-name.ts";
import { PROGRAM } from "../lib/program.ts";
import type { ApiOptions, Command, CommandExtension, CommandOptions } from "./command.ts";
import { formatCommandHelp, formatOverview, GLOBAL_OPTIONS } from "./help.ts";

type Invocation =
  | { readonly kind: "help"; readonly text: string }
  | {
      readonly kind: "run";
      readonly command: Command;
      readonly options: CommandOptions;
      readonly filters: ApiOptions;
      readonly operands: readonly string[];
    };

const NO_EXTENSION: CommandExtension = { options: {}, describe: () => ({ text: [], options: {} }) };

export async function parseArguments(
  argv: readonly string[],
  commands: readonly Command[],
  /** The width of the help. */
  width: number,
): Promise<Invocation> {
  const [first, ...others] = argv;
  // `help list intents` is `list intents --help`.
  const [name, ...rest] = first === "help" && others.length > 0 ? [...others, "--help"] : argv;
  if (name === undefined || name === "--help" || name === "-h" || name === "help") {
    return { kind: "help", text: formatOverview(commands, width) };
  }
  const command = commands.find((each) => each.name === name);
  if (!command) {
    const hint = `run \`${PROGRAM} --help\` to list the commands.`;
    throw new Fault(
      "USAGE_INVALID",
      `Unknown command "${name}"; ${suggestName(
        name,
        commands.map((each) => each.name),
        hint,
      )}`,
    );
  }
  const extension = (await command.client?.extend?.()) ?? NO_EXTENSION;
  const { options, filters, operands } = parseOptions(command, extension, rest);
  return options.help
    ? { kind: "help", text: formatCommandHelp(command, extension.describe(operands), width) }
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
    const names = Object.keys(config).map((key) => `--${key}`);
    throw new Fault("USAGE_INVALID", describeProblem(cause, names, hint), { cause });
  }
}

function describeProblem(cause: unknown, names: readonly string[], hint: string): string {
  // The first sentence of parseArgs is the problem; the rest advises about "--", which we do not use.
  const [problem = ""] = cause instanceof Error ? cause.message.split(/\. |\.?\n/) : [];
  const valueless = /^Option '(--\S+?)(?: <value>)?' argument (?:is ambiguous|missing)/.exec(problem)?.[1];
  if (valueless !== undefined) return `Option '${valueless}' needs a value; ${hint}`;
  const unknown = /^Unknown option '(--[^']+)'/.exec(problem)?.[1];
  const advice = unknown === undefined ? hint : suggestName(unknown, names, hint);
  return `${problem || "The options are invalid"}; ${advice}`;
}
