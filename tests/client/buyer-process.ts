// Starts buyers as processes of their own.
import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { bundleProgram } from "../support/process/bundle-program.ts";
import type { BuyerLine, BuyerTask } from "./buyer-child.ts";

const PROGRAM = fileURLToPath(new URL("./buyer-child.ts", import.meta.url));

type Buyer = {
  readonly child: ChildProcess;
  readonly ended: Promise<{
    readonly signal: string | null;
    readonly code: number | null;
    readonly lines: readonly BuyerLine[];
    readonly err: string;
  }>;
};

/** Starts a process that buys what its task names. */
export function startBuyer(task: BuyerTask): Buyer {
  const child = spawn(process.execPath, [bundleProgram(PROGRAM)], {
    stdio: ["ignore", "pipe", "pipe"],
    // Not an argument: every user of the machine can read those, and the task has a key.
    env: { PATH: process.env.PATH ?? "", BUYER_TASK: JSON.stringify(task) },
  });
  let out = "";
  let err = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    err += text;
  });
  const ended = new Promise<Awaited<Buyer["ended"]>>((resolve) => {
    child.once("close", (code, signal) => {
      const lines = out.split("\n").filter((line) => line.endsWith("}"));
      resolve({ code, signal, lines: lines.map((line) => JSON.parse(line) as BuyerLine), err });
    });
  });
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  return { child, ended };
}
