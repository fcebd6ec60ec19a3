// Times in place of blocks, at the whole service: redirected before the price, paid by stock and own clients, bounded in cost.
import { setTimeout as sleep } from "node:timers/promises";
import { createSextant } from "@sextant/client/create-sextant";
import type { Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FREE_READ_LIMITS } from "../../src/portfolio/free-reads.ts";
import { TOOL_CLIENTS } from "../mcp/tool-clients.ts";
import {
  fetchWithCredential,
  readChallenge,
  signChallenge,
  TEST_MPP_KEY,
} from "../support/payments/mpp-client.ts";
import { decodeBase64Header, fetchWithPayment, signPaymentFor } from "../support/payments/paid-client.ts";
import { runSextantInProcess } from "../support/process/run-in-process.ts";
import {
  callNode,
  openPayingClient,
  openServiceStage,
  type PortfolioService,
  type ServiceStage,
  type StagedMarket,
} from "./service-stage.ts";

const WALLET: Hex = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8";
// Below the finality of the chains, by more than the test mines.
const BLOCKS = 40;

let stage: ServiceStage;
let service: PortfolioService;
beforeAll(async () => {
  stage = await openServiceStage();
  service = await stage.serve();
  for (const market of [stage.base, stage.ethereum]) {
    for (let mined = 0; mined < BLOCKS; mined += 1) await callNode(market, "evm_mine", []);
  }
});
afterAll(() => stage?.close());

async function headerOf(market: StagedMarket, at: string) {
  type Header = { readonly number: Hex; readonly timestamp: Hex };
  const { number, timestamp } = await callNode<Header>(market, "eth_getBlockByNumber", [at, false]);
  return { number: Number(number), seconds: Number(timestamp) };
}
const formatTime = (seconds: number) => new Date(seconds * 1_000).toISOString().replace(".000Z", "Z");

const request = (path: string, init: RequestInit = {}) =>
  fetch(service.url + path, { redirect: "manual", ...init });

async function readError(response: Response) {
  return [response.status, ((await response.json()) as { error: string }).error];
}

/** The newest final block of Base whose time has come, and the last one with its time. */
async function findFinal() {
  const final = await headerOf(stage.base, "finalized");
  let at = { ...final };
  while (at.seconds * 1_000 > Date.now() && at.number > 0) {
    at = await headerOf(stage.base, `0x${(at.number - 1).toString(16)}`);
  }
  return at;
}

describe("a time in place of blocks", () => {
  it("redirects a time to the last final block at or before it, before it names the price", async () => {
    const { number, seconds } = await findFinal();
    const time = formatTime(seconds);
    for (const path of ["/portfolio", "/exposure"]) {
      const response = await request(`${path}?address=${WALLET}&at=${time}&chains=base`);
      const location = `${path}?address=${WALLET}&block=base%3A${number}&chains=base`;
      expect([response.status, response.headers.get("location")]).toEqual([307, location]);
      expect(await response.json()).toEqual({
        location,
        blocks: [
          { parameter: "block", time, blocks: `base:${number}`, blockTimes: [{ chain: "base", time }] },
        ],
      });
      const priced = await request(location);
      expect(priced.status).toBe(402);
      const { resource } = decodeBase64Header<{ resource: { url: string } }>(priced, "payment-required");
      expect(decodeURIComponent(resource.url)).toContain(`block=base:${number}`);
    }
    const diff = await request(`/portfolio/diff?address=${WALLET}&from=${time}&to=base%3A${number}`);
    expect(diff.headers.get("location")).toBe(
      `/portfolio/diff?address=${WALLET}&from=base%3A${number}&to=base%3A${number}`,
    );
  });

  it("rejects the future, the time before the first block, and other texts, with advice", async () => {
    const get = async (query: string) => readError(await request(`/portfolio?address=${WALLET}&${query}`));
    expect(await get("at=2999-01-01")).toEqual([400, expect.stringContaining("at is in the future")]);
    expect(await get("at=2009-01-03&chains=base")).toEqual([
      400,
      expect.stringContaining("2009-01-03T00:00:00Z is before the first block of"),
    ]);
    expect(await get("at=yesterday")).toEqual([400, expect.stringContaining("such as 7d")]);
    expect(await get("at=7d&block=base:1")).toEqual([400, expect.stringContaining("exclude each other")]);
    const diff = await request(`/portfolio/diff?address=${WALLET}&from=lately`);
    expect(await readError(diff)).toEqual([400, expect.stringContaining("or a time: 7d ago")]);
    const stored = await request(`/portfolio/diff?address=${WALLET}&from=${"a".repeat(64)}&to=2009-01-03`);
    expect(await readError(stored)).toEqual([400, expect.stringContaining("A time needs chains")]);
  });

  it("leads an end before the start to an error, not to a price", async () => {
    // A final block of a later second than the first block.
    await sleep(1_100);
    for (let mined = 0; mined < 2 * BLOCKS; mined += 1) await callNode(stage.base, "evm_mine", []);
    const { number } = await findFinal();
    const { number: first, seconds } = await headerOf(stage.base, "0x0");
    const path = `/portfolio/diff?address=${WALLET}&from=base%3A${number}&to=${formatTime(seconds)}`;
    const redirected = await request(path);
    expect([redirected.status, redirected.headers.get("location")]).toEqual([
      307,
      expect.stringMatching(/&to=base%3A\d+$/),
    ]);
    const end = Number(/\d+$/.exec(redirected.headers.get("location") ?? "")?.[0]);
    expect(end).toBeGreaterThanOrEqual(first);
    expect(end).toBeLessThan(number);
    const response = await request(redirected.headers.get("location") ?? "");
    expect([response.status, response.headers.get("payment-required")]).toEqual([400, null]);
  });

  it("is paid by the stock client, and a payment goes to the blocks that it was signed for", async () => {
    const { number, seconds } = await findFinal();
    const { fetch: pay, account } = await openPayingClient(stage);
    const path = `/portfolio?address=${WALLET}&at=${formatTime(seconds)}&chains=base`;
    const response = await pay(service.url + path);
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ blocks: [{ chain: "base", number }] });
    expect(await stage.paid.transfersFrom(account.address)).toHaveLength(1);

    const payer = await stage.paid.payer();
    const byBlock = `/portfolio?address=${WALLET}&block=base%3A1&chains=base`;
    const { header } = await signPaymentFor(service.url + byBlock, payer, stage.paid.asset);
    const repeated = await request(path, { headers: { "payment-signature": header } });
    expect(repeated.headers.get("location")).toBe(byBlock);
    expect(await repeated.json()).toMatchObject({ blocks: [{ blocks: "base:1", blockTimes: null }] });
    expect((await fetchWithPayment(service.url + path, header)).status).toBe(200);
  });

  it("leads a credential to the blocks that its challenge was issued for", async () => {
    const environment = { PAYMENT_MPP_KEY: TEST_MPP_KEY, PORTFOLIO_PUBLIC_URL: "https://sold.example" };
    const { url, close } = await stage.serve({ environment });
    const { seconds } = await findFinal();
    const byBlock = `/portfolio?address=${WALLET}&block=base%3A1&chains=base`;
    const challenge = await readChallenge(url + byBlock);
    const authorization = await signChallenge(challenge, await stage.paid.payer());
    const path = `/portfolio?address=${WALLET}&at=${formatTime(seconds)}&chains=base`;
    const send = (target: string) => fetch(url + target, { headers: { authorization }, redirect: "manual" });
    const redirected = await send(path);
    expect([redirected.status, redirected.headers.get("location")]).toEqual([307, byBlock]);
    expect((await fetchWithCredential(url + path, authorization)).status).toBe(200);
    await close();
  });

  it("is followed by our client, which takes a Date, by the command and by tools", async () => {
    const { number, seconds } = await findFinal();
    const sextant = createSextant({ portfolio: service.url });
    const at = new Date(seconds * 1_000);
    const quote = await sextant.quote("getPortfolio", { address: WALLET, at, chains: "base" });
    expect(decodeURIComponent(quote.url)).toContain(`block=base:${number}`);
    const environment = { SEXTANT_PORTFOLIO_URL: service.url };
    const run = (...args: string[]) =>
      runSextantInProcess([...args, "--chains", "base", "--quote"], environment);
    const command = await run("wallet", WALLET, "--at", formatTime(seconds), "--json");
    expect(JSON.parse(command.out)).toMatchObject({ url: quote.url });
    const early = await run("diff", WALLET, "--from", "9999d");
    expect([early.code, early.err]).toEqual([65, expect.stringContaining(" is before the first block of ")]);
    const [, connect] = TOOL_CLIENTS[0] ?? [];
    const client = await connect?.(`${service.url}/mcp`);
    const terms = await client?.call("wallet_snapshot", { address: WALLET, chains: "base", at: at.toJSON() });
    expect(decodeURIComponent(JSON.stringify(terms))).toContain(`block=base:${number}`);
    await client?.close();
  });

  it("limits how many times a client can have searched without a payment", async () => {
    const limited = await stage.serve();
    const codes: (string | null)[] = [];
    for (let index = 0; index <= FREE_READ_LIMITS.perClientPerMinute; index += 1) {
      const url = `${limited.url}/portfolio?address=${WALLET}&chains=base&at=2009-01-03T00:00:${10 + index}Z`;
      codes.push((await fetch(url, { redirect: "manual" })).headers.get("x-error-code"));
    }
    expect(new Set(codes.slice(0, -1))).toEqual(new Set(["INPUT_INVALID"]));
    expect(codes.at(-1)).toBe("RATE_LIMITED");
  });
});
