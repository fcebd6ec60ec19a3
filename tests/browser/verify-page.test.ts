// The page that checks a response, in a real browser: the same result as elsewhere, and nothing leaves the browser.
import { type Json, type ProofStage, startProofStage } from "@sextant/client/testing/proof-stage";
import { createSigner, signResponse } from "@sextant/client/testing/signed-response";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AGENT_REGISTRY, readProvenAgent } from "../support/chain/proven-agent.ts";
import { startTestPortfolioWeb, type TestPortfolioWeb } from "../support/http/test-portfolio-web.ts";
import { openBrowser, openPage } from "./browser.ts";
import { findBarriers, findLayoutDefects } from "./page-checks.ts";

let browser: Browser;
let web: TestPortfolioWeb;
let stage: ProofStage;
let snapshot: Json;
beforeAll(async () => {
  [browser, web, stage] = await Promise.all([openBrowser(), startTestPortfolioWeb(), startProofStage()]);
  snapshot = await stage.snapshot();
});
afterAll(async () => {
  await browser?.close();
  await web?.close();
  await stage?.chain.stop();
});

async function choose(page: Page, content: unknown): Promise<void> {
  const buffer = Buffer.from(JSON.stringify(content));
  await page.setInputFiles("#file", { name: "response.json", mimeType: "application/json", buffer });
}

async function visit(run: (page: Page) => Promise<void>): Promise<void> {
  const { page, errors } = await openPage(browser);
  await page.goto(`${web.url}/verify`);
  const requests: string[] = [];
  // The browser fetches the icon when it likes.
  page.on("request", (request) => {
    if (!request.url().endsWith("/favicon.svg")) requests.push(request.url());
  });
  await run(page);
  await page.context().close();
  expect({ errors, requests }).toEqual({ errors: [], requests: [] });
}

describe("the page that checks a response", () => {
  it("shows what is proven once the reader knows the block, and asks nothing over the network", async () => {
    const [{ hash = "" } = {}] = snapshot.blocks as { hash: string }[];
    await visit(async (page) => {
      await choose(page, snapshot);
      const usdc = page.locator("tr", { hasText: "/tokens/0/rawBalance" });
      await usdc.getByText("proven if the block is real").waitFor();
      await page.fill("#blocks", hash);
      await page.locator("#blocks").press("Tab");
      await usdc.getByText("proven", { exact: true }).waitFor();
      expect(await page.locator(".verdict").textContent()).toContain("Nothing is wrong");
      expect(await findLayoutDefects(page)).toEqual([]);
      expect(await findBarriers(page)).toEqual([]);
    });
  });

  it("shows a record of the index as proven once the reader knows its contract", async () => {
    const record = await readProvenAgent(stage.chain, 1);
    const { block } = record.proofs as { block: { hash: string } };
    await visit(async (page) => {
      await choose(page, record);
      await page.fill("#blocks", block.hash);
      await page.locator("#blocks").press("Tab");
      const owner = page.locator("tr", { hasText: "/owner" });
      await owner.getByText("proven if the contract is yours").waitFor();
      await page.fill("#deployment", AGENT_REGISTRY);
      await page.locator("#deployment").press("Tab");
      await owner.getByText("proven", { exact: true }).waitFor();
      expect(await page.locator(".verdict").textContent()).toContain("Nothing is wrong");
      expect(await findLayoutDefects(page)).toEqual([]);
      expect(await findBarriers(page)).toEqual([]);
    });
  });

  it("shows the age of a signature, and that a signed 402 is not a result", async () => {
    const signer = createSigner(3);
    const hourAgo = Math.floor(Date.now() / 1000) - 3_600;
    const sign = (status: number) =>
      signResponse('{"error":"any"}', "https://service.example/portfolio", signer, hourAgo, status);
    await visit(async (page) => {
      await page.fill("#key", signer.jwk.x);
      await choose(page, sign(200));
      await page.locator(".verdict:not(.failed)", { hasText: "Nothing is wrong" }).waitFor();
      await page.locator("tr", { hasText: "60 minutes old" }).waitFor();
      await choose(page, sign(402));
      await page.locator(".verdict.failed", { hasText: "The service rejected the request: 402" }).waitFor();
      await page.locator("tr", { hasText: "status" }).getByText("signed only").waitFor();
      expect(await findLayoutDefects(page)).toEqual([]);
      expect(await findBarriers(page)).toEqual([]);
    });
  });

  it("says what is wrong with a changed file, and what a hostile one contains stays text", async () => {
    const lie = structuredClone(snapshot) as { tokens: Json[] };
    const symbol = '<img src="x" onerror="document.title=1">';
    Object.assign(lie.tokens[1] ?? {}, { rawBalance: "7000001", balance: "7.000001", symbol });
    await visit(async (page) => {
      await choose(page, lie);
      await page.locator(".verdict.failed", { hasText: "Wrong: 1" }).waitFor();
      expect(await page.locator("#result").textContent()).toContain(symbol);
      expect(await page.locator("#result img").count()).toBe(0);
      await choose(page, "text");
      await page.getByText("The file is not an object").waitFor();
    });
  });
});
