// The front door: environment and arguments in, one command run, an exit code out.
import { existsSync, readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { type Environment, readConfig, rejectUnknownVariables } from "../config/read-config.ts";
import { processSettings, variableRules } from "../config/settings.ts";
import { type Fault, toFault } from "../lib/fault.ts";
import { createLog } from "../lib/log.ts";
import { parseArguments } from "./arguments.ts";
import { COMMANDS } from "./commands.ts";

// Orchestrators send SIGKILL after 10 to 30 s; leaving on our own terms must come first.
const LEAVE_MS_MAX = 10_000;

/** Runs the command that the arguments name and exits the process with its code. */
export async function main(host: NodeJS.Process): Promise<void> {
  const showStack = host.argv.includes("--debug") || host.env.SEXTANT_DEBUG === "true";
  try {
    host.exitCode = await run(host);
  } catch (thrown) {
    const fault = toFault(thrown);
    host.stderr.write(describe(fault, showStack));
    host.exitCode = fault.exit;
  }
  // A forgotten timer or socket must not keep a finished command alive.
  host.exit();
}

async function run(host: NodeJS.Process): Promise<number> {
  const invocation = parseArguments(host.argv.slice(2), COMMANDS);
  if (invocation.kind === "help") {
    host.stdout.write(invocation.text);
    return 0;
  }
  const environment = readEnvironment(host);
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

// Variables that are set win over the file, as with every tool that reads one.
function readEnvironment(host: NodeJS.Process): Environment {
  if (!existsSync(".env")) return { ...host.env };
  return { ...parseEnv(readFileSync(".env", "utf8")), ...host.env };
}

function stopOnSignal(host: NodeJS.Process): AbortSignal {
  const controller = new AbortController();
  const leave = (signal: NodeJS.Signals) => {
    // A second signal means the person at the keyboard has waited long enough.
    if (controller.signal.aborted) host.exit(130);
    controller.abort(signal);
    setTimeout(() => {
      host.stderr.write(
        `sextant: did not finish within ${LEAVE_MS_MAX / 1000} s of ${signal}; leaving now.\n`,
      );
      host.exit(1);
    }, LEAVE_MS_MAX).unref();
  };
  host.on("SIGTERM", leave);
  host.on("SIGINT", leave);
  return controller.signal;
}

function describe(fault: Fault, showStack: boolean): string {
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
