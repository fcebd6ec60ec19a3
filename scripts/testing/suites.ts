// The test suites: which files belong to each, what each may cost, and why it is a suite of its own.

type Suite = {
  /** Processor seconds that a whole run may take on the machine that the budgets were measured on. */
  readonly budgetSeconds: number;
  /** Why it is there, and why it is not part of main. */
  readonly reason: string;
  /** Its files; none for a suite that is not made of test files of its own. */
  readonly files?: RegExp;
  /** On a landing, only files that can reach a change run, and a tenth of the others. */
  readonly waits?: true;
  /** It mostly waits for processes: on a landing, two such suites run at a time. */
  readonly sharesCores?: true;
  /** A change of one of these files runs the whole suite on a landing. */
  readonly input?: RegExp;
};

// Chosen a little above what was measured on an idle machine; alongside other work the same tests take up to a third
// more. `npm run check` fails at half as much again.
export const SUITES = {
  check: { budgetSeconds: 75, reason: "everything that can be said without running the product" },
  main: {
    budgetSeconds: 400,
    reason: "what a developer runs after each change: every rule once, property tests at a small depth",
    files: /\.test\.ts$/,
  },
  integration: {
    // Includes 34 for the site of the documents, which the server's package contains, and 39 in which npm installs the
    // tools of the packages, of OpenAPI and of the site on a fresh clone.
    budgetSeconds: 504,
    reason:
      "clusters, several processes or chains, long histories, both packages on three versions of Node: too long to wait for after each change",
    files: /\.integration\.test\.ts$/,
  },
  stock: {
    // Includes 32 for the packages of the image, and 11 for the commands of the runbook.
    budgetSeconds: 165,
    reason:
      "what needs the tools of a stock PostgreSQL, or can differ between it and the embedded one; scripts/testing/stock-files.ts",
    files: /^tests\/stock\/.*\.test\.ts$/,
  },
  contracts: {
    budgetSeconds: 60,
    reason: "the Solidity of the protocol, which no other change can break; compiled again and compared",
    files: /^contracts\/test\/.*\.test\.ts$/,
    waits: true,
    // The compiler's inputs: a change of one runs the whole suite.
    input: /^(contracts\/|package-lock\.json$)/,
  },
  protocols: {
    budgetSeconds: 120,
    reason: "contracts of other projects by their own bytecode, from 270 MB of packages",
    files: /^tests\/protocols\/.*\.test\.ts$/,
    waits: true,
  },
  broker: {
    budgetSeconds: 40,
    reason: "needs a nats-server",
    files: /^tests\/broker\/.*\.test\.ts$/,
    waits: true,
  },
  upgrade: {
    budgetSeconds: 60,
    reason: "needs the version before from the history",
    files: /^tests\/upgrade\/.*\.test\.ts$/,
    waits: true,
  },
  browser: {
    budgetSeconds: 250,
    reason: "needs a Chromium",
    files: /^tests\/browser\/.*\.test\.ts$/,
    waits: true,
    sharesCores: true,
  },
  chaos: {
    budgetSeconds: 560,
    reason: "kills and freezes processes; one file at a time, because it measures how they fail",
    files: /\.chaos\.test\.ts$/,
    waits: true,
    sharesCores: true,
  },
  bench: {
    // Dozens of processes, of which most only load their code.
    budgetSeconds: 380,
    reason: "every benchmark once over almost no data, so that none breaks unseen; it measures nothing",
    files: /^tests\/bench\/quick\/.*\.test\.ts$/,
    waits: true,
    sharesCores: true,
  },
  deep: {
    budgetSeconds: 520,
    reason:
      "property tests with all their runs, for as many minutes as it is given; the budget is for a landing's",
  },
} as const satisfies Record<string, Suite>;

export type SuiteName = keyof typeof SUITES;

/** Suites that vitest knows as projects of the same name, the narrowest pattern first. */
const BY_FILE = [
  "contracts",
  "protocols",
  "broker",
  "stock",
  "upgrade",
  "browser",
  "bench",
  "chaos",
  "integration",
  "main",
] as const;

export function isSuiteName(name: string): name is SuiteName {
  return name in SUITES;
}

/** The one suite that a test file belongs to; null for a file that is not a test. */
export function suiteOf(file: string): (typeof BY_FILE)[number] | null {
  return BY_FILE.find((name) => SUITES[name].files.test(file)) ?? null;
}
