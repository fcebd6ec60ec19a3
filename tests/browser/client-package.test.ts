// The client in a page of another origin than the services: bundled from the built package, it reads and pays.
import type { Browser, Page } from "playwright-core";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openReadStage, type ReadStage } from "../api/api-stage.ts";
import { openServiceStage, type ServiceStage } from "../portfolio/service-stage.ts";
import { startLoopbackServer } from "../support/http/loopback-server.ts";
import { SHARED_HISTORY_MS_MAX } from "../support/index/simulated-history.ts";
import { openBrowser, openPage } from "./browser.ts";
import { BUNDLE_MS_MAX, bundleClient } from "./bundle-client.ts";

let api: ReadStage;
let stage: ServiceStage;
let browser: Browser;
let bundle: string;
// Before the stages: it blocks this process for as long as the compiler runs, and a busy machine takes a minute for it.
beforeAll(async () => {
  bundle = await bundleClient();
}, BUNDLE_MS_MAX);
beforeAll(async () => {
  [api, stage, browser] = await Promise.all([openReadStage(), openServiceStage(), openBrowser()]);
}, SHARED_HISTORY_MS_MAX);
afterAll(async () => {
  await browser?.close();
  await stage?.close();
  await api?.close();
});

type ClientPage = { readonly page: Page; readonly requested: readonly string[]; stop(): Promise<void> };

/** A page that has the client, on an origin of its own. */
async function openClientPage(): Promise<ClientPage> {
  const requested: string[] = [];
  const site = await startLoopbackServer((request, response) => {
    requested.push(request.url ?? "");
    if (request.url === "/client.js") {
      return response.writeHead(200, { "content-type": "text/javascript" }).end(bundle);
    }
    if (request.url?.startsWith("/portfolio")) {
      const headers = { location: "/elsewhere", "access-control-allow-origin": "*" };
      return response.writeHead(302, headers).end();
    }
    response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><title>agent</title>");
  });
  const { page } = await openPage(browser);
  await page.goto(site.url);
  return { page, requested, stop: site.stop };
}

// As text: it runs in the page, which has no access to this file.
const PROGRAM = `async ({ api, portfolio, privateKey, guard, address, elsewhere }) => {
  const { createSextant, privateKeyToAccount } = await import("/client.js");
  const payer = privateKeyToAccount(privateKey);
  const sextant = createSextant({ api, portfolio, payer, guard });
  const failureOf = (promise) => promise.then(() => null, ({ code, status, requestId, charged }) => ({ code, status, requestId, charged }));
  const intents = [];
  for await (const { intent_id } of sextant.listIntents({ limit: 2 })) if (intents.push(intent_id) === 5) break;
  const [intent] = await sextant.listIntents({}, { minBlock: 1 }).take(1);
  const { catalog_hash } = await sextant.publishCatalog({ catalog_json: '{"from": "a page"}' });
  const { text } = await sextant.getCatalog({ hash: catalog_hash });
  const { price, payTo, problem } = await sextant.quote({ address });
  const request = { address, chains: "base" };
  const first = await sextant.getPortfolio(request, { purchase: "page" });
  const again = await sextant.getPortfolio(request, { purchase: "page" });
  const redirected = createSextant({ portfolio: elsewhere, payer, guard });
  return {
    intents, newest: intent.intent_id, text, quote: { price, payTo, problem },
    value: first.data.summary.totalValueUsd,
    transactions: [first.receipt.transaction, again.receipt.transaction],
    spent: (await sextant.payments.budget()).spent.total,
    missing: await failureOf(sextant.getIntent({ id: "99999999" })),
    redirected: await failureOf(redirected.getPortfolio(request)),
    named: await failureOf(redirected.getPortfolio({ address: "alice.eth" })),
  };
}`;

it("reads, writes and pays once across origins", async () => {
  const { url: portfolio } = await stage.serve();
  const { asset, payTo, mint, node, transfersFrom } = stage.paid;
  const privateKey = generatePrivateKey();
  const { address: payer } = privateKeyToAccount(privateKey);
  await mint(payer, 1_000_000n);
  const { page, requested, stop } = await openClientPage();
  const guard = { network: "eip155:31337", asset, payees: [payTo] };
  const address = stage.paid.chain.accounts.payer.address;
  const given = {
    api: api.url,
    portfolio,
    privateKey,
    guard,
    address,
    elsewhere: new URL(page.url()).origin,
  };
  const result = (await page.evaluate(`(${PROGRAM})(${JSON.stringify(given)})`)) as Readonly<
    Record<string, unknown>
  >;
  const ids = (await api.pages("/intents", "intents", 100)).map(({ intent_id }) => intent_id);
  const transfers = await transfersFrom(payer);
  const [transaction] = transfers.map(({ transactionHash }) => transactionHash);
  expect(result).toEqual({
    intents: ids.slice(0, 5),
    newest: ids[0],
    text: '{"from": "a page"}',
    quote: { price: "0.01", payTo, problem: null },
    value: expect.stringMatching(/^[1-9]\d*\.\d+$/),
    transactions: [transaction, transaction],
    spent: "0.01",
    missing: { code: "NOT_FOUND", status: 404, requestId: expect.stringMatching(/\S/), charged: "no" },
    redirected: { code: "REDIRECTED", status: 0, requestId: null, charged: "no" },
    named: { code: "REDIRECTED", status: null, requestId: null, charged: "no" },
  });
  expect(requested).toContain("/portfolio?address=alice.eth");
  expect(requested).not.toContain("/elsewhere");
  expect(transfers).toHaveLength(1);
  const receipt = await node.getTransactionReceipt({ hash: transaction as `0x${string}` });
  expect(receipt.status).toBe("success");
  await stop();
});
