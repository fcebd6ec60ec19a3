// Entry point of the `sextant` command: parses arguments and environment, runs one command, sets the exit code.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { type Environment, readConfig, rejectUnknownVariables } from "../config/read-config.ts";
import { processSettings } from "../config/service-settings.ts";
import { variableRules } from "../config/settings.ts";
import { systemClock } from "../lib/clock.ts";
import { Fault } from "../lib/fault.ts";
import { type Command, withOptions } from "./command.ts";
import { COMMANDS } from "./commands.ts";
import { columnsOf, createDisplay } from "./display/display.ts";
import { hangText, toPlainText } from "./display/plain-text.ts";
import { ProgressLine } from "./display/progress.ts";
import { describeFailure, INTERRUPTED, OutputError } from "./exit-codes.ts";
import { helpWidth } from "./help.ts";
import { parseArguments } from "./parse-arguments.ts";

type Stream = { write(text: string): unknown; readonly isTTY?: boolean; readonly columns?: number };

/** The part of `process` that the command uses, so that tests can run it in process. */
type Host = {
  readonly argv: readonly string[];
  readonly env: Environment;
  readonly stdout: Stream & {
    write(text: string, taken?: () => void): unknown;
    on(event: "error", listener: (error: Error) => void): unknown;
  };
  readonly stderr: Stream;
  exitCode?: number | string | null | undefined;
  cwd(): string;
  on(event: "SIGTERM" | "SIGINT", listener: (signal: NodeJS.Signals) => void): unknown;
  exit(code?: number): void;
};

// Orchestrators send SIGKILL after 10 to 30 s; exit before that.
const SHUTDOWN_MS_MAX = 10_000;

/** Runs the command that the arguments name and exits the process with its code. */
export async function main(host: Host): Promise<void> {
  const showStack = host.argv.includes("--debug") || host.env.SEXTANT_DEBUG === "true";
  const output = watchOutput(host);
  try {
    host.exitCode = await run(host, output);
    output.assertWritten();
  } catch (thrown) {
    const { sentences, exit } = describeFailure(thrown, showStack);
    // A reader such as `head` that has seen enough interrupts the command, which is not a failure.
    const isEnough = output.closed.aborted && exit === INTERRUPTED;
    if (!isEnough) {
      const lines = sentences.flatMap((each) => hangText(`sextant: ${each}`, columnsOf(host.stderr)));
      host.stderr.write(formatFailure(lines, showStack ? thrown : null));
    }
    host.exitCode = isEnough ? 0 : exit;
  }
  // A leaked timer or socket must not keep a finished command alive.
  host.exit();
}

type Output = {
  readonly print: (text: string) => Promise<void>;
  /** Aborted when nothing can be written any longer. */
  readonly closed: AbortSignal;
  /** Throws if the output was lost otherwise than by a reader that has gone. */
  assertWritten(): void;
};

function watchOutput({ stdout }: Host): Output {
  const controller = new AbortController();
  let problem: Error | null = null;
  stdout.on("error", (error) => {
    if (!("code" in error && error.code === "EPIPE")) problem = error;
    controller.abort(error);
  });
  const print = (text: string) =>
    new Promise<void>((resolve) => {
      if (controller.signal.aborted) return resolve();
      // The callback comes after a failed write as well.
      stdout.write(text, () => resolve());
    });
  const assertWritten = () => {
    if (problem !== null) throw new OutputError(problem);
  };
  return { print, closed: controller.signal, assertWritten };
}

async function run(host: Host, { print, closed }: Output): Promise<number> {
  const invocation = await parseArguments(host.argv.slice(2), COMMANDS, helpWidth(host.stdout.columns));
  if (invocation.kind === "help") {
    await print(invocation.text);
    return 0;
  }
  const { command, options, filters, operands } = invocation;
  const { environment, note } = await readSettings(
    command,
    withOptions(readEnvironment(host), command, options),
  );
  rejectUnknownVariables(environment, variableRules);
  const config = readConfig(environment, processSettings);
  const stop = AbortSignal.any([stopOnSignal(host), closed]);
  const display = createDisplay({ out: host.stdout, err: host.stderr, environment });
  if (note !== null) display.report(note);
  const context = { environment, options, filters, operands, display, print, stop };
  if (command.client !== undefined) return (await command.load())(context);
  // Loaded here: short commands write no log, and its library takes as long as the rest of them.
  const { createLog } = await import("../lib/log.ts");
  const { stderr } = host;
  const isTerminal = stderr.isTTY === true;
  const progress =
    isTerminal && environment.TERM !== "dumb" ? new ProgressLine(stderr, systemClock) : undefined;
  const above = <T>(write: () => T): T => (progress ? progress.writeAbove(write) : write());
  const terminal = isTerminal && ((text: string) => void above(() => stderr.write(text)));
  // At a terminal a short command shows its result; a level that is set shows the log as well.
  const isShort = isTerminal && command.isOperator === true && !environment.SEXTANT_LOG_LEVEL;
  const level = isShort ? "warn" : config.logLevel;
  const log = createLog({ name: command.name, level, terminal });
  try {
    const shown = { ...context, print: (text: string) => above(() => print(text)) };
    return await (await command.load())({ ...shown, columns: display.columns, log, progress });
  } finally {
    progress?.show("");
  }
}

/** The note says what a command of the operator works on. */
async function readSettings(
  { isOperator }: Command,
  environment: Environment,
): Promise<{ readonly environment: Environment; readonly note: string | null }> {
  if (isOperator !== true) return { environment, note: null };
  const { chooseOperatorDatabase } = await import("./operator-database.ts");
  return chooseOperatorDatabase(environment);
}

// The settings that decide where money goes, and how much of it.
const PAYMENT_RULES = /^SEXTANT_(?:GUARD_[A-Z_]+|CHANNEL_DEPOSIT|PORTFOLIO_URL|JOURNAL)$/;
const PAYER_KEYS = ["SEXTANT_PAYER_KEY", "SEXTANT_PAYER_KEY_FILE"];

// Variables of the process override the .env file.
function readEnvironment({ env, cwd }: Pick<Host, "env" | "cwd">): Environment {
  const file = join(cwd(), ".env");
  if (!existsSync(file)) return { ...env };
  const given = parseEnv(readFileSync(file, "utf8"));
  // A file in the working directory may have come with a download: it must not direct a key from elsewhere.
  const rule = Object.keys(given).find((name) => PAYMENT_RULES.test(name) && env[name] === undefined);
  if (rule !== undefined && PAYER_KEYS.some((name) => env[name] !== undefined)) {
    const problem = `${rule} is in .env, and the key of the payer is not; set both in the same place.`;
    throw new Fault("CONFIG_INVALID", problem);
  }
  return { ...given, ...env };
}

function stopOnSignal(host: Host): AbortSignal {
  const controller = new AbortController();
  const onSignal = (signal: NodeJS.Signals) => {
    // A second signal means that the user does not want to wait.
    if (controller.signal.aborted) host.exit(130);
    controller.abort(signal);
    setTimeout(() => {
      host.stderr.write(
        `sextant: shutdown did not finish within ${SHUTDOWN_MS_MAX / 1000} s of ${signal}; exiting.\n`,
      );
      host.exit(1);
    }, SHUTDOWN_MS_MAX).unref();
  };
  host.on("SIGTERM", onSignal);
  host.on("SIGINT", onSignal);
  return controller.signal;
}

function formatFailure(sentences: readonly string[], shown: unknown): string {
  const lines = sentences.map((line) => `${line}\n`).join("");
  const stacks: string[] = [];
  for (let error: unknown = shown; error instanceof Error; error = error.cause) {
    stacks.push(error.stack ?? String(error));
  }
  if (stacks.length === 0) return lines;
  // The cause may quote a response.
  const traces = stacks.join("\ncaused by: ").split("\n").map(toPlainText);
  return `${lines}${traces.join("\n")}\n`;
}
