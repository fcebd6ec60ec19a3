// The explorer in a real browser: strict policy, accessible, complete without JavaScript, live.
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { EventIndex } from "../api/events/event-index.ts";
import { type ExplorerStage, findExamplePaths, openExplorerStage } from "../explorer/explorer-stage.ts";
import { startTestApi, type TestApi } from "../support/http/test-api.ts";
import { SHARED_HISTORY_MS_MAX } from "../support/index/simulated-history.ts";
import { openBrowser, openPage } from "./browser.ts";
import { findBarriers, findLayoutDefects } from "./page-checks.ts";

const WIDTHS = [390, 1_280] as const;

let browser: Browser;
let stage: ExplorerStage;
let paths: readonly string[];

beforeAll(async () => {
  [browser, stage] = await Promise.all([openBrowser(), openExplorerStage()]);
  const examples = (await findExamplePaths(stage.url)).map(({ path }) => path);
  // The longest table of bids, an earlier block too, and an error.
  const { rows } = await stage.database.query<{ id: string }>(
    "select intent_id::text as id from bids where valid_to is null group by 1 order by count(*) desc limit 1",
  );
  paths = [
    ...examples,
    `/explorer/intents/${rows[0]?.id}`,
    `/explorer?block=${stage.head - 20}`,
    "/explorer/intents/99999999",
  ];
}, SHARED_HISTORY_MS_MAX);
afterAll(async () => {
  await browser?.close();
  await stage?.close();
});

/** Opens every path in one tab. */
async function visitAll(
  options: BrowserContextOptions,
  use: (page: Page, path: string) => Promise<void>,
  prepare: (page: Page) => Promise<void> = async () => undefined,
): Promise<readonly string[]> {
  const { page, errors } = await openPage(browser, options);
  await prepare(page);
  for (const path of paths) {
    await page.goto(stage.url + path);
    await use(page, path);
  }
  await page.context().close();
  // The browser notes the status of the error page.
  return errors.filter((error) => !error.includes("status of 404"));
}

type Content = readonly [title: string, rows: number];

async function readContent(page: Page): Promise<Content> {
  return [
    await page.locator("h1").innerText(),
    await page.locator("tbody tr, dl.facts > div, .timeline li, .feed li").count(),
  ];
}

describe("every page", () => {
  const violations: string[] = [];
  const foreign: string[] = [];
  const heavy: string[] = [];
  const contents = new Map<string, Content>();
  let errors: readonly string[];

  beforeAll(async () => {
    let bytes = 0;
    const prepare = async (page: Page) => {
      page.on("request", (request) => {
        if (!request.url().startsWith(stage.url)) foreign.push(request.url());
      });
      await page.exposeFunction("reportViolation", (text: string) => violations.push(text));
      await page.addInitScript(`document.addEventListener("securitypolicyviolation", (event) =>
        window.reportViolation(event.violatedDirective + " " + event.blockedURI))`);
      const session = await page.context().newCDPSession(page);
      await session.send("Network.enable");
      await session.send("Network.setCacheDisabled", { cacheDisabled: true });
      session.on("Network.loadingFinished", ({ encodedDataLength }) => {
        bytes += encodedDataLength;
      });
    };
    const use = async (page: Page, path: string) => {
      const hasCharts = (await page.locator("svg.flow, figure.chart").count()) > 0;
      if (bytes === 0 || bytes > (hasCharts ? 60_000 : 30_000)) heavy.push(`${path} weighs ${bytes} bytes`);
      bytes = 0;
      // The modules have run: times are local, and what can be copied has its button.
      if (!path.includes("99999999")) await page.waitForSelector("input[type=range]");
      contents.set(path, await readContent(page));
    };
    errors = await visitAll({}, use, prepare);
  });

  it("breaks no rule of its policy, loads nothing foreign, and reports no error", () => {
    expect({ violations, foreign, errors }).toEqual({ violations: [], foreign: [], errors: [] });
    expect(contents.size).toBe(paths.length);
  });

  it("weighs at most 30 kB with style and modules, 60 kB with charts", () => {
    expect(heavy).toEqual([]);
  });

  it("every page is accessible in light and dark, and fits every window with nothing cut or covered", async () => {
    const found: string[] = [];
    await visitAll({ bypassCSP: true }, async (page, path) => {
      await page.evaluate(
        "for (const part of document.querySelectorAll('details:not(.menu)')) part.open = true",
      );
      found.push(...(await findLayoutDefects(page)).map((each) => `${path} at ${each}`));
      await page.evaluate("for (const part of document.querySelectorAll('details')) part.open = true");
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 900 });
        found.push(...(await findBarriers(page)).map((each) => `${path} at ${width} pixels: ${each}`));
      }
    });
    expect(found).toEqual([]);
  }, 900_000);

  it("prints without navigation and slider", async () => {
    const { page } = await openPage(browser);
    onTestFinished(() => page.context().close());
    await page.emulateMedia({ media: "print" });
    for (const path of [paths[0] ?? "", `/explorer?block=${stage.head - 20}`]) {
      await page.goto(stage.url + path);
      for (const hidden of ["nav.menus", "form[data-slider]", "form[role=search]"])
        expect(await page.locator(hidden).filter({ visible: true }).count(), hidden).toBe(0);
    }
    expect(await page.getByRole("status").isVisible()).toBe(true);
  });

  it("every page is complete without JavaScript", async () => {
    await visitAll({ javaScriptEnabled: false }, async (page, path) => {
      expect(await readContent(page), path).toEqual(contents.get(path));
      expect(await page.locator("time").filter({ hasNotText: "UTC" }).count(), path).toBe(0);
    });
  });
});

describe("without JavaScript", () => {
  it("search, filters, the block and the way back work by forms and links", async () => {
    const { page } = await openPage(browser, { javaScriptEnabled: false });
    onTestFinished(() => page.context().close());
    await page.goto(`${stage.url}/explorer/intents`);
    await page.getByLabel("Status").selectOption("filled");
    await page.getByRole("button", { name: "Filter" }).click();
    // A plain form sends empty fields, too.
    expect(page.url()).toBe(`${stage.url}/explorer/intents?status=filled&owner=&pair=&solver=&at=`);
    expect(new Set(await page.locator("tbody .badge").allInnerTexts())).toEqual(new Set(["Filled"]));
    await page.getByLabel("Block", { exact: true }).fill(String(stage.head - 5));
    await page.getByRole("button", { name: "Go" }).click();
    expect(page.url()).toBe(`${stage.url}/explorer/intents?status=filled&block=${stage.head - 5}`);
    expect(await page.getByRole("status").innerText()).toContain(`As of block ${stage.head - 5}`);
    await page.getByLabel("Search by id").fill("intent 2");
    await page.getByRole("button", { name: "Search" }).click();
    expect(page.url()).toBe(`${stage.url}/explorer/intents/2?block=${stage.head - 5}`);
    await page.getByRole("link", { name: "back to live" }).click();
    expect(page.url()).toBe(`${stage.url}/explorer/intents/2`);
  });
});

describe("the navigation", () => {
  it("has its menus in one line on a phone", async () => {
    const { page } = await openPage(browser, { viewport: { width: 360, height: 800 } });
    onTestFinished(() => page.context().close());
    await page.goto(`${stage.url}/explorer/intents`);
    const menus = await page.locator(".menus > ul > li").all();
    const tops = await Promise.all(menus.map(async (menu) => (await menu.boundingBox())?.y));
    expect(tops.length).toBeGreaterThan(5);
    expect(new Set(tops).size).toBe(1);
  });

  it("opens one menu at a time without JavaScript, by keyboard", async () => {
    const { page } = await openPage(browser, { javaScriptEnabled: false });
    onTestFinished(() => page.context().close());
    await page.goto(`${stage.url}/explorer/intents`);
    const open = page.locator(".menu[open]");
    await page.locator(".menu summary").first().press("Enter");
    expect(await open.count()).toBe(1);
    await page.locator(".menu summary").nth(1).press("Enter");
    expect(await open.count()).toBe(1);
    await page.locator(".menu summary").first().click();
    await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Solvers" }).click();
    expect(page.url()).toBe(`${stage.url}/explorer/solvers`);
  });

  it("closes its menus by Escape and gives the focus back", async () => {
    const { page } = await openPage(browser);
    onTestFinished(() => page.context().close());
    await page.goto(`${stage.url}/explorer/intents`);
    await page.waitForSelector("input[type=range]");
    const summary = page.locator(".menu summary").first();
    await summary.press("Enter");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Escape");
    expect(await page.locator(".menu[open]").count()).toBe(0);
    expect(await summary.evaluate((element) => element.matches(":focus"))).toBe(true);
  });
});

describe("with JavaScript", () => {
  it("times are distances from now with the local time and UTC in the title, and addresses can be copied whole", async () => {
    const { page } = await openPage(browser, {
      timezoneId: "Asia/Tokyo",
      permissions: ["clipboard-read", "clipboard-write"],
    });
    onTestFinished(() => page.context().close());
    await page.goto(`${stage.url}/explorer/intents`);
    const time = page.locator("tbody time").first();
    const [iso = "", title = ""] = [await time.getAttribute("datetime"), await time.getAttribute("title")];
    const format = new Intl.DateTimeFormat("en-US", {
      dateStyle: "medium",
      timeStyle: "medium",
      timeZone: "Asia/Tokyo",
    });
    const local = format.format(new Date(iso ?? ""));
    expect(title?.replace(/\s/g, " ")).toBe(
      `${local} · ${iso?.slice(0, 19).replace("T", " ")} UTC`.replace(/\s/g, " "),
    );
    expect(await time.innerText()).toMatch(/^(in )?[0-9,]+ (s|min|h|days|months|years)( ago)?$/);
    await page.locator("tbody .copy").first().click();
    const copied = await page.evaluate("navigator.clipboard.readText()");
    expect(copied).toBe(await page.locator("tbody [data-copy]").first().getAttribute("data-copy"));
  });

  it("the slider shows another block", async () => {
    const { page } = await openPage(browser);
    onTestFinished(() => page.context().close());
    await page.goto(`${stage.url}/explorer/intents`);
    await page.locator("input[type=range]").fill(String(stage.head - 7));
    await page.waitForURL(`**/explorer/intents?block=${stage.head - 7}`);
  });
});

describe("while blocks come and go", () => {
  let index: EventIndex;
  let api: TestApi;

  beforeAll(async () => {
    index = await EventIndex.open();
    await index.extend([1, 1, 1], 50);
    api = await startTestApi(index.database);
  });
  afterAll(async () => {
    await api?.close();
    await index?.drop();
  });

  const newest = () => index.events().findLast(({ type }) => type === "IntentSubmitted")?.intent ?? "";

  it("the live feed shows a new intent without a reload, and takes back what a reorg undid", async () => {
    const { page, errors } = await openPage(browser);
    await page.goto(`${api.url}/explorer`);
    const feed = page.locator("[data-feed]");
    await page.getByText("Live", { exact: true }).waitFor();
    // A block of three has at least one intent that is submitted.
    await index.extend([3], 50);
    const added = newest();
    await feed.getByText(`Intent #${added} submitted`).waitFor();
    await index.rollback(1);
    await index.extend([3], 50);
    await feed.getByText(`Intent #${newest()} submitted`).waitFor();
    expect(await feed.getByText(`Intent #${added} submitted`).count()).toBe(0);
    await page.context().close();
    expect(errors).toEqual([]);
  });

  it("an intent is shown, gone after a reorg, and absent before its block", async () => {
    await index.extend([3], 50);
    const intent = newest();
    const { page } = await openPage(browser);
    onTestFinished(() => page.context().close());
    const title = async (query = "") => {
      await page.goto(`${api.url}/explorer/intents/${intent}${query}`);
      return page.locator("h1").innerText();
    };
    await expect.poll(() => title()).toBe(`Intent #${intent}`);
    expect(await title(`?block=${index.head}`)).toBe(`Intent #${intent}`);
    expect(await title(`?block=${index.head - 1}`)).toBe("Nothing is here");
    await index.rollback(1);
    await expect.poll(() => title()).toBe("Nothing is here");
  });
});
