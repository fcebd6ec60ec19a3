// The preflight form in a real browser, with and without JavaScript: both verdicts, errors at their field, and copying.
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ExplorerStage, openExplorerStage } from "../explorer/explorer-stage.ts";
import { SHARED_HISTORY_MS_MAX } from "../support/index/simulated-history.ts";
import { openBrowser, openPage } from "./browser.ts";
import { findBarriers } from "./page-checks.ts";

let browser: Browser;
let stage: ExplorerStage;
let account: string;
let target: string;
const OUTSIDER = `0x${"ab".repeat(20)}`;

beforeAll(async () => {
  [browser, stage] = await Promise.all([openBrowser(), openExplorerStage()]);
  const { rows } = await stage.database.query<{ account: string; target: string }>(
    `select p.account, p.target from policies p where p.valid_to is null and p.policy_type = 'TARGET_ALLOWLIST' and p.allowed
     and not exists (select from policies f where f.account = p.account and f.policy_type = 'ACCOUNT_FROZEN' and f.frozen and f.valid_to is null)`,
  );
  account = rows[0]?.account ?? "";
  target = rows[0]?.target ?? "";
}, SHARED_HISTORY_MS_MAX);
afterAll(async () => {
  await browser?.close();
  await stage?.close();
});

async function check(page: Page, fields: Readonly<Record<string, string>>): Promise<string> {
  for (const [label, value] of Object.entries(fields))
    await page.getByLabel(label, { exact: true }).fill(value);
  await Promise.all([page.waitForEvent("load"), page.getByRole("button", { name: "Check" }).click()]);
  return page.locator("main").innerText();
}

describe.each([
  { javaScriptEnabled: true, width: 1_280 },
  { javaScriptEnabled: false, width: 390 },
])("preflight with JavaScript: $javaScriptEnabled, at $width pixels", ({ javaScriptEnabled, width }) => {
  it("leads from the account to either verdict, and to the call that fixes it", async () => {
    const { page, errors } = await openPage(browser, {
      javaScriptEnabled,
      viewport: { width, height: 900 },
    });
    await page.goto(`${stage.url}/explorer/accounts/${account}`);
    const allowed = await check(page, { Target: target });
    expect(allowed).toMatch(/Allowed/);
    expect(allowed).not.toContain("cast send");
    const rejected = await check(page, { Target: OUTSIDER, "Value in wei": "5", "Call data": "0x12345678" });
    expect(rejected).toContain("Not allowed");
    expect(rejected).toContain("is not allowed for this account");
    expect(rejected).toContain(`--from ${account}`);
    // The entered values stay, so that they can be changed.
    expect(await page.getByLabel("Target", { exact: true }).inputValue()).toBe(OUTSIDER);
    if (javaScriptEnabled) await page.locator("#fix .copy").first().waitFor();
    expect(errors).toEqual([]);
    await page.context().close();
  });

  it("says at the field what is wrong, for a screen reader too", async () => {
    const { page } = await openPage(browser, { javaScriptEnabled, viewport: { width, height: 900 } });
    await page.goto(`${stage.url}/explorer/accounts/${account}/preflight`);
    await check(page, { Target: "0x12" });
    const field = page.getByLabel("Target", { exact: true });
    expect(await field.getAttribute("aria-invalid")).toBe("true");
    const [id] = ((await field.getAttribute("aria-describedby")) ?? "").split(" ");
    expect(await page.locator(`#${id}`).innerText()).toContain("Target must be an address");
    await page.context().close();
  });
});

it("the form with an error is accessible in light and dark", async () => {
  const { page } = await openPage(browser, { viewport: { width: 390, height: 900 } });
  await page.goto(`${stage.url}/explorer/accounts/${account}/preflight?target=0x12`);
  expect(await findBarriers(page)).toEqual([]);
  await page.context().close();
});
