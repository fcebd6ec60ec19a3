// The fast checks: format and lint, types, house rules.
import { spawnSync } from "node:child_process";
import { findStaleGeneratedFiles } from "@sextant/contracts/compile/generated-is-stale";
import { checkRepository } from "../tests/architecture/check-repository.ts";
import { openRepository } from "../tests/architecture/repository.ts";
import { findStaleFoldVersion } from "./fold-version/fold-version.ts";

type Step = { readonly name: string; readonly run: () => string | null };

const STEPS: readonly Step[] = [
  {
    name: "format and lint",
    run: () => command("biome", ["check", "--error-on-warnings", "--colors=force"]),
  },
  { name: "types", run: () => command("tsc", ["--noEmit", "--pretty"]) },
  { name: "compiled contracts", run: () => findStaleGeneratedFiles() },
  { name: "fold version", run: () => findStaleFoldVersion() },
  { name: "architecture", run: () => checkRepository(openRepository(".")).join("\n") || null },
];

/** Runs every step, prints one line each and the details of those that failed; true when all are fine. */
export function runChecks(): boolean {
  const failed = STEPS.filter(({ name, run }) => {
    const started = performance.now();
    const problem = run();
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    process.stdout.write(`${problem === null ? "ok  " : "FAIL"}  ${name} (${seconds} s)\n`);
    if (problem !== null) process.stdout.write(`${problem.trimEnd()}\n\n`);
    return problem !== null;
  });
  return failed.length === 0;
}

function command(name: string, args: readonly string[]): string | null {
  const result = spawnSync(`node_modules/.bin/${name}`, args, {
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  if (result.error) return `${name} could not be started; run \`npm ci\` first.`;
  return result.status === 0 ? null : result.stdout + result.stderr;
}
