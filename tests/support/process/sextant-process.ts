// The `sextant` command as a process of its own, watched and never left behind.
import { type ChildProcess, spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { createTestDatabase, formatConnectionUrl, type TestDatabase } from "../database/test-database.ts";
import { bundleSextant } from "./bundle-sextant.ts";

export type SextantProcess = {
  readonly child: ChildProcess;
  readonly ended: Promise<{ readonly code: number | null; readonly out: string; readonly err: string }>;
  /** Resolves with everything said so far once it matches; rejects when the process ends before. */
  waitForOutput(pattern: RegExp): Promise<string>;
};

type ProcessOptions = {
  readonly environment?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Options for Node itself. */
  readonly node?: readonly string[];
  /** Another Node than that of the tests. */
  readonly execPath?: string;
  /** The checkout whose `bin/sextant.mjs` is started. */
  readonly checkout?: string;
  /** A command of the shell that limits the process, such as `ulimit -f 8`. */
  readonly before?: string;
};

/** This checkout, for tests of `bin/sextant.mjs` itself. */
export const CHECKOUT = fileURLToPath(new URL("../../../", import.meta.url));

/** Runs the bundle of this checkout, or `bin/sextant.mjs` of a checkout that is named, as users start it. */
export function startSextant(args: readonly string[], options: ProcessOptions = {}): SextantProcess {
  const { node = [], checkout } = options;
  const program = checkout === undefined ? bundleSextant() : join(checkout, "bin/sextant.mjs");
  return startNode([...node, program, ...args], options);
}

/** A TypeScript program of this checkout, or of a folder that finds its packages. */
export function startProgram(
  file: string,
  options: Pick<ProcessOptions, "environment" | "cwd" | "execPath"> = {},
): SextantProcess {
  return startNode(["--import", import.meta.resolve("tsx"), file], options);
}

function startNode(
  args: readonly string[],
  options: Pick<ProcessOptions, "environment" | "cwd" | "before" | "execPath">,
): SextantProcess {
  const { environment = {}, cwd = tmpdir(), before, execPath = process.execPath } = options;
  const [program, ...rest] =
    before === undefined
      ? [execPath, ...args]
      : ["/bin/sh", "-c", `${before} && exec "$0" "$@"`, execPath, ...args];
  const child = spawn(program, rest, {
    cwd,
    // Nothing of the surroundings may leak in, but for what a process needs to run at all.
    env: { PATH: process.env.PATH ?? "", HOME: cwd, ...environment },
  });
  let out = "";
  let err = "";
  const watchers = new Set<() => void>();
  const hear = (add: (text: string) => void) => (chunk: Buffer) => {
    add(chunk.toString());
    for (const look of watchers) look();
  };
  child.stdout.on(
    "data",
    hear((text) => {
      out += text;
    }),
  );
  child.stderr.on(
    "data",
    hear((text) => {
      err += text;
    }),
  );
  const ended = new Promise<{ code: number | null; out: string; err: string }>((resolve) => {
    child.on("close", (code) => resolve({ code, out, err }));
  });
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  return {
    child,
    ended,
    waitForOutput: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (pattern.test(out + err)) resolve(out + err);
        };
        watchers.add(look);
        look();
        ended.then(() => reject(new Error(`ended before it said ${pattern}: ${out}${err}`)));
      }),
  };
}

/** A fresh database, named as the environment of a process names it. */
export async function createDatabaseEnvironment(): Promise<{
  readonly environment: { readonly DATABASE_URL: string };
  readonly connection: TestDatabase["connection"];
  drop(): Promise<void>;
}> {
  const { connection, drop } = await createTestDatabase();
  return { environment: { DATABASE_URL: formatConnectionUrl(connection) }, connection, drop };
}
