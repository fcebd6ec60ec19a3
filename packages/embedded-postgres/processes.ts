// Questions about other processes: is it alive, is it the server of our data folder, has it left.
import { spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { systemErrorCode } from "./errors.ts";
import { SERVER_ENVIRONMENT, type ServerAccount } from "./server-account.ts";

// Runs a short-lived program as the server's account and keeps the end of what it said.

// Enough for every complaint of initdb; a program gone mad must not fill our memory.
const OUTPUT_LENGTH_MAX = 8_000;

export type ProgramResult = { readonly succeeded: boolean; readonly output: string };

/** Resolves also when the program fails or can not be started at all; its words are the reason to show. */
export async function runProgram(
  file: string,
  args: readonly string[],
  options: { account: ServerAccount; timeoutMs: number },
): Promise<ProgramResult> {
  return await new Promise((resolve) => {
    let output = "";
    const child = spawn(file, args, {
      ...options.account,
      cwd: "/",
      env: SERVER_ENVIRONMENT,
      stdio: ["ignore", "pipe", "pipe"],
      timeout: options.timeoutMs,
      killSignal: "SIGKILL",
    });
    const keep = (chunk: string) => {
      output = (output + chunk).slice(-OUTPUT_LENGTH_MAX);
    };
    child.stdout.setEncoding("utf8").on("data", keep);
    child.stderr.setEncoding("utf8").on("data", keep);
    child.once("error", (error) => resolve({ succeeded: false, output: `${output}${error.message}` }));
    child.once("close", (code, signal) => {
      resolve({ succeeded: code === 0, output: signal ? `${output}ended by ${signal}` : output });
    });
  });
}

// Takes a stream off the list of things that keep Node running.

/** Pipes to children and database connections are sockets underneath, though their declared types do not say so. */

export function unrefStream(stream: object | null): void {
  if (stream && "unref" in stream && typeof stream.unref === "function") stream.unref();
}

// A quarter of what a person notices; each look costs one system call.
const LOOK_EVERY_MS = 25;

/** A process of another user counts as alive: that we may not signal it does not mean it is gone. */
export function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !isZombie(pid);
  } catch (error) {
    return systemErrorCode(error) === "EPERM";
  }
}

/** Process numbers are used again, so a number from a file is believed only when its command line names the data. */
export function isServerProcessOf(pid: number, dataFolder: string): boolean {
  const command = commandOf(pid);
  return command.includes("postgres") && command.includes(dataFolder);
}

/** True when the process left in time. */
export async function waitForProcessExit(pid: number, waitMs: number): Promise<boolean> {
  const until = Date.now() + waitMs;
  while (isProcessAlive(pid)) {
    if (Date.now() >= until) return false;
    await sleep(LOOK_EVERY_MS);
  }
  return true;
}

function commandOf(pid: number): string {
  if (process.platform === "linux") return readOrEmpty(`/proc/${pid}/cmdline`);
  const asked = spawnSync("ps", ["-o", "command=", "-p", String(pid)], {
    encoding: "utf8",
    env: SERVER_ENVIRONMENT,
  });
  return asked.status === 0 ? asked.stdout : "";
}

// In a container without an init process an ended orphan is never reaped, yet it holds nothing any more.
function isZombie(pid: number): boolean {
  if (process.platform !== "linux") return false;
  const stat = readOrEmpty(`/proc/${pid}/stat`);
  return stat.slice(stat.lastIndexOf(")") + 2).startsWith("Z");
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    // The process ended between the question and the answer, or is hidden from us: no command line either way.
    if (["ENOENT", "ESRCH", "EACCES", "EPERM"].includes(systemErrorCode(error) ?? "")) return "";
    throw error;
  }
}
