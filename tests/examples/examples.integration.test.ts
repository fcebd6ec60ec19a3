// The examples, run as their reader does, next to `npm start`.
// tests/local/demo.test.ts has the same steps in one process.
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createPublicClient, erc20Abi, type Hex, http } from "viem";
import { expect, it } from "vitest";
import { createProgramFolder } from "../support/process/program-folder.ts";
import { startProgram, startSextant } from "../support/process/sextant-process.ts";
import { createTestFolder } from "../support/test-folder.ts";

type LocalState = {
  readonly api: string;
  readonly portfolio: string;
  readonly chains: readonly { readonly rpcUrl: string }[];
  readonly payment: { readonly asset: Hex };
  readonly accounts: readonly { readonly name: string; readonly address: Hex; readonly privateKey: Hex }[];
};

async function startLocalRun() {
  const folder = await createTestFolder();
  const data = join(folder, ".sextant");
  mkdirSync(data);
  const ports = { API_PORT: "0", PORTFOLIO_PORT: "0", FACILITATOR_PORT: "0" };
  const run = startSextant(["local", "--no-traffic", "--seed", "5"], {
    environment: { ...ports, SEXTANT_DATA: data },
  });
  await run.waitForOutput(/Press Ctrl-C to stop/);
  const state = JSON.parse(readFileSync(join(data, "local.json"), "utf8")) as LocalState;
  const rpcUrl = state.chains[0]?.rpcUrl ?? "";
  const node = createPublicClient({ transport: http(rpcUrl) });
  return {
    run,
    state,
    node,
    start: (name: string) =>
      startProgram(fileURLToPath(new URL(`../../examples/${name}.ts`, import.meta.url)), {
        environment: { SEXTANT_DATA: data },
      }),
    balance(name: string): Promise<bigint> {
      const owner = state.accounts.find((each) => each.name === name)?.address ?? "0x";
      const args = [owner] as const;
      return node.readContract({
        address: state.payment.asset,
        abi: erc20Abi,
        functionName: "balanceOf",
        args,
      });
    },
  };
}

/** Its reader may have no key yet. */
async function runWithoutKey({ start }: LocalRun): Promise<void> {
  const { code, err } = await start("buy-snapshot").ended;
  expect(code).toBe(1);
  expect(err).toContain("Error: Set PAYER_PRIVATE_KEY to the key of the account that pays.");
}

type LocalRun = Awaited<ReturnType<typeof startLocalRun>>;

/** Two payments are allowed, made and counted; one before and one between them are neither. */
async function runPolicyAgent({ start, state, balance }: LocalRun): Promise<void> {
  const before = [await balance("agent"), await balance("merchant")] as const;
  const { code, out, err } = await start("policy-agent").ended;
  expect([code, err]).toEqual([0, ""]);
  const [, account = ""] = /^account (0x\w{40}) holds 5 USDC and may spend 2 USDC a day$/m.exec(out) ?? [];
  expect(out.split("\n").slice(1)).toEqual([
    expect.stringMatching(/^pay 1\.5 USDC: not allowed\. Target 0x\w+ is not allowed for this account\.$/),
    "the owner sets TARGET_ALLOWLIST",
    "pay 1.5 USDC: allowed",
    expect.stringMatching(/^paid in 0x[0-9a-f]{64}; 1\.5 USDC is spent today, 0\.5 USDC remains$/),
    "pay 1 USDC: not allowed. Spending 1 USDC exceeds the daily limit of 2 USDC: 1.5 USDC is spent, 0.5 USDC remains.",
    "pay 0.5 USDC: allowed",
    expect.stringMatching(/^paid in 0x[0-9a-f]{64}; 2 USDC is spent today, 0 USDC remains$/),
    `next: open ${state.api}/explorer/accounts/${account}, or run`,
    `  node bin/sextant.mjs list accounts/${account}/windows`,
    "",
  ]);
  await opensNext(out);
  // The rest stays in the account.
  expect([before[0] - (await balance("agent")), (await balance("merchant")) - before[1]]).toEqual([
    5_000_000n,
    2_000_000n,
  ]);
}

/** The page that an example names as the next thing to open is there. */
async function opensNext(out: string): Promise<void> {
  const [, url = ""] = /^next: open (\S+), or run$/m.exec(out) ?? [];
  expect((await fetch(url)).status).toBe(200);
}

async function runMerchant({ start, state, balance }: LocalRun): Promise<void> {
  const before = await balance("merchant");
  const { code, out, err } = await start("merchant").ended;
  expect([code, err]).toEqual([0, ""]);
  const [, id, paid] = /receipt (\d+): 0\.25 USDC paid in (0x[0-9a-f]{64})/.exec(out) ?? [];
  await opensNext(out);
  const [, quoteHash] = /quotes (0x[0-9a-f]{64})/.exec(out) ?? [];
  const { receipts } = (await (await fetch(`${state.api}/receipts?limit=1`)).json()) as {
    receipts: object[];
  };
  expect(receipts).toMatchObject([{ receipt_id: id, quote_hash: quoteHash, result_hash: paid }]);
  expect((await balance("merchant")) - before).toBe(250_000n);
}

async function runSolver({ start, state }: LocalRun): Promise<void> {
  const { code, out, err } = await start("solver").ended;
  expect([code, err]).toEqual([0, ""]);
  const [, id] = /^result for intent (\d+): takes 0\.7 USDC, gives 0\.0002 WETH$/m.exec(out) ?? [];
  expect(out).toMatch(new RegExp(`^selected for intent ${id}: FILLED in 0x[0-9a-f]{64}$`, "m"));
  expect(
    out.match(new RegExp(`^bid on intent ${id}: takes 0\\.7 USDC, gives 0\\.0002 WETH$`, "gm")),
  ).toHaveLength(1);
  await opensNext(out);
  const intent = (await (await fetch(`${state.api}/intents/${id}`)).json()) as { fill: { solver: string } };
  const solver = state.accounts.find(({ name }) => name === "solver");
  expect(intent.fill.solver).toBe(solver?.address.toLowerCase());
}

/** Buys three times and reads the rest. */
async function runTypeScriptCalls({ state }: LocalRun): Promise<void> {
  const program = readFileSync("examples/calls.ts", "utf8")
    // The sources of the package, which tests/packages installs.
    .replace("@sextant-index/client/", "@sextant/client/journal/")
    .replace("@sextant-index/client", "@sextant/client/sextant");
  const folder = await createProgramFolder({ "calls.ts": program });
  const payer = state.accounts.find(({ name }) => name === "payer");
  const calls = startProgram("calls.ts", {
    cwd: folder,
    environment: {
      PAYER_PRIVATE_KEY: payer?.privateKey ?? "",
      SEXTANT_API_URL: state.api,
      SEXTANT_PORTFOLIO_URL: state.portfolio,
    },
  });
  const { code, out, err } = await calls.ended;
  expect([code, err]).toEqual([0, ""]);
  expect(out).toMatch(/^\d+\.\d+ 0x[0-9a-f]{64}\n/);
  expect(out).toMatch(/^erc20-allowance 0x[0-9a-f]{40}$/m);
  expect(out).toMatch(/^false \[/m);
  expect(out).toMatch(/^event \S+\n$/m);
}

// The packages that the Python program imports are not here: this shows that it parses and requests what curl does.
it("shows Python that compiles, with the requests of the curl commands", async () => {
  const python = readFileSync("examples/calls.py", "utf8");
  const file = join(await createTestFolder(), "calls.py");
  writeFileSync(file, python);
  const { status, stderr } = spawnSync("python3", ["-m", "py_compile", file], { encoding: "utf8" });
  expect([status, stderr]).toEqual([0, ""]);
  const page = readFileSync("docs/calls.md", "utf8");
  const paths = [...page.matchAll(/^curl .*127\.0\.0\.1:300[12](\/[\w/]+)/gm)].map(([, path]) => path);
  expect(paths).toHaveLength(7);
  for (const path of paths) expect(python).toContain(`"${path}"`);
});

it("runs the examples and the calls of the documents against a local run as they say", async () => {
  const local = await startLocalRun();
  await runWithoutKey(local);
  await runPolicyAgent(local);
  await runMerchant(local);
  await runSolver(local);
  await runTypeScriptCalls(local);
  local.run.child.kill("SIGINT");
  expect((await local.run.ended).code).toBe(0);
}, 180_000);
