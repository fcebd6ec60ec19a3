// `npm start`: every service runs, a payment works, and nothing is left behind.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { runPayCommand } from "../../scripts/pay/run-pay.ts";
import { startSextant } from "../support/process/sextant-process.ts";

type LocalState = {
  api: string;
  portfolio: string;
  facilitator: string;
  chains: { name: string; chainId: number; rpcUrl: string; wsUrl: string }[];
  deployment: { chainId: number; contracts: Record<string, string> };
  payment: { network: string; asset: string; payTo: string; amount: string };
  accounts: { name: string; address: string; privateKey: string }[];
};

/** Reads the body: an unread response is in flight, and shutdown would wait for it. */
async function statusOf(url: string): Promise<number> {
  const response = await fetch(url);
  await response.arrayBuffer();
  return response.status;
}

it("serves everything, takes a payment, and leaves no file and no process", async () => {
  const data = mkdtempSync(join(tmpdir(), "sextant-local-"));
  const ports = { API_PORT: "0", PORTFOLIO_PORT: "0", FACILITATOR_PORT: "0" };
  const run = startSextant(["local", "--no-traffic", "--seed", "3"], {
    environment: { ...ports, SEXTANT_DATA: data },
  });
  const banner = await run.waitForOutput(/Press Ctrl-C to stop/);
  const localFile = join(data, "local.json");
  const state = JSON.parse(readFileSync(localFile, "utf8")) as LocalState;
  for (const url of [state.api, state.portfolio, state.facilitator]) expect(banner).toContain(url);
  expect(state.chains.map(({ name, chainId }) => [name, chainId])).toEqual([
    ["local", 31_337],
    ["base", 8_453],
    ["ethereum", 1],
  ]);
  expect(state.payment).toMatchObject({ network: "eip155:31337", amount: "10000" });
  expect(await statusOf(`${state.api}/agents/1`)).toBe(200);
  expect(await statusOf(`${state.api}/docs`)).toBe(200);
  expect(await statusOf(`${state.facilitator}/supported`)).toBe(200);

  const payer = state.accounts.find(({ name }) => name === "payer");
  expect(banner).toContain(`npm run pay -- ${payer?.address}`);
  expect(await statusOf(`${state.portfolio}/portfolio?address=${payer?.address}`)).toBe(402);
  const paid = await runPayCommand({ argv: [payer?.address ?? ""], environment: {}, localFile });
  expect([paid.code, paid.err]).toEqual([0, ""]);
  expect(paid.out).toMatch(/USDC +base +1250\.5 /);
  expect(paid.out).toMatch(/Paid \$0\.01 by 0x[0-9a-f]{40} on eip155:31337 in transaction 0x[0-9a-f]{64}/);
  expect(paid.out).not.toContain(payer?.privateKey.slice(2));

  run.child.kill("SIGINT");
  expect((await run.ended).code).toBe(0);
  expect(existsSync(localFile)).toBe(false);
  expect(readdirSync(data)).toEqual([]);
  await expect(fetch(`${state.api}/health`)).rejects.toThrow();
  rmSync(data, { recursive: true });
}, 120_000);
