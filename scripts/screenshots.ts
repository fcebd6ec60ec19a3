// `npm run screenshots`: starts a local run with seed 1, and writes pictures of eight pages into docs/images.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { EXPLORER_PATH } from "../src/explorer/context.ts";
import { pages } from "../src/explorer/pages.ts";
import { openBrowser } from "../tests/browser/browser.ts";

const FOLDER = "docs/images";
const BYTES_MAX = 120_000;
const VIEWPORT = { width: 1_280, height: 900 };
// 800 pixels wide: what a document shows.
const SCALE = 0.625;
// Enough payments and fills for charts and lists; the simulator makes them within a minute.
const RECEIPTS_WANTED = 40;
const START_MS_MAX = 180_000;
const TRAFFIC_MS_MAX = 120_000;

/** The pictures, by name, and the pages that they show. */
const PICTURES: Readonly<Record<string, string>> = {
  home: "",
  intent: "/intents/:id",
  account: "/accounts/:id",
  preflight: "/accounts/:id/preflight",
  merchant: "/merchants/:id",
  analytics: "/analytics",
  integrity: "/integrity",
  transaction: "/transactions/:id",
};

/** The part of a page that its picture begins with, if the first screen does not show what is special. */
const BEGINNINGS: Readonly<Record<string, string>> = { analytics: "#money-flow" };

const data = mkdtempSync(join(tmpdir(), "sextant-screenshots-"));
const run = spawn(process.execPath, ["bin/sextant.mjs", "local", "--seed", "1"], {
  env: { ...process.env, SEXTANT_DATA: data, API_PORT: "0", PORTFOLIO_PORT: "0", FACILITATOR_PORT: "0" },
  stdio: ["ignore", "ignore", "inherit"],
});

try {
  const url = await findApi(run);
  await waitForTraffic(url);
  await takePictures(url);
} finally {
  run.kill("SIGTERM");
  if (run.exitCode === null) await new Promise((resolve) => run.once("exit", resolve));
  rmSync(data, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
}

async function findApi(child: ChildProcess): Promise<string> {
  const file = join(data, "local.json");
  for (const start = Date.now(); Date.now() - start < START_MS_MAX; await delay(250)) {
    if (child.exitCode !== null) throw new Error("the local run has ended");
    if (existsSync(file)) return (JSON.parse(readFileSync(file, "utf8")) as { api: string }).api;
  }
  throw new Error("the local run did not start in time");
}

async function waitForTraffic(url: string): Promise<void> {
  for (const start = Date.now(); Date.now() - start < TRAFFIC_MS_MAX; await delay(1_000)) {
    const response = await fetch(`${url}/totals`);
    if (!response.ok) continue;
    const { totals } = (await response.json()) as { totals: { receipts: string } };
    if (Number(totals.receipts) >= RECEIPTS_WANTED) return;
  }
  // A slow machine gets pictures with less on them.
}

async function findPath(url: string, pattern: string): Promise<string> {
  const page = pages.find(({ path }) => path === pattern);
  if (!page) throw new Error(`there is no page ${pattern}`);
  const { params = {}, query = {} } = await page.findExample(async (target) =>
    (await fetch(url + target)).json(),
  );
  const path = pattern.replace(/:(\w+)/g, (_match, name: string) => encodeURIComponent(params[name] ?? ""));
  const text = new URLSearchParams(query).toString();
  return `${EXPLORER_PATH}${path}${text && `?${text}`}`;
}

async function takePictures(url: string): Promise<void> {
  mkdirSync(FOLDER, { recursive: true });
  const browser = await openBrowser();
  try {
    const context = await browser.newContext({
      viewport: VIEWPORT,
      deviceScaleFactor: SCALE,
      colorScheme: "light",
      locale: "en-US",
      timezoneId: "UTC",
    });
    const tab = await context.newPage();
    for (const [name, pattern] of Object.entries(PICTURES)) {
      const response = await tab.goto(url + (await findPath(url, pattern)));
      if (response?.status() !== 200) throw new Error(`${pattern} is ${response?.status()}`);
      await tab.waitForSelector("input[type=range]");
      const beginning = BEGINNINGS[name];
      if (beginning !== undefined)
        await tab.locator(beginning).evaluate((part) => part.scrollIntoView({ block: "start" }));
      const file = `${FOLDER}/explorer-${name}.png`;
      await tab.screenshot({ path: file });
      const { size } = statSync(file);
      if (size > BYTES_MAX) throw new Error(`${file} has ${size} bytes, more than ${BYTES_MAX}`);
      process.stdout.write(`${file} ${Math.round(size / 1_000)} kB\n`);
    }
  } finally {
    await browser.close();
  }
}
