// Entry point of the `sextant` command: parses arguments and environment, runs one command, sets the exit code.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { type Environment, readConfig, rejectUnknownVariables } from "../config/read-config.ts";
import { processSettings, variableRules } from "../config/settings.ts";
import { type Fault, toFault } from "../lib/fault.ts";
import { createLog } from "../lib/log.ts";
import { parseArguments, withOptions } from "./command.ts";
import { COMMANDS } from "./commands.ts";

/** The part of `process` that the command uses, so that tests can run it in process. */
type Host = {
  readonly argv: readonly string[];
  readonly env: Environment;
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown; readonly isTTY?: boolean };
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
  try {
    host.exitCode = await run(host);
  } catch (thrown) {
    const fault = toFault(thrown);
    host.stderr.write(formatFault(fault, showStack));
    host.exitCode = fault.exit;
  }
  // A leaked timer or socket must not keep a finished command alive.
  host.exit();
}

async function run(host: Host): Promise<number> {
  const invocation = parseArguments(host.argv.slice(2), COMMANDS);
  if (invocation.kind === "help") {
    host.stdout.write(invocation.text);
    return 0;
  }
  const environment = withOptions(readEnvironment(host), invocation.command, invocation.options);
  rejectUnknownVariables(environment, variableRules);
  const config = readConfig(environment, processSettings);
  const { name, load } = invocation.command;
  const log = createLog({ name, level: config.logLevel, terminal: host.stderr.isTTY === true });
  const runCommand = await load();
  return runCommand({
    environment,
    options: invocation.options,
    log,
    print: (text) => void host.stdout.write(text),
    stop: stopOnSignal(host),
  });
}

// Variables of the process override the .env file.
function readEnvironment(host: Host): Environment {
  const file = join(host.cwd(), ".env");
  if (!existsSync(file)) return { ...host.env };
  return { ...parseEnv(readFileSync(file, "utf8")), ...host.env };
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

function formatFault(fault: Fault, showStack: boolean): string {
  const lines = fault.message.split("\n").map((line) => `sextant: ${line}\n`);
  if (!showStack) {
    const hint = fault.code === "INTERNAL" ? "sextant: run it again with --debug to see the cause.\n" : "";
    return lines.join("") + hint;
  }
  const stacks: string[] = [];
  for (let error: unknown = fault; error instanceof Error; error = error.cause) {
    stacks.push(error.stack ?? String(error));
  }
  return `${lines.join("")}${stacks.join("\ncaused by: ")}\n`;
}
