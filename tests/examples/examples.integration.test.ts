// The examples, run as their reader does, next to `npm start`.
// tests/local/demo.test.ts has the same steps in one process.
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createHttpRpcRequest } from "@sextant/contracts/deploy/rpc-request";
import { selectBid } from "@sextant/simulator/transactions/bids";
import { signIntent, submitIntent } from "@sextant/simulator/transactions/intents";
import { openWorld } from "@sextant/simulator/world";
import { createPublicClient, erc20Abi, type Hex, http } from "viem";
import { expect, it } from "vitest";
import { startProgram, startSextant } from "../support/process/sextant-process.ts";
import { createTestFolder } from "../support/test-folder.ts";

type LocalState = {
  readonly api: string;
  readonly chains: readonly { readonly rpcUrl: string }[];
  readonly deployment: Parameters<typeof openWorld>[0]["deployment"];
  readonly payment: { readonly asset: Hex };
  readonly accounts: readonly { readonly name: string; readonly address: Hex }[];
};

const HOUR = 3_600n;

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
    world: await openWorld({ request: createHttpRpcRequest(rpcUrl), deployment: state.deployment }),
    start: (name: string) =>
      startProgram(fileURLToPath(new URL(`../../examples/${name}.ts`, import.meta.url)), { cwd: folder }),
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

type LocalRun = Awaited<ReturnType<typeof startLocalRun>>;

/** Two payments are allowed and made, one before and one after are neither. */
async function runPolicyAgent({ start, balance }: LocalRun): Promise<void> {
  const before = [await balance("agent"), await balance("merchant")] as const;
  const { code, out, err } = await start("policy-agent").ended;
  expect([code, err]).toEqual([0, ""]);
  expect(out.split("\n")).toEqual([
    expect.stringMatching(/^pay 1\.5: not allowed\. Target 0x\w+ is not allowed for this account\.$/),
    "the owner sets TARGET_ALLOWLIST",
    "pay 1.5: allowed",
    expect.stringMatching(/^paid in 0x[0-9a-f]{64}$/),
    "pay 0.5: allowed",
    expect.stringMatching(/^paid in 0x[0-9a-f]{64}$/),
    expect.stringMatching(/^pay 2\.5: not allowed\. .*500000 is spent, 1500000 remains/i),
    "",
  ]);
  expect([before[0] - (await balance("agent")), (await balance("merchant")) - before[1]]).toEqual([
    2_000_000n,
    2_000_000n,
  ]);
}

async function runMerchant({ start, state, balance }: LocalRun): Promise<void> {
  const before = await balance("merchant");
  const { code, out, err } = await start("merchant").ended;
  expect([code, err]).toEqual([0, ""]);
  const [, id, paid] = /receipt (\d+): 250000 paid in (0x[0-9a-f]{64})/.exec(out) ?? [];
  const [, quoteHash] = /quotes (0x[0-9a-f]{64})/.exec(out) ?? [];
  const { receipts } = (await (await fetch(`${state.api}/receipts?limit=1`)).json()) as {
    receipts: object[];
  };
  expect(receipts).toMatchObject([{ receipt_id: id, quote_hash: quoteHash, result_hash: paid }]);
  expect((await balance("merchant")) - before).toBe(250_000n);
}

/** The test is the owner: it wants something, and selects the bid. */
async function runSolver({ start, world, state }: LocalRun): Promise<void> {
  const { agent } = world.actors;
  const deadline = (await world.timeline.now()) + HOUR;
  const signed = await signIntent(world, agent, {
    ...{ inputToken: state.payment.asset, outputToken: `0x${"2b".repeat(20)}` },
    constraints: { amountInMax: 700n, amountOutMin: 600n, deadline, slippageBps: 50 },
    nonce: BigInt(Date.now()),
  });
  const id = await submitIntent(world, agent, signed);
  const solver = start("solver");
  await solver.waitForOutput(new RegExp(`bid on intent ${id}: takes 700, gives 600`));
  await selectBid(world, agent, id, 1n);
  const out = await solver.waitForOutput(new RegExp(`selected for intent ${id}: FILLED in 0x[0-9a-f]{64}`));
  expect(out.match(new RegExp(`bid on intent ${id}:`, "g"))).toHaveLength(1);
  const intent = (await (await fetch(`${state.api}/intents/${id}`)).json()) as { fill: { solver: string } };
  expect(intent.fill.solver).toBe(world.actors.solver.address.toLowerCase());
  solver.child.kill("SIGTERM");
  await solver.ended;
}

it("runs the examples against a local run as they say", async () => {
  const local = await startLocalRun();
  await runPolicyAgent(local);
  await runMerchant(local);
  await runSolver(local);
  local.run.child.kill("SIGINT");
  expect((await local.run.ended).code).toBe(0);
}, 180_000);
