// Pages of a deployment below a path: everything that they link to or show for copying stays below it.
import { afterAll, beforeAll, expect, it } from "vitest";
import { SHARED_HISTORY_MS_MAX } from "../support/index/simulated-history.ts";
import { type DeploymentsStage, openDeploymentsStage } from "./deployments-stage.ts";
import { findExamplePaths } from "./explorer-stage.ts";

let stage: DeploymentsStage;
beforeAll(async () => {
  stage = await openDeploymentsStage();
}, SHARED_HISTORY_MS_MAX);
afterAll(() => stage?.close());

const read = async (path: string) => {
  const response = await fetch(stage.origin + path, { redirect: "manual" });
  return { response, text: await response.text() };
};

// Files that are the same for all, and the menu that leads to the first one.
const ELSEWHERE = [/^\/explorer\/assets\//, /^\/favicon\.svg$/, /^\/explorer$/];

/** What leads out of the deployment, of links, forms, sources and commands to copy. */
function findEscapes(text: string): readonly string[] {
  const { origin, base } = stage;
  const attributes = [...text.matchAll(/ (?:href|action|src|content|data-[a-z-]+)="([^"]*)"/g)];
  const values = attributes.map(([, value = ""]) => value.replaceAll("&#39;", "'"));
  const urls = values.flatMap((value) => [
    ...(value.startsWith("/") ? [value] : []),
    ...[...value.matchAll(/https?:\/\/[^\s'"]+/g)]
      .map(([url]) => url)
      .filter((url) => url.startsWith(origin))
      .map((url) => url.slice(origin.length)),
  ]);
  const isInside = (url: string) => url === base || url.startsWith(`${base}/`);
  return urls.filter((url) => !isInside(url) && !ELSEWHERE.some((known) => known.test(url)));
}

it("every page leads to its own deployment only", async () => {
  const examples = await findExamplePaths(stage.origin + stage.base);
  const escaped: string[] = [];
  const paths = [...examples.map(({ path }) => path), "/explorer/intents/99999999", "/explorer/nowhere"];
  for (const path of paths) {
    const { text } = await read(stage.base + path);
    expect(text).toContain("optimism-sepolia-staging");
    escaped.push(...findEscapes(text).map((url) => `${path} ${url}`));
  }
  expect(escaped).toEqual([]);
});

it("commands to copy and titles name the deployment", async () => {
  const { text } = await read(`${stage.base}/explorer/intents`);
  expect(text).toMatch(
    new RegExp(
      `data-copy="curl &#39;${stage.origin}${stage.base}/intents|data-copy="curl '${stage.origin}${stage.base}/intents`,
    ),
  );
  expect(text).toContain("<title>Intents · optimism-sepolia-staging · Sextant</title>");
});

it("the front page leads people to the explorer below the path", async () => {
  const front = await fetch(`${stage.origin}${stage.base}/`, {
    redirect: "manual",
    headers: { accept: "text/html" },
  });
  expect(front.headers.get("location")).toBe(`${stage.base}/explorer`);
});
