// Other processes: run a short-lived program, check whether a process lives or is the server of a data folder.
import { spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { systemErrorCode } from "./errors.ts";
import { SERVER_ENVIRONMENT, type ServerAccount } from "./server-account.ts";

// Holds every error that initdb prints, and bounds memory when a program prints without end.
const OUTPUT_LENGTH_MAX = 8_000;

type ProgramResult = { readonly succeeded: boolean; readonly output: string };

/** Runs a program as the server's account. Resolves also when it fails or cannot start: the output has the reason. */
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
    const append = (chunk: string) => {
      output = (output + chunk).slice(-OUTPUT_LENGTH_MAX);
    };
    child.stdout.setEncoding("utf8").on("data", append);
    child.stderr.setEncoding("utf8").on("data", append);
    child.once("error", (error) => resolve({ succeeded: false, output: `${output}${error.message}` }));
    child.once("close", (code, signal) => {
      resolve({ succeeded: code === 0, output: signal ? `${output}ended by ${signal}` : output });
    });
  });
}

/** Lets Node exit while the stream is open. Child pipes and database connections are sockets, but not typed as such. */
export function unrefStream(stream: object | null): void {
  if (stream && "unref" in stream && typeof stream.unref === "function") stream.unref();
}

// Below what a person notices; each check costs one system call.
const CHECK_EVERY_MS = 25;

/** A process of another user counts as alive: no permission to signal it does not mean that it is gone. */
export function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !isZombie(pid);
  } catch (error) {
    return systemErrorCode(error) === "EPERM";
  }
}

/** The system reuses pids, so a pid read from a file counts only if its command line names the data folder. */
export function isServerProcessOf(pid: number, dataFolder: string): boolean {
  const command = readCommandLine(pid);
  return command.includes("postgres") && command.includes(dataFolder);
}

/** True when the process exited in time. */
export async function waitForProcessExit(pid: number, waitMs: number): Promise<boolean> {
  const deadlineMs = Date.now() + waitMs;
  while (isProcessAlive(pid)) {
    if (Date.now() >= deadlineMs) return false;
    await sleep(CHECK_EVERY_MS);
  }
  return true;
}

function readCommandLine(pid: number): string {
  if (process.platform === "linux") return readOrEmpty(`/proc/${pid}/cmdline`);
  const { status, stdout } = spawnSync("ps", ["-o", "command=", "-p", String(pid)], {
    encoding: "utf8",
    env: SERVER_ENVIRONMENT,
  });
  return status === 0 ? stdout : "";
}

// A container without an init process never reaps an orphan that exited, but a zombie holds no resources.
function isZombie(pid: number): boolean {
  if (process.platform !== "linux") return false;
  const stat = readOrEmpty(`/proc/${pid}/stat`);
  return stat.slice(stat.lastIndexOf(")") + 2).startsWith("Z");
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    // The process exited in between, or is hidden from us: either way it has no command line.
    if (["ENOENT", "ESRCH", "EACCES", "EPERM"].includes(systemErrorCode(error) ?? "")) return "";
    throw error;
  }
}
