// A Node process of our own that runs a TypeScript file, tells us things line by line, and is never left behind.
import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { bundleProgram } from "./bundle-program.ts";

export type NodeChild = {
  readonly pid: number;
  readonly process: ChildProcess;
  /** The next line it printed, parsed as JSON; rejects when it ends without one. */
  next<T>(): Promise<T>;
  send(line: string): void;
  kill(signal: NodeJS.Signals): void;
  readonly exited: Promise<void>;
};

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

export function startNodeChild(
  file: URL,
  args: readonly string[],
  options: { uid?: number; gid?: number } = {},
): NodeChild {
  const child = spawn(process.execPath, [bundleProgram(fileURLToPath(file)), ...args], {
    ...options,
    cwd: ROOT,
    // A process group of its own, as a shell gives it, so that a test can signal the whole group.
    detached: true,
    stdio: ["pipe", "pipe", "inherit"],
  });
  const { pid } = child;
  if (pid === undefined) throw new Error("the child did not start");
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const kill = (signal: NodeJS.Signals) => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
  };
  onTestFinished(async () => {
    kill("SIGKILL");
    await exited;
  });
  return {
    pid,
    process: child,
    async next() {
      const line = await lines.next();
      if (line.done) throw new Error("the child ended without another line");
      return JSON.parse(line.value);
    },
    send: (line) => child.stdin.write(`${line}\n`),
    kill,
    exited,
  };
}
