// The explorer as people read it, on a phone and on a desktop: names, prices, distances in time, links and ways on.
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { formatMoment } from "../../src/lib/moment.ts";
import { type ExplorerStage, openExplorerStage } from "../explorer/explorer-stage.ts";
import { SHARED_HISTORY_MS_MAX } from "../support/index/simulated-history.ts";
import { openBrowser, openPage } from "./browser.ts";
import { findLayoutDefects } from "./page-checks.ts";

const NAME = "Harbour <b>guide";

let browser: Browser;
let stage: ExplorerStage;

const first = async (statement: string) => {
  const { rows } = await stage.database.query<Record<string, string>>(statement);
  const [row] = rows;
  if (row === undefined) throw new Error(`there is no row of ${statement}`);
  return row;
};

beforeAll(async () => {
  [browser, stage] = await Promise.all([openBrowser(), openExplorerStage()]);
  const published = await fetch(`${stage.url}/catalogs`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ catalog_json: JSON.stringify({ name: NAME }) }),
  });
  const { catalog_hash } = (await published.json()) as { catalog_hash: string };
  await stage.database.query({
    text: "update agents set capabilities_hash = stored_hex(capabilities_hash, $1), metadata_uri = 'ipfs://elsewhere' where agent_id = 1",
    values: [catalog_hash],
  });
}, SHARED_HISTORY_MS_MAX);
afterAll(async () => {
  await browser?.close();
  await stage?.close();
});

describe.each([360, 1_280])("at %i pixels", (width) => {
  let page: Page;
  let errors: readonly string[];

  const visit = async (path: string) => {
    await page.goto(`${stage.url}/explorer${path}`);
    // The modules have run once the slider is there.
    await page.waitForSelector("input[type=range]");
  };
  const texts = (selector: string) => page.locator(selector).allInnerTexts();

  beforeAll(async () => {
    ({ page, errors } = await openPage(browser, { viewport: { width, height: 900 } }));
  });
  afterAll(async () => {
    await page.context().close();
    // The browser reports the status of a page whose filter is wrong.
    expect(errors.filter((each) => !each.includes("status of 400"))).toEqual([]);
  });

  it("shows filtered events newest first, each record of a sentence as a link, and turns their order", async () => {
    const blocks = async () =>
      (await texts('td[data-label="Block"] a')).map((text) => Number(text.replaceAll(",", "")));
    await visit("/events?type=SolverBidSubmitted");
    const newest = await blocks();
    expect(newest.length).toBeGreaterThan(5);
    expect(newest).toEqual([...newest].sort((a, b) => b - a));
    const sentence = page.locator("span.sentence").first();
    const record = sentence.locator('a[href^="/explorer/intents/"]');
    expect(await sentence.innerText()).toContain(`on intent ${await record.innerText()}`);
    expect(await sentence.innerText()).toMatch(/fee [\d,]+ units \(no token named\)$/);
    // A phone shows no heads of columns, so that the link above the table turns the order there.
    const turn = width < 700 ? page.getByRole("link", { name: "Oldest first" }) : page.locator("th a");
    await turn.click();
    await page.waitForURL("**/explorer/events?type=SolverBidSubmitted&order=asc");
    const oldest = await blocks();
    expect(oldest).toEqual([...oldest].sort((a, b) => a - b));
  });

  it("shows agents as a gallery, finds one by the name of its document, and keeps the name apart", async () => {
    await visit("/agents");
    const items = await texts(".gallery > li");
    expect(items.length).toBeGreaterThan(0);
    for (const item of items) expect(item).toMatch(/Its owner has (more than )?[\d,]+ intents?, /);
    await page.goto(`${stage.url}/explorer/search?q=hARBOUR`);
    await page.locator('.results a[href="/explorer/agents/1"]').click();
    await page.waitForURL(`${stage.url}/explorer/agents/1`);
    expect(await page.locator("h1 bdi.foreign").innerText()).toBe(NAME);
  });

  it("shows the price of an intent and its inverse, its fill in percent, and how many there are", async () => {
    await visit("/intents?status=filled");
    // An owner that accepts any amount sets no price.
    const prices = (await texts('td[data-label="Price"]')).filter((each) => each !== "–");
    expect(prices.length).toBeGreaterThan(0);
    const directions = prices.map((price) => {
      const shown = price.replace(/\s+/g, " ");
      const [, sign, of = "", per = ""] =
        /([≥≤]) [\d,.]+ (\w+) per (\w+) [≥≤] [\d,.]+ \3 per \2$/.exec(shown) ?? [];
      expect([shown, of < per]).toEqual([shown, true]);
      return sign;
    });
    // Intents of both directions, with a price in one.
    expect(new Set(directions)).toEqual(new Set(["≥", "≤"]));
    for (const share of await texts('td[data-label="Fill"]'))
      expect(share.replace(/\s+/g, " ")).toMatch(/^complete [\d,.]+ % taken$/);
    // A deadline counts down as long as the intent is open.
    expect(new Set(await texts('td[data-label="Deadline"]'))).toEqual(new Set(["–"]));
    await visit("/intents?status=open");
    for (const deadline of await texts('td[data-label="Deadline"]')) expect(deadline).toMatch(/^in | ago$/);
    await visit("/intents?limit=5");
    expect(await texts(".count")).toEqual(["More than 5."]);
    await page.getByRole("link", { name: "Next →" }).click();
    await page.waitForSelector("input[type=range]");
    expect((await texts(".count"))[0]).toMatch(/^Page 2, /);
  });

  it("shows the fees of bids in units, because the contract names no token of them", async () => {
    const { id } = await first(
      "select intent_id::text as id from bids where valid_to is null group by 1 order by count(*) desc limit 1",
    );
    await visit(`/intents/${id}`);
    const fees = await texts('td[data-label="Fee"]');
    expect(fees.length).toBeGreaterThan(0);
    for (const fee of fees) expect(fee).toMatch(/^[\d,]+ units$/);
  });

  it("counts the times of a page as of a block from that block, and its banner from now", async () => {
    const { account, block } = await first(
      `select w.account, w.valid_from::text as block from spend_windows w
       where not exists (select from policies p where p.account = w.account and p.frozen) order by w.valid_from limit 1`,
    );
    await visit(`/accounts/${account}?block=${block}`);
    const resets = await texts('td[data-label="Resets"] time');
    expect(resets.length).toBeGreaterThan(0);
    for (const each of resets) expect(each).toMatch(/^[\d,]+ (s|min|h|days) later$/);
    expect(await page.locator(".past-text time").innerText()).toMatch(/ ago$/);
    await visit(`/accounts/${account}`);
    for (const each of await texts("main time")) expect(each).toMatch(/^in | ago$/);
  });

  it("keeps the time that was asked for next to the block that it led to, also on the next page", async () => {
    const at = page.getByLabel("At", { exact: true });
    const { seconds, block } = await first(
      "select timestamp::text as seconds, number::text as block from blocks order by number desc offset 20 limit 1",
    );
    const asked = formatMoment(Number(seconds));
    const shown = async () => [await at.inputValue(), await page.locator(".field .under").innerText()];
    await visit("/intents");
    expect(await at.getAttribute("placeholder")).toMatch(/^5m or \d{4}-\d{2}-\d{2}T\d{2}:\d{2}Z$/);
    await at.fill(asked);
    await page.getByRole("button", { name: "Filter" }).click();
    await page.waitForURL(/block=\d+/);
    expect(await shown()).toEqual([asked, `block ${Number(block).toLocaleString("en-US")}`]);
    await visit(`/intents?limit=2&at=${encodeURIComponent(asked)}`);
    await page.getByRole("link", { name: "Next →" }).click();
    await page.waitForURL(/cursor=/);
    expect((await shown())[0]).toBe(asked);
    await page.getByRole("link", { name: "Clear" }).click();
    await page.waitForURL(/\/intents$/);
  });

  it("keeps a page whose filter is wrong, marks the filter and says what it takes", async () => {
    const response = page.waitForResponse(/intents\?/);
    await visit("/intents?status=filled&owner=0x12");
    expect((await response).status()).toBe(400);
    const owner = page.getByLabel("Owner");
    expect([await owner.inputValue(), await owner.getAttribute("aria-invalid")]).toEqual(["0x12", "true"]);
    expect(await texts(".field .problem")).toEqual([expect.stringMatching(/^owner must be an address/i)]);
    expect(await page.getByLabel("Status").inputValue()).toBe("filled");
    expect([await texts("h1"), await page.locator("table").count()]).toEqual([["Intents"], 0]);
    await visit("/intents?at=2001-01-01");
    expect(await page.getByLabel("At", { exact: true }).getAttribute("aria-invalid")).toBe("true");
    expect(await findLayoutDefects(page)).toEqual([]);
    await page.setViewportSize({ width, height: 900 });
    await visit("/events");
    await page.getByLabel("Type").selectOption({ label: "Intent filled" });
    await page.getByRole("button", { name: "Filter" }).click();
    await page.waitForURL(/type=IntentFilled/);
    expect(new Set(await texts('td[data-label="Event"]'))).toEqual(new Set(["Intent filled"]));
  });

  it("names the records of sentences and receipts, and links tokens", async () => {
    const { id } = await first(
      "select merchant_id::text as id from receipts where valid_to is null order by receipt_id desc limit 1",
    );
    const text = `data:application/json,{"name":"${NAME}"}`;
    await stage.database.query({
      text: "update merchants set metadata_uri = $1 where merchant_id = $2",
      values: [text, String(id)],
    });
    await visit(`/receipts?merchant_id=${id}&limit=${width}`);
    for (const each of await texts('td[data-label="Merchant"]')) expect(each).toBe(`#${id} ${NAME}`);
    await visit(`/events?type=ReceiptRecorded&merchant=${id}&finality=instant`);
    const sentence = page.locator("span.sentence").first();
    expect(await sentence.innerText()).toContain(`paid merchant #${id} ${NAME}`);
    expect(await sentence.locator("bdi.foreign").innerText()).toBe(NAME);
    const token = sentence.locator('.amount a[href^="/explorer/accounts/0x"]');
    expect(await token.innerText()).toMatch(/^\w+$/);
  });

  it("leaves out on a phone what it does not show there: labels without a value, and how to read a drawing", async () => {
    const { account } = await first("select account from policies where frozen is not null limit 1");
    await visit(`/accounts/${account}`);
    const shown = (labels: string) =>
      page.locator(labels).evaluateAll((all) => all.map((each) => each.checkVisibility()));
    const empty = await shown('td[data-label="Preflight"]:has(> .cell:empty)');
    expect(empty.length).toBeGreaterThan(0);
    expect(new Set(empty)).toEqual(new Set([width > 700]));
    await visit("/analytics");
    expect(await page.getByText("rest on a band").isVisible()).toBe(width > 700);
  });

  it("leads back from the description of the API", async () => {
    await page.goto(`${stage.url}/docs`);
    await page.locator("a.brand").click();
    await page.waitForURL("**/explorer");
  });
});
