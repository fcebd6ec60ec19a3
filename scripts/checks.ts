// The fast checks: format and lint, types, compiled contracts, OpenAPI documents, architecture rules (unused code too).
import { spawnSync } from "node:child_process";
import { findStaleGeneratedFiles } from "@sextant/contracts/compile/generated-is-stale";
import { checkRepository } from "../tests/architecture/check-repository.ts";
import { openRepository } from "../tests/architecture/repository.ts";
import { countDocumentWords, DOCUMENT_WORDS_MAX } from "../tests/architecture/rules/document-length.ts";
import { findTypeErrors } from "../tests/support/process/type-check.ts";
import { findStaleClientFiles } from "./client-actions/files.ts";
import { findStaleFoldVersion } from "./fold-version/fold-version.ts";
import { buildServiceDocuments } from "./openapi-lint/documents.ts";
import { lintDocuments } from "./openapi-lint/lint.ts";
import { findRecordedOverruns, findRun } from "./testing/recorded-runs.ts";
import { findUnrecordedFiles } from "./testing/test-durations.ts";

type Step = { readonly name: string; readonly run: () => Promise<string | null> | string | null };

const STEPS: readonly Step[] = [
  {
    name: "format and lint",
    run: () => runCommand("biome", ["check", "--error-on-warnings", "--colors=force"]),
  },
  { name: "types", run: () => findTypeErrors(".", "--pretty") },
  { name: "types of the examples", run: () => findTypeErrors("examples", "--pretty") },
  { name: "types of browser code", run: () => findTypeErrors("tsconfig.browser.json", "--pretty") },
  { name: "compiled contracts", run: () => findStaleGeneratedFiles() },
  { name: "fold version", run: () => findStaleFoldVersion() },
  { name: "actions of the client", run: () => findStaleClientFiles() },
  {
    name: "OpenAPI documents",
    // In this process: the step above has loaded the declarations of all services.
    run: async () => (await lintDocuments(buildServiceDocuments())).join("\n") || null,
  },
  { name: "budgets and durations of the last test runs", run: findCostProblems },
  {
    name: "architecture, unused code and dependencies",
    run: findRepositoryProblems,
  },
];

/** Runs the steps, prints one line each and the details of those that failed; true for each one that passes. */
export async function runChecks(): Promise<boolean[]> {
  const passed: boolean[] = [];
  for (const { name, run } of STEPS) {
    const started = performance.now();
    const problem = await run();
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    process.stdout.write(`${problem === null ? "ok  " : "FAIL"}  ${name} (${seconds} s)\n`);
    if (problem !== null) process.stdout.write(`${problem.trimEnd()}\n\n`);
    passed.push(problem === null);
  }
  return passed;
}

function findRepositoryProblems(): string | null {
  const repository = openRepository(".");
  const words = countDocumentWords(repository);
  process.stdout.write(`      documents: ${words} words of at most ${DOCUMENT_WORDS_MAX}\n`);
  return checkRepository(repository).join("\n") || null;
}

function findCostProblems(): string | null {
  const main = findRun("main");
  return [...findRecordedOverruns(), ...findUnrecordedFiles(main?.files ?? [])].join("\n") || null;
}

function runCommand(name: string, args: readonly string[]): string | null {
  const result = spawnSync(`node_modules/.bin/${name}`, args, {
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  if (result.error) return `${name} could not be started; run \`npm ci\` first.`;
  return result.status === 0 ? null : result.stdout + result.stderr;
}
