// Help texts: what a command is for, its options, examples and exit codes, wrapped to the width of the terminal.
import { PROGRAM } from "../lib/program.ts";
import type { Command, CommandExtension, CommandOption } from "./command.ts";
import { joinParts, wrapText } from "./display/plain-text.ts";
import { EXIT_CODES, type ExitCode } from "./exit-codes.ts";

export const GLOBAL_OPTIONS: Readonly<Record<string, CommandOption>> = {
  help: { type: "boolean", description: "show this text" },
  debug: { type: "boolean", description: "show stack traces when a command fails" },
};

type Pairs = readonly (readonly [string, string])[];

// Longer lines are hard to read, however wide the terminal is.
const WIDTH_MAX = 100;
const WIDTH = 80;
// A longer name has its line, so that it does not narrow the texts of all.
const NAME_WIDTH_MAX = 26;
const TEXT_WIDTH_MIN = 24;

/** Every command may end with these. */
const COMMON_EXITS = [0, 64, 65, 69, 70, 74, 78, 130] as const satisfies readonly ExitCode[];

/** The width of help for a terminal; undefined for a file or a program, 0 for a terminal without a known size. */
export function helpWidth(columns: number | undefined): number {
  return Math.min(columns || WIDTH, WIDTH_MAX);
}

export function formatOverview(commands: readonly Command[], width: number): string {
  const rows = (isClient: boolean) =>
    formatPairs(
      commands
        .filter(({ client }) => (client !== undefined) === isClient)
        .map(({ name, summary }) => [name, summary]),
      width,
    );
  return [
    ...wrapText(
      "Sextant: wallet snapshots for AI agents, paid with x402, and an indexing API of an agent commerce protocol.",
      width,
    ),
    "",
    `Usage: ${PROGRAM} <command> [options]`,
    "",
    "Use the services",
    ...rows(true),
    "",
    "Run the services",
    ...rows(false),
    "",
    ...wrapText(
      `Run \`${PROGRAM} help <command>\` for the options of a command. Configuration comes from environment variables and a .env file in the working directory: \`${PROGRAM} docs\` has a page of all.`,
      width,
    ),
    "",
  ].join("\n");
}

export function formatCommandHelp(
  { name, description, options, client, exits = {} }: Command,
  extension: ReturnType<CommandExtension["describe"]>,
  width: number,
): string {
  const pairs = Object.entries({ ...extension.options, ...options, ...GLOBAL_OPTIONS }).map(
    ([key, option]) =>
      [
        `--${key}${option.valueName ? ` ${option.valueName}` : ""}`,
        `${option.description}${formatHints(option)}`,
      ] as const,
  );
  const operands = client === undefined || client.operands === "" ? "" : ` ${client.operands}`;
  const examples = extension.examples ?? client?.examples ?? [];
  const paragraphs = [description, ...extension.text].flatMap((each) => [
    ...(typeof each === "string" ? wrapText(each, width) : formatPairs(each, width)),
    "",
  ]);
  return [
    ...wrapText(`Usage: ${PROGRAM} ${name}${operands} [options]`, width),
    "",
    ...paragraphs,
    ...formatPairs(pairs, width),
    "",
    ...(examples.length === 0 ? [] : ["Examples"]),
    ...examples.flatMap((each) => formatExample(`${PROGRAM} ${each}`, width)),
    ...(examples.length === 0 ? [] : [""]),
    "Exit codes",
    ...formatPairs(listExits(exits), width),
    "",
  ].join("\n");
}

function listExits(own: NonNullable<Command["exits"]>): Pairs {
  const codes = Object.keys(EXIT_CODES).map(Number) as ExitCode[];
  const isCommon = (code: ExitCode) => COMMON_EXITS.some((each) => each === code);
  return codes
    .filter((code) => isCommon(code) || own[code] !== undefined)
    .map((code) => {
      const meaning = own[code];
      return [String(code), typeof meaning === "string" ? meaning : EXIT_CODES[code]] as const;
    });
}

/** Two columns, the right one wrapped below its first line. */
function formatPairs(pairs: Pairs, width: number): string[] {
  const widest = Math.max(0, ...pairs.map(([left]) => left.length).filter((each) => each <= NAME_WIDTH_MAX));
  const indent = " ".repeat(widest + 4);
  return pairs.flatMap(([left, right]) => {
    const lines = wrapText(right, Math.max(width - indent.length, TEXT_WIDTH_MIN));
    const below = lines.map((line) => indent + line);
    if (left.length > widest) return [...wrapValues(left, width), ...below];
    return [`  ${left.padEnd(widest)}  ${lines[0] ?? ""}`.trimEnd(), ...below.slice(1)];
  });
}

/** An option with many values breaks between two of them. */
function wrapValues(option: string, width: number): string[] {
  const parts = option.split(/(?<=\|)/);
  return joinParts(parts, "", width - 6).map((line, index) => `${index === 0 ? "  " : "      "}${line}`);
}

/** A command that does not fit goes on after a backslash, so that it can be pasted. */
function formatExample(command: string, width: number): string[] {
  // An option stays with its value.
  const parts = command.split(/ (?=--|[|>])/).flatMap((part) => {
    return part.length > width - 6 ? part.split(" ") : [part];
  });
  const lines = joinParts(parts, " ", width - 6);
  return lines.map((line, index) => {
    return `${index === 0 ? "  " : "    "}${line}${index === lines.length - 1 ? "" : " \\"}`;
  });
}

function formatHints({ variable, alias, repeatable }: CommandOption): string {
  return `${repeatable ? " (repeatable)" : ""}${variable ? ` (instead of ${variable})` : ""}${alias ? ` (alias: --${alias})` : ""}`;
}
