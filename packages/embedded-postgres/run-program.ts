// Runs a short-lived program as the server's account and keeps the end of what it said.
import { spawn } from "node:child_process";
import { SERVER_ENVIRONMENT, type ServerAccount } from "./server-account.ts";

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
