// Starts buyers as processes of their own, compiled once: starting the compiler for each would take most of a test.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { onTestFinished } from "vitest";
import type { BuyerLine, BuyerTask } from "./buyer-child.ts";

const CHECKOUT = fileURLToPath(new URL("../../", import.meta.url));
const PROGRAM = "tests/client/buyer-child";

type Buyer = {
  readonly child: ChildProcess;
  readonly ended: Promise<{
    readonly signal: string | null;
    readonly code: number | null;
    readonly lines: readonly BuyerLine[];
    readonly err: string;
  }>;
};

/** Strips the types of the client and of the buyer into a folder, and returns how to start one there. */
export function compileBuyer(folder: string): (task: BuyerTask) => Buyer {
  const files = readdirSync(join(CHECKOUT, "packages/client"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !/^(dist|node_modules)\/|\.test\.ts$/.test(name))
    .map((name) => join("packages/client", name));
  for (const file of [...files, `${PROGRAM}.ts`]) {
    const { outputText } = ts.transpileModule(readFileSync(join(CHECKOUT, file), "utf8"), {
      compilerOptions: {
        target: ts.ScriptTarget.ES2022,
        module: ts.ModuleKind.ESNext,
        rewriteRelativeImportExtensions: true,
        verbatimModuleSyntax: true,
      },
    });
    const target = join(folder, file.replace(/\.ts$/, ".js"));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, outputText);
  }
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  symlinkSync(join(CHECKOUT, "node_modules"), join(folder, "node_modules"));
  return (task) => startBuyer(join(folder, `${PROGRAM}.js`), task);
}

function startBuyer(program: string, task: BuyerTask): Buyer {
  const child = spawn(process.execPath, [program], {
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
