// Every command line that a help text or a document shows, against one local run.
// src/cli/main.test.ts has the fast test of the parsing: an option of a command is never taken for a filter.
import { execFile } from "node:child_process";
import { EventEmitter } from "node:events";
import { readFileSync } from "node:fs";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startLocalStack } from "../../scripts/api-examples/local-stack.ts";
import { operationsFor } from "../../src/cli/api-operations.ts";
import { COMMANDS } from "../../src/cli/commands.ts";
import { PROGRAM } from "../../src/lib/program.ts";
import { bundleSextant } from "../support/process/bundle-sextant.ts";
import { runSextantInProcess, startSextantInProcess } from "../support/process/run-in-process.ts";
import { findFastFolder } from "../support/test-folder.ts";
import {
  type ExampleLine,
  listExamplePages,
  readHelpExamples,
  readPageExamples,
  splitWords,
} from "./example-lines.ts";

/** Examples that cannot run alongside a local run, with the reason. A line that matches none of these must run. */
const NOT_RUN: readonly (readonly [RegExp, string])[] = [
  [/^(npm (ci|test|start|install|init|pkg)|rm -rf node_modules)\b/, "installs, or runs what contains this"],
  [
    /^npm run client:package\b|\.\.\/quickstart\b|^sextant (local|wallet)\b/,
    "the packages: tests/packages/packages.integration.test.ts",
  ],
  [/^export PAYER_PRIVATE_KEY=|npx tsx examples\//, "tests/local/local-run.chaos.test.ts runs the examples"],
  [/npx vitest run\b/, "runs what contains this test"],
  [/^npx tsx packages\/|^npm run simulator\b/, "a chain of its own: the tests of the packages"],
  [/mjs publish\b/, "needs a NATS server: tests/broker/publish.test.ts runs these"],
  [/mjs (serve|indexer)\b/, "a service for a public chain: tests/local/serve.chaos.test.ts"],
  [/mjs move --to postgres:\/\/user:password@host/, "the reader's own server: src/cli/commands/move.test.ts"],
  [/\bother\b/, "an installation with a second deployment: tests/indexer/installation-commands.test.ts"],
  [/^nats sub\b|duckdb -init/, "a third-party program"],
  [/^(pg_\w+|psql|createdb|dropdb|install|systemctl|journalctl|git)\b/, "administers a machine"],
  [
    /^(\w+=\S+ )*\w+=\S*…|^DATABASE_URL=|^export [A-Z_]+=|\/\/10\.0\.0\./,
    "settings that the reader fills in",
  ],
  [/https:\/\/api\.example\.com/, "a test vector of a signature: src/api/writes"],
  [/\bquotes\/0x/, "a quote has its time in its hash, which differs from run to run"],
  [
    /mjs verify response\.json/,
    "a file of the reader, nodes of public chains: src/cli/commands/verify.test.ts",
  ],
  [/webhooks\/wh_/, "the id comes from the registration: tests/webhooks"],
];

const execute = promisify(execFile);
let folder: string;
let stop: () => Promise<void>;
let state: { readonly api: string; readonly portfolio: string; readonly facilitator: string };

beforeAll(async () => {
  folder = await mkdtemp(join(findFastFolder(), "sextant-examples-"));
  // The account that runs PostgreSQL passes through it.
  await chmod(folder, 0o711);
  ({ stop } = await startLocalStack(folder, bundleSextant()));
  state = JSON.parse(readFileSync(join(folder, "local.json"), "utf8"));
}, 180_000);
afterAll(async () => {
  await stop?.();
  await rm(folder, { recursive: true, force: true });
});

const environment = () => ({ SEXTANT_DATA: folder, HOME: folder });

async function readAllHelpExamples(): Promise<readonly ExampleLine[]> {
  const paths = (["get", "list"] as const).flatMap((command) =>
    operationsFor(command).map(({ path }) => [command, path.slice(1).replaceAll(/\{\w+\}/g, "1")]),
  );
  const all = [...COMMANDS.map(({ name }) => [name]), ...paths];
  const found = await Promise.all(
    all.map(async (args) => {
      const { code, out } = await runSextantInProcess([...args, "--help"]);
      expect(code).toBe(0);
      return readHelpExamples(`${args.join(" ")} --help`, out);
    }),
  );
  return found.flat();
}

/** The problem of the line; null if it works. */
async function runLine(text: string): Promise<string | null> {
  const words = splitWords(text);
  if (text.startsWith(`${PROGRAM} `)) return runCommand(words.slice(2));
  if (text.startsWith("npm run pay -- ")) return runCommand(["wallet", ...words.slice(4)]);
  if (words[0] === "curl") return runCurl(words.slice(1));
  return "neither runs nor is listed as one that cannot";
}

/** `watch` ends at a signal: it has worked if it waits for events without a complaint. */
async function runCommand(args: readonly string[]): Promise<string | null> {
  const keyboard = new EventEmitter();
  // Commands run in the folder of this process, which stays clean.
  const given = args.map((arg) => (FILES.includes(arg) ? join(folder, arg) : arg));
  const { written, ended } = startSextantInProcess(given, environment(), folder, null, keyboard);
  await Promise.race([ended, pause(args[0] === "watch" ? WATCH_MS : COMMAND_MS_MAX)]);
  keyboard.emit("SIGINT", "SIGINT");
  const { code } = await ended;
  // A preflight that is not allowed exits with 1, and says so.
  if (code === 0 || (code === 1 && /^Not allowed/.test(written.out))) return null;
  return `exits with ${code}: ${written.err.trim()}`;
}

const FILES = ["exported", "events.cursor"];
// Long enough to connect, and to report what is wrong with the options.
const WATCH_MS = 400;
const COMMAND_MS_MAX = 60_000;
const STREAM_SECONDS = 1;
const SOLD = /^http:\/\/127\.0\.0\.1:3002\/(portfolio|exposure)\b/;

async function runCurl(words: readonly string[]): Promise<string | null> {
  const args = words.map((word) =>
    word
      .replace("http://127.0.0.1:3001", state.api)
      .replace("http://127.0.0.1:3002", state.portfolio)
      .replace("http://127.0.0.1:3004", state.facilitator),
  );
  const limits = ["--silent", "--max-time", String(words.includes("-N") ? STREAM_SECONDS : 20)];
  const { stdout } = await execute("curl", [...limits, "--write-out", "\n%{http_code}", ...args], {
    cwd: folder,
    maxBuffer: 64 * 1024 * 1024,
  }).catch((error: { stdout: string }) => error);
  const at = stdout.lastIndexOf("\n");
  const status = Number(stdout.slice(at + 1));
  // curl cannot sign: what is sold shows its terms.
  if (words.some((word) => SOLD.test(word)))
    return status === 402 ? null : `responds ${status} instead of 402`;
  return status >= 200 && status < 300 ? null : `responds ${status}: ${stdout.slice(0, Math.min(at, 300))}`;
}

it("runs every example of every help text and document", async () => {
  const examples = [...(await readAllHelpExamples()), ...listExamplePages().flatMap(readPageExamples)];
  const outcomes = new Map<string, string | null>();
  const problems: string[] = [];
  for (const { source, text } of examples) {
    if (NOT_RUN.some(([pattern]) => pattern.test(text))) continue;
    if (!outcomes.has(text)) outcomes.set(text, await runLine(text));
    const problem = outcomes.get(text) ?? null;
    if (problem !== null) problems.push(`${source}: ${text}\n  ${problem}`);
  }
  expect(problems.join("\n")).toBe("");
  expect(outcomes.size).toBeGreaterThan(100);
  const used = NOT_RUN.filter(([pattern]) => examples.some(({ text }) => pattern.test(text)));
  expect(used).toEqual(NOT_RUN);
}, 300_000);

it("works on the database of the run with every command of the operator, and says so", async () => {
  const run = (...args: string[]) => runSextantInProcess(args, environment(), folder);
  const note = `Using the run at ${state.api}, the embedded database in ${folder}`;
  const listed = await run("deployments");
  expect([listed.code, listed.err]).toEqual([0, expect.stringContaining(note)]);
  expect(listed.out).toMatch(/^local +schema sextant +chain 31337 +block [1-9]\d+, 0 behind\n$/);
  // Its indexer writes, so that nothing else may.
  const rebuilt = await run("rebuild");
  expect([rebuilt.code, rebuilt.err]).toEqual([
    69,
    expect.stringContaining("An indexer writes to this schema"),
  ]);
  const own = await runSextantInProcess(
    ["deployments"],
    { ...environment(), NETWORK: "base-sepolia" },
    folder,
  );
  expect([own.code, own.err]).toEqual([78, expect.stringContaining(`There is no database in ${folder}`)]);
}, 60_000);

it("shows a command for the audit on the page of the integrity that runs as it is", async () => {
  const page = await (await fetch(`${state.api}/explorer/integrity`)).text();
  const [, command = ""] = /<code data-copy="(node bin\/sextant\.mjs [^"]+)">/.exec(page) ?? [];
  expect(await runLine(command)).toBeNull();
  const { audits } = (await (await fetch(`${state.api}/integrity`)).json()) as { audits: { last: object[] } };
  expect(audits.last).toContainEqual(expect.objectContaining({ source: "command", differences: "0" }));
}, 60_000);

it("sells a wallet with something to see: allowances, one in Permit2, an operator, a loan and a change", async () => {
  const wallet = "0x14dC79964da2C08b23698B3D3cc7Ca32193d9955";
  const buy = async (...args: string[]) => {
    const { code, out } = await runSextantInProcess([...args, "--json"], environment(), folder);
    expect(code).toBe(0);
    return JSON.parse(out);
  };
  const exposure = await buy("exposure", wallet);
  // tests/portfolio/exposure.integration.test.ts has the figures, and shows that only the usual warnings appear.
  expect(new Set(exposure.permissions.map(({ kind }: { kind: string }) => kind))).toEqual(
    new Set(["erc20-allowance", "permit2-allowance", "position-operator"]),
  );
  const { health } = await buy("wallet", wallet);
  expect(health).toContainEqual(
    expect.objectContaining({ chain: "base", healthFactor: expect.stringMatching(/^1\.06/) }),
  );
  // As README says.
  const diff = await buy("diff", wallet, "--from", "7d");
  expect(diff.tokens).toEqual(
    ["base", "ethereum"].map((chain) => expect.objectContaining({ chain, changeUsd: "-750" })),
  );
  expect((await buy("diff", wallet, "--from", "1h")).tokens).toEqual([]);
  // The chains move by themselves: the third block of now was the last one of the start.
  expect(diff.to.blocks[0].number).toBeGreaterThan(42);
}, 60_000);
