// A process of ours alongside the benchmark: it speaks in lines of JSON, and it ends when we let go of it.
import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { logProgress } from "./progress.ts";

export type BenchChild = {
  /** The next thing it says that is not progress; rejects when it ends without. */
  next<T>(): Promise<T>;
  stop(): Promise<void>;
};

export type BenchChildOptions = {
  readonly file: URL;
  readonly args: readonly string[];
  /** How its progress is announced. */
  readonly name: string;
  /** Options for Node itself. */
  readonly node?: readonly string[];
  /** The checkout that it runs in, and whose packages it finds; this one unless said otherwise. */
  readonly checkout?: string;
};

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
// It only has to close a socket or a connection; longer means that it hangs.
const STOP_MS_MAX = 5_000;

export function startChild({ file, args, name, node = [], checkout = ROOT }: BenchChildOptions): BenchChild {
  const child = spawn(process.execPath, [...node, "--import", "tsx", fileURLToPath(file), ...args], {
    cwd: checkout,
    // Our own standard input ends with us: so does the child, however we end.
    stdio: ["pipe", "pipe", "inherit"],
  });
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async next<T>() {
      for (;;) {
        const line = await lines.next();
        if (line.done) throw new Error(`the ${name} ended before it was done`);
        const said = JSON.parse(line.value) as { progress?: string };
        if (said.progress === undefined) return said as T;
        logProgress(`${name}: ${said.progress}`);
      }
    },
    stop: () => stop(child, exited),
  };
}

async function stop(child: ChildProcess, exited: Promise<void>): Promise<void> {
  child.stdin?.end();
  const timer = setTimeout(() => child.kill("SIGKILL"), STOP_MS_MAX);
  await exited;
  clearTimeout(timer);
}
