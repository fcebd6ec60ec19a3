// The command line: which command, which options, and the help that describes both.
import { parseArgs } from "node:util";
import { Fault } from "../lib/fault.ts";
import type { Command, CommandOption } from "./command.ts";

export type Invocation =
  | { readonly kind: "help"; readonly text: string }
  | {
      readonly kind: "run";
      readonly command: Command;
      readonly options: Record<string, string | boolean | undefined>;
    };

const EVERYWHERE: Record<string, CommandOption> = {
  help: { type: "boolean", description: "show this text" },
  debug: { type: "boolean", description: "show stack traces when something fails" },
};

export function parseArguments(argv: readonly string[], commands: readonly Command[]): Invocation {
  const [name, ...rest] = argv;
  if (name === undefined || name === "--help" || name === "-h" || name === "help") {
    return { kind: "help", text: overview(commands) };
  }
  const command = commands.find((each) => each.name === name);
  if (!command) {
    throw new Fault(
      "USAGE_INVALID",
      `There is no command "${name}"; run \`sextant --help\` to see those there are.`,
    );
  }
  const options = readOptions(command, rest);
  return options.help ? { kind: "help", text: manual(command) } : { kind: "run", command, options };
}

function readOptions(
  { name, options }: Command,
  argv: readonly string[],
): Record<string, string | boolean | undefined> {
  try {
    const known = { ...options, ...EVERYWHERE };
    const config = Object.fromEntries(
      Object.entries(known).map(([key, { type }]) => [key, key === "help" ? { type, short: "h" } : { type }]),
    );
    return {
      ...parseArgs({ args: [...argv], options: config, strict: true, allowPositionals: false }).values,
    };
  } catch (cause) {
    // parseArgs explains itself in its first sentence; the rest advises about "--", which we do not use.
    const [sentence] = cause instanceof Error ? cause.message.split(/\. |\n/) : [];
    const hint = `run \`sextant ${name} --help\` to see its options.`;
    throw new Fault("USAGE_INVALID", `${sentence ?? "The options are not valid"}; ${hint}`, { cause });
  }
}

function overview(commands: readonly Command[]): string {
  const width = Math.max(...commands.map(({ name }) => name.length));
  const rows = commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`);
  return [
    "Sextant tells an AI agent where it stands.",
    "",
    "Usage: sextant <command> [options]",
    "",
    ...rows,
    "",
    "`sextant <command> --help` describes one of them. Configuration comes from environment variables",
    "(and a .env file in the working folder): see .env.example.",
    "",
  ].join("\n");
}

function manual({ name, description: about, options }: Command): string {
  const entries = Object.entries({ ...options, ...EVERYWHERE }).map(([key, option]) => ({
    left: `--${key}${option.valueName ? ` ${option.valueName}` : ""}`,
    meaning: option.description,
  }));
  const width = Math.max(...entries.map(({ left }) => left.length));
  const rows = entries.map(({ left, meaning }) => `  ${left.padEnd(width)}  ${meaning}`);
  return [`Usage: sextant ${name} [options]`, "", about, "", ...rows, ""].join("\n");
}
