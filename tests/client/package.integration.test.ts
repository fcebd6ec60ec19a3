// The packed package as its users get it: installed, compiled strictly, and run against `npm start`. packages/client/sextant.test.ts is the fast part.
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createPublicClient, http } from "viem";
import { expect, it } from "vitest";
import { buildClientPackage } from "../../scripts/client-package/build.ts";
import { startProgram, startSextant } from "../support/process/sextant-process.ts";
import { findTypeErrors } from "../support/process/type-check.ts";
import { createTestFolder } from "../support/test-folder.ts";

const CHECKOUT = fileURLToPath(new URL("../../", import.meta.url));
/** The packages that users install together with it. */
const INSTALLED = ["viem", "@types/node"];

const TSCONFIG = {
  compilerOptions: {
    ...{ target: "ES2023", types: ["node"], module: "NodeNext", noEmit: true },
    ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
    // Our own declarations are checked with the program.
    skipLibCheck: false,
  },
  include: ["*.ts"],
};

it("installs the client from its tarball, compiles with tsc --strict, and runs the quickstart", async () => {
  const folder = await createTestFolder();
  const built = join(folder, "built");
  buildClientPackage(built);
  run("npm", ["pack", "--silent", "--pack-destination", folder], built);
  const app = join(folder, "app");
  mkdirSync(app);
  writeFileSync(join(app, "package.json"), '{"type":"module","private":true}');
  const tarball = join(folder, "sextant-index-client-0.1.0.tgz");
  // Peers come from this checkout; nothing is downloaded.
  run("npm", ["install", "--offline", "--ignore-scripts", "--legacy-peer-deps", "--no-audit", tarball], app);
  for (const name of INSTALLED) {
    mkdirSync(join(app, "node_modules", name, ".."), { recursive: true });
    symlinkSync(join(CHECKOUT, "node_modules", name), join(app, "node_modules", name));
  }
  const { run: local, state } = await startLocalRun(folder);
  writeFileSync(join(app, "tsconfig.json"), JSON.stringify(TSCONFIG));
  const program = readFileSync(join(CHECKOUT, "examples/quickstart.ts"), "utf8");
  writeFileSync(join(app, "quickstart.ts"), program.replace("http://127.0.0.1:3002", state.portfolio));
  expect(findTypeErrors(app)).toBeNull();

  const payer = state.accounts.find(({ name }) => name === "payer");
  const environment = { PAYER_PRIVATE_KEY: payer?.privateKey ?? "" };
  const transactions = new Set<string | undefined>();
  for (const _ of [1, 2]) {
    const { code, out, err } = await startProgram("quickstart.ts", { cwd: app, environment }).ended;
    expect([code, err]).toEqual([0, ""]);
    transactions.add(/^worth \$[1-9][\d.]*, paid in (0x[0-9a-f]{64})\n$/.exec(out)?.[1]);
  }
  const node = createPublicClient({ transport: http(state.chains[0]?.rpcUrl) });
  for (const hash of transactions) {
    const receipt = await node.getTransactionReceipt({ hash: hash as `0x${string}` });
    expect(receipt.status).toBe("success");
  }
  expect(transactions.size).toBe(2);
  const journal = readFileSync(join(app, "payments.jsonl"), "utf8").trim().split("\n");
  expect(journal.map((line) => JSON.parse(line).type)).toEqual(["signed", "paid", "signed", "paid"]);
  local.child.kill("SIGINT");
  expect((await local.ended).code).toBe(0);
}, 300_000);

type LocalState = {
  readonly portfolio: string;
  readonly chains: readonly { readonly rpcUrl: string }[];
  readonly accounts: readonly { readonly name: string; readonly privateKey: string }[];
};

async function startLocalRun(folder: string) {
  const data = join(folder, "data");
  const environment = { API_PORT: "0", PORTFOLIO_PORT: "0", FACILITATOR_PORT: "0", SEXTANT_DATA: data };
  const run = startSextant(["local", "--no-traffic"], { environment });
  await run.waitForOutput(/Press Ctrl-C to stop/);
  return { run, state: JSON.parse(readFileSync(join(data, "local.json"), "utf8")) as LocalState };
}

function run(command: string, args: readonly string[], cwd: string): void {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: "utf8" });
  expect([error, status], `${command} ${args[0]}: ${stdout}${stderr}`).toEqual([undefined, 0]);
}
