// `npm start`: every service runs, a payment works, and nothing is left behind.
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { type IncomingMessage, type RequestOptions, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { localAccount } from "@sextant/local-chain/accounts";
import type { Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { expect, it } from "vitest";
import { LOCAL_TERMS } from "../../scripts/example-docs/example-files.ts";
import { createPayingFetch } from "../support/payments/paid-client.ts";
import { runSextantInProcess } from "../support/process/run-in-process.ts";
import { CHECKOUT, startProgram, startSextant } from "../support/process/sextant-process.ts";

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

/** The page and what it renders of a snapshot link nowhere: no explorer knows these transactions. */
async function showsNoPublicExplorer({ portfolio }: LocalState): Promise<void> {
  const page = await (await fetch(`${portfolio}/portfolio`, { headers: { accept: "text/html" } })).text();
  const offer = JSON.parse(/id="offer">(.*?)<\/script>/s.exec(page)?.[1] ?? "");
  for (const { explorerTxUrl } of [...offer.chains, offer.paymentChain]) expect(explorerTxUrl).toBeNull();
  expect(offer.chains).toHaveLength(2);
  expect(offer.paymentChain.wallet).toEqual({
    nativeCurrency: { symbol: "ETH", name: "Ether", decimals: 18 },
    rpcUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
  });
}

/** The examples of the documents, run as their reader does: a client buys, and a server alongside the run sells. */
async function runsTheExamples(state: LocalState, payee: string): Promise<void> {
  const payer = state.accounts.find(({ name }) => name === "payer");
  const client = startProgram(fileURLToPath(new URL("../../examples/buy-snapshot.ts", import.meta.url)), {
    environment: { PAYER_PRIVATE_KEY: payer?.privateKey ?? "", SEXTANT_PORTFOLIO_URL: state.portfolio },
  });
  const bought = await client.ended;
  expect([bought.code, bought.err]).toEqual([0, ""]);
  expect(bought.out).toMatch(
    /^worth \$[1-9],\d{3}\.\d+, paid in 0x[0-9a-f]{64}\nnext: open \S+ for the other calls\n$/,
  );
  const [, next = ""] = /open (\S+)/.exec(bought.out) ?? [];
  expect((await fetch(next)).status).toBe(200);

  const pay = createPayingFetch(privateKeyToAccount(payer?.privateKey as Hex), LOCAL_TERMS.asset as Hex);
  const served = await pay(await startPaidServer(state, payee));
  expect(served.status).toBe(200);
  expect(await served.json()).toEqual({ greeting: "Thank you for the cent." });
  const other = await pay(await startPaidServer(state, localAccount(21).address));
  expect(other.status).toBe(402);
  const { error } = (await other.json()) as { error: string };
  expect(error).toContain(payee.toLowerCase());
  expect(error).toContain("--payee");
}

/** Every chain has a week of history, and its prices are those of now. */
async function showsLastWeek(wallet: string, environment: Readonly<Record<string, string>>): Promise<void> {
  for (const args of [
    ["list", "intents", "--at", "7d"],
    ["list", "intents", "--status", "open"],
    ["wallet", wallet, "--at", "7d"],
    ["diff", wallet, "--from", "7d"],
  ]) {
    const shown = await runSextantInProcess(args, environment);
    expect([args, shown.code, shown.err]).toEqual([args, 0, ""]);
    // A head and a record at least.
    expect(shown.out.split("\n").length).toBeGreaterThan(2);
  }
  const bought = await runSextantInProcess(["wallet", wallet, "--json"], environment);
  const { tokens } = JSON.parse(bought.out) as { tokens: { priceTimestamp: string }[] };
  for (const { priceTimestamp } of tokens) {
    expect(Date.now() - Date.parse(priceTimestamp)).toBeLessThan(10 * 60_000);
  }
}

async function startPaidServer({ facilitator }: LocalState, payTo: string): Promise<string> {
  const server = startProgram(fileURLToPath(new URL("../../examples/paid-server.ts", import.meta.url)), {
    environment: { PAY_TO: payTo, PORT: "0", FACILITATOR_URL: facilitator },
  });
  const port = /port (\d+)/.exec(await server.waitForOutput(/listening on port \d+\n/))?.[1];
  return `http://127.0.0.1:${port}/greeting`;
}

/** Every service and chain: a page of the web that writes, and one that has led its own name here. */
async function rejectsPagesOfTheWeb({ api, portfolio, facilitator, chains }: LocalState): Promise<void> {
  const send = async (url: string, options: RequestOptions) => {
    const sent = request(url, options).end();
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    response.resume();
    return response.statusCode;
  };
  const origin = "https://evil.example";
  for (const url of [api, portfolio, facilitator])
    expect([
      await send(`${url}/webhooks`, { method: "POST", headers: { origin } }),
      await send(`${url}/health`, { headers: { host: "evil.example" } }),
      await send(`${url}/health`, { headers: { origin } }),
    ]).toEqual([400, 400, 200]);
  for (const { rpcUrl } of chains)
    expect([
      await send(rpcUrl, { method: "POST", headers: { origin } }),
      await send(rpcUrl, { headers: { host: "evil.example" } }),
    ]).toEqual([403, 403]);
}

it("serves everything, takes a payment, and leaves no file and no process", async () => {
  const data = mkdtempSync(join(tmpdir(), "sextant-local-"));
  const userState = { XDG_STATE_HOME: mkdtempSync(join(tmpdir(), "sextant-state-")) };
  const ports = { API_PORT: "0", PORTFOLIO_PORT: "0", FACILITATOR_PORT: "0" };
  const payee = localAccount(20).address;
  const run = startSextant(["local", "--no-traffic", "--seed", "3", "--payee", payee], {
    // As `npm start` does.
    checkout: CHECKOUT,
    environment: { ...ports, ...userState, SEXTANT_DATA: data },
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
  expect(state.payment).toMatchObject(LOCAL_TERMS);
  expect(await statusOf(`${state.api}/agents/1`)).toBe(200);
  expect(await statusOf(`${state.api}/docs`)).toBe(200);
  expect(await statusOf(`${state.facilitator}/supported`)).toBe(200);

  const payer = state.accounts.find(({ name }) => name === "payer");
  expect(banner).toContain(`node bin/sextant.mjs wallet ${payer?.address}`);
  expect(await statusOf(`${state.portfolio}/portfolio?address=${payer?.address}`)).toBe(402);
  const paid = await runSextantInProcess(["wallet", payer?.address ?? ""], { SEXTANT_DATA: data });
  expect([paid.code, paid.err]).toEqual([0, ""]);
  expect(paid.out).toMatch(/USDC +base +1,250\.5 USDC /);
  expect(paid.out).toMatch(/ETH +ethereum +1\.2747 ETH /);
  expect(paid.out).toMatch(/Paid \$0\.01 by 0x[0-9a-f]{40} on eip155:31337 in transaction 0x[0-9a-f]{64}/);
  expect(paid.out).not.toContain(payer?.privateKey.slice(2));
  const listed = await runSextantInProcess(["payments", "list"], { SEXTANT_DATA: data });
  expect(listed.out).toMatch(/^when .*\n.* paid +\$0\.01 +wallet +0x/);

  await showsLastWeek(payer?.address ?? "", { SEXTANT_DATA: data });

  // Without SEXTANT_DATA, as in another folder.
  expect(await runSextantInProcess(["get", "head"], userState)).toMatchObject({ code: 0, err: "" });

  await showsNoPublicExplorer(state);
  await rejectsPagesOfTheWeb(state);
  await runsTheExamples(state, payee);

  run.child.kill("SIGINT");
  expect((await run.ended).code).toBe(0);
  expect(existsSync(localFile)).toBe(false);
  expect(readdirSync(data)).toEqual([]);
  expect(readdirSync(join(userState.XDG_STATE_HOME, "sextant/runs"))).toEqual([]);
  await expect(fetch(`${state.api}/health`)).rejects.toThrow();
  for (const folder of [data, userState.XDG_STATE_HOME]) rmSync(folder, { recursive: true });
}, 180_000);
