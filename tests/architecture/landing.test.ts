// A landing runs tests that can reach a change, a tenth of the others, and nothing beyond its budget.
import { existsSync, readFileSync } from "node:fs";
import { afterEach, describe, expect, it, vi } from "vitest";
import { MUTATIONS } from "../../scripts/mutations/mutations.ts";
import { formatFailures } from "../../scripts/testing/format-runs.ts";
import { selectFiles } from "../../scripts/testing/landing-selection.ts";
import { listCommands, openReach } from "../../scripts/testing/reach.ts";
import { findOverruns, type SuiteRun } from "../../scripts/testing/recorded-runs.ts";
import { AT_A_DISTANCE, ON_A_STOCK_SERVER } from "../../scripts/testing/stock-files.ts";
import { SUITES, suiteOf } from "../../scripts/testing/suites.ts";
import vitestConfig from "../../vitest.config.ts";
import { chooseSeed, givenSeed } from "../support/seeded-random.ts";
import { openRepository, repositoryFrom } from "./repository.ts";

afterEach(() => void vi.unstubAllEnvs());

const TEXTS: Readonly<Record<string, string>> = {
  "package.json": "{}",
  "packages/clock/package.json": "{}",
  "packages/clock/clock.ts": "",
  "bin/sextant.mjs": 'await import("../src/cli/main.ts");',
  "src/cli/main.ts": 'import { COMMANDS } from "./commands.ts";',
  "src/cli/commands.ts": [
    "export const COMMANDS = [",
    "  {",
    '    name: "api",',
    '    load: async () => (await import("./commands/api.ts")).api,',
    "  },",
    "  {",
    '    name: "indexer",',
    '    load: async () => (await import("./commands/indexer.ts")).indexer,',
    "  },",
    "];",
  ].join("\n"),
  "src/cli/commands/api.ts": 'import { serve } from "../../api/serve.ts";',
  "src/cli/commands/indexer.ts": 'import { index } from "../../indexer/run.ts";',
  "src/api/serve.ts": 'import { page } from "../explorer/page.ts"; import { read } from "../store/read.ts";',
  "src/explorer/page.ts": 'const styles = new URL("./assets/", import.meta.url);',
  "src/explorer/assets/theme.css": "",
  "src/indexer/run.ts": 'import { read } from "../store/read.ts";',
  "src/store/read.ts":
    'import { now } from "@sextant/clock/clock"; new Worker(new URL("worker.mjs", import.meta.url));',
  "src/store/worker.mjs": `const text = readFile(new URL(\`./texts/\${name}.txt\`, import.meta.url));`,
  "src/store/texts/help.txt": "",
  "tests/support/start.ts": 'spawn("bin/sextant.mjs");',
  "tests/api/kill.chaos.test.ts": 'import { start } from "../support/start.ts"; start(["api"]);',
  "tests/indexer/kill.chaos.test.ts":
    'import { start } from "../support/start.ts"; start(["indexer", "--once"]);',
  "tests/lib/plain.chaos.test.ts":
    '// "../api/kill.chaos.test.ts" has more.\nconst child = new URL("./count-child.ts", import.meta.url);',
  "tests/lib/count-child.ts": "",
  "tests/browser/pages.test.ts": 'import { start } from "../support/start.ts"; start(["api"]);',
};
const planted = repositoryFrom(TEXTS);

function select(changed: readonly string[] | null, seed = 9): ReadonlySet<string> {
  return new Set([...selectFiles(planted, { changed, seed }).files.values()].flat());
}

describe("a landing", () => {
  it("runs a test that imports the changed file over any number of files", () => {
    expect([...select(["src/store/read.ts"])].sort()).toEqual([
      "tests/api/kill.chaos.test.ts",
      "tests/browser/pages.test.ts",
      "tests/indexer/kill.chaos.test.ts",
    ]);
  });

  it("runs a test that starts the changed command, and none that starts another", () => {
    expect([...select(["src/indexer/run.ts"])]).toEqual(["tests/indexer/kill.chaos.test.ts"]);
  });

  const START = 'import { start } from "../support/start.ts";\n';
  const reachesIndexer = (text: string) => {
    const test = "tests/lib/new.chaos.test.ts";
    const reach = openReach(repositoryFrom({ ...TEXTS, [test]: `${START}${text}` }));
    return reach.of(test, { pages: false }).has("src/indexer/run.ts");
  };

  it.each([
    'start(["indexer", "--once"]);',
    'start([\n  "indexer",\n  ...options,\n]);',
    'const args = ["indexer"]; start(args);',
    'spawn(process.execPath, [bundleSextant(), "indexer"]);',
    'spawn(process.execPath, [...program, "indexer"]);',
    'spawn(process.execPath, ["bin/sextant.mjs", "indexer"]);',
    'spawn("node bin/sextant.mjs indexer --once", { shell: true });',
    'startBefore("indexer");',
    'new KilledProcess("indexer", environment);',
    'startRestartedProcess({ command: "indexer", cwd });',
    'import { indexer } from "../../src/cli/commands/indexer.ts";',
  ])("reaches a command from a test that starts it by %s", (text) => {
    expect(reachesIndexer(text)).toBe(true);
  });

  it.each([
    'const chain = { network: "indexer" };',
    'type Marks = Record<"api" | "indexer", number>;',
    'if (name === "indexer") start(["api"]);',
    'truncate(...["indexer", "api"]);',
    'expect(body).toEqual({ error: "start `sextant indexer`" });',
    'const status = marks["indexer"];',
    '// start(["indexer"]) has a test of its own.\nstart(["api"]);',
    "/** Next to `src/indexer/run.ts`. */",
    'const own = files.filter((file) => file.startsWith("src/"));',
  ])("reaches no command from a test that only contains its name: %s", (text) => {
    expect(reachesIndexer(text)).toBe(false);
  });

  it("runs browser tests alone for a change of pages and their assets", () => {
    expect([...select(["src/explorer/page.ts"])]).toEqual(["tests/browser/pages.test.ts"]);
    expect([...select(["src/explorer/assets/theme.css"])]).toEqual(["tests/browser/pages.test.ts"]);
  });

  it("runs a test that names the changed file without importing it", () => {
    expect([...select(["tests/lib/count-child.ts"])]).toEqual(["tests/lib/plain.chaos.test.ts"]);
  });

  it.each([
    ["lies next to the module that starts it", "src/store/worker.mjs"],
    ["is read by a path with a computed end", "src/store/texts/help.txt"],
    ["is deleted from a folder that is read", "src/store/texts/deleted.txt"],
    ["says what a package imports", "packages/clock/package.json"],
  ])("runs the tests that reach a file that %s", (_, changed) => {
    expect([...select([changed])].sort()).toEqual([...select(["src/store/read.ts"])].sort());
  });

  it("leaves a test out whose comment names the changed test", () => {
    expect([...select(["tests/api/kill.chaos.test.ts"])]).toEqual(["tests/api/kill.chaos.test.ts"]);
  });

  it("runs a tenth of the others with a negative seed, as fast-check prints them", () => {
    expect(select(["docs/index.md"], -1)).toEqual(select(["docs/index.md"], 1));
    expect(select(["docs/index.md"], -1).size).toBe(1);
  });

  it("runs every test when a file of all runs has changed, or when the last landed version is unknown", () => {
    expect(select(["package.json"]).size).toBe(4);
    expect(select(null).size).toBe(4);
  });

  it("runs all tests of the contracts, and the compiler, when a contract has changed", () => {
    const files = (path: string) => selectFiles(planted, { changed: [path], seed: 9 }).files.get("contracts");
    expect(files("contracts/src/IntentBook.sol")).toEqual([]);
    expect(files("src/store/read.ts")).toBeUndefined();
  });

  it("runs each of the other tests at one commit in ten, and names what it leaves out", () => {
    const chosen = Array.from({ length: 10 }, (_, seed) => [...select(["docs/index.md"], seed)]);
    expect(chosen.flat().sort()).toEqual([
      "tests/api/kill.chaos.test.ts",
      "tests/browser/pages.test.ts",
      "tests/indexer/kill.chaos.test.ts",
      "tests/lib/plain.chaos.test.ts",
    ]);
    const { leftOut } = selectFiles(planted, { changed: ["docs/index.md"], seed: 0 });
    expect([...leftOut].sort()).toEqual([
      "tests/browser/pages.test.ts",
      "tests/indexer/kill.chaos.test.ts",
      "tests/lib/plain.chaos.test.ts",
    ]);
  });
});

describe("this repository", () => {
  const repository = openRepository(".");
  const reach = openReach(repository);

  it("names the module of every command, so that tests reach the commands they start", () => {
    const loads = repository.text("src/cli/commands.ts").match(/load: async/g)?.length ?? 0;
    expect(loads).toBeGreaterThan(15);
    const commands = listCommands(repository);
    expect(commands).toHaveLength(loads);
    expect(commands.filter(({ module }) => !repository.has(module))).toEqual([]);
  });

  it("reaches the store from a test that kills the indexer, and the explorer from browser tests only", () => {
    const chaos = reach.of("tests/indexer/fail-over.chaos.test.ts", { pages: false });
    expect(chaos.has("src/store/index/store.ts")).toBe(true);
    expect(chaos.has("src/explorer/pages.ts")).toBe(false);
    const browser = reach.of("tests/browser/explorer.test.ts", { pages: true });
    expect([...browser].some((file) => file.startsWith("src/explorer/"))).toBe(true);
  });

  it.each([
    ["tests/browser/pay-page.test.ts", "src/web/pay-page/browser/pay-form.ts"],
    ["tests/browser/docs-page.test.ts", "src/http/openapi/docs-page/browser/try-it.ts"],
    ["tests/browser/explorer.test.ts", "src/explorer/browser/live-feed.ts"],
    ["tests/payments/chaos/two-portfolios.chaos.test.ts", "token-lists/base.json"],
    ["tests/cli/wallet.chaos.test.ts", "chain-data/base/price-feeds.json"],
    ["tests/local/serve.chaos.test.ts", "deployments/base-sepolia.json"],
    ["tests/protocols/account/safe.test.ts", "tests/protocols/package-lock.json"],
    ["tests/cli/process.chaos.test.ts", "src/cli/main.ts"],
  ])("reaches from %s the file %s, which no module imports by its name", (test, file) => {
    expect(repository.has(file)).toBe(true);
    expect(reach.of(test, { pages: true }).has(file)).toBe(true);
  });

  it("finds the command in every test that can start one, and the explorer in browser tests only", () => {
    const waiting = repository.files.filter((file) => {
      const suite = suiteOf(file);
      return suite !== null && "waits" in SUITES[suite];
    });
    const reached = waiting.map((test) => {
      const pages = suiteOf(test) === "browser";
      return { test, pages, files: [...reach.of(test, { pages })] };
    });
    const starting = reached.filter(({ files }) => files.includes("src/cli/commands.ts"));
    expect(starting.length).toBeGreaterThan(20);
    const isCommand = (file: string) => file.startsWith("src/cli/commands/");
    expect(starting.filter(({ files }) => !files.some(isCommand)).map(({ test }) => test)).toEqual([]);
    const isExplorer = (file: string) => file.startsWith("src/explorer/");
    const exploring = reached.filter(({ files }) => files.some(isExplorer));
    expect(exploring.length).toBeGreaterThan(3);
    expect(exploring.filter(({ pages }) => !pages)).toEqual([]);
  });

  it.each([
    "src/cli/main.chaos.test.ts",
    "tests/api/replicas.chaos.test.ts",
    "tests/broker/publish.test.ts",
    "tests/export/killed-export.chaos.test.ts",
    "tests/indexer/fail-over.chaos.test.ts",
    "tests/payments/chaos/facilitators.chaos.test.ts",
    "tests/upgrade/rolling-upgrade.test.ts",
    "tests/webhooks/kill.chaos.test.ts",
    "contracts/test/policy-account.test.ts",
  ])("leaves %s out after a change of the portfolio alone", (test) => {
    const reached = [...reach.of(test, { pages: false })];
    expect(reached.filter((file) => file.startsWith("src/portfolio/"))).toEqual([]);
  });

  it.each([
    "tests/payments/chaos/two-portfolios.chaos.test.ts",
    "tests/e2e/e2e.chaos.test.ts",
    "tests/mcp/stdio.chaos.test.ts",
    "tests/local/serve.chaos.test.ts",
    "tests/local/local-run.chaos.test.ts",
  ])("runs %s, which starts the portfolio, after a change of the portfolio", (test) => {
    expect(reach.of(test, { pages: false }).has("src/portfolio/snapshot.ts")).toBe(true);
  });

  it("reaches the documents from no test that starts compiled code, although the published package contains them", () => {
    const compiled = repository.files.filter((file) => ["chaos", "bench"].includes(suiteOf(file) ?? ""));
    expect(compiled.length).toBeGreaterThan(20);
    expect(compiled.filter((test) => reach.of(test, { pages: false }).has("docs/events.md"))).toEqual([]);
  });

  it("names existing tests to run on a stock server, with a reason", () => {
    const chosen = { ...ON_A_STOCK_SERVER, ...AT_A_DISTANCE };
    for (const [file, reason] of Object.entries(chosen)) {
      expect(existsSync(file), file).toBe(true);
      expect(suiteOf(file), file).not.toBeNull();
      expect(reason.length, file).toBeGreaterThan(10);
    }
  });

  it("has the text of every planted defect once, and the test that fails for it in a suite of every landing", () => {
    expect(MUTATIONS.length).toBeGreaterThanOrEqual(20);
    for (const { name, file, find, caughtBy } of MUTATIONS) {
      expect(repository.text(file).split(find), name).toHaveLength(2);
      expect(repository.has(caughtBy), name).toBe(true);
      expect(["main", "integration"], name).toContain(suiteOf(caughtBy));
    }
  });

  it("runs suites side by side that would leave a core idle: those of one file at a time, and the browser", () => {
    const sharing = Object.entries(SUITES).flatMap(([name, suite]) => ("sharesCores" in suite ? [name] : []));
    const oneAtATime = (vitestConfig.test?.projects ?? []).flatMap((project) =>
      typeof project === "object" && "test" in project && project.test?.maxWorkers === 1
        ? [project.test.name]
        : [],
    );
    expect(oneAtATime).toHaveLength(2);
    expect(sharing.sort()).toEqual([...oneAtATime, "browser"].sort());
  });

  it("has a command in package.json for every suite", () => {
    const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as {
      scripts: Record<string, string>;
    };
    for (const suite of Object.keys(SUITES)) {
      const name = { main: "test", check: "check" }[suite] ?? `test:${suite}`;
      expect(scripts[name], suite).toBeDefined();
    }
  });
});

describe("the end of a run", () => {
  it("names each failed test with the first lines of its message, and a file that did not load", () => {
    const message = `\u001b[31mexpected 1\u001b[39m\n${"more\n".repeat(50)}`;
    const lines = formatFailures([
      { file: "tests/api/a.test.ts", title: "a group > counts", message },
      { file: "tests/api/b.test.ts", title: null, message: "Cannot find module" },
    ]).split("\n");
    expect(lines[0]).toBe("tests/api/a.test.ts > a group > counts");
    expect(lines[1]).toBe("    expected 1");
    expect(lines.slice(-3)).toEqual(["tests/api/b.test.ts", "    Cannot find module", ""]);
    expect(lines.length).toBeLessThan(12);
  });
});

describe("TEST_SEED", () => {
  it("repeats a seed as fast-check prints it, without its sign if a simulator takes none", () => {
    vi.stubEnv("TEST_SEED", "-12");
    expect(givenSeed()).toBe(-12);
    expect(chooseSeed()).toBe(2 ** 32 - 12);
  });

  it.each(["", "abc", "1.5", "12abc"])("rejects %j instead of running other cases", (text) => {
    vi.stubEnv("TEST_SEED", text);
    expect(givenSeed).toThrow("TEST_SEED must be a whole number");
  });
});

describe("a budget", () => {
  const run = (processorSeconds: number, slowness = 1): SuiteRun => ({
    suite: "main",
    passed: 1,
    failed: 0,
    skipped: 0,
    wallSeconds: 10_000,
    processorSeconds,
    slowness,
    unstable: [],
    failures: [],
    files: [],
  });

  it("exceeds a budget at half as much again of processor time", () => {
    const { budgetSeconds } = SUITES.main;
    expect(findOverruns([run(budgetSeconds * 1.5)])).toEqual([]);
    expect(findOverruns([run(budgetSeconds * 1.5 + 1)])).toEqual([
      expect.stringContaining(`its budget is ${budgetSeconds}`),
    ]);
  });

  it("allows a slower machine as much more time as it is slower", () => {
    expect(findOverruns([run(SUITES.main.budgetSeconds * 2.9, 2)])).toEqual([]);
  });
});
