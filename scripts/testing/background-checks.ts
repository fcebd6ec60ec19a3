// Runs the checks in a process of their own, beside the tests: loading the compiler here would only delay those.
import { spawn } from "node:child_process";

export type CheckOutcome = { readonly passed: boolean; readonly output: string };

/** Leaves out the steps that CI runs after the tests. */
export const BESIDE_TESTS = "--beside-tests";

export async function runChecksInBackground(): Promise<CheckOutcome> {
  const child = spawn("node_modules/.bin/tsx", ["scripts/check.ts", BESIDE_TESTS], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { passed: code === 0, output };
}
