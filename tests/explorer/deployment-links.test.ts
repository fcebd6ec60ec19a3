// Pages and documents of a deployment below a path: what they link to or show for copying is there, and below it.
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

/** The links, forms, sources and commands to copy that lead out of the deployment. */
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

it("the description lists only routes that are there", async () => {
  type Operation = { readonly parameters?: readonly { readonly required?: boolean }[] };
  const { text } = await read(`${stage.base}/openapi.json`);
  const { servers, paths } = JSON.parse(text) as {
    readonly servers: readonly { readonly url: string }[];
    readonly paths: Readonly<Record<string, { readonly get?: Operation }>>;
  };
  expect(servers).toEqual([{ url: stage.base }]);
  const isPlain = ({ parameters = [] }: Operation) => parameters.every(({ required }) => required !== true);
  const plain = Object.entries(paths).filter(([, { get }]) => get !== undefined && isPlain(get));
  expect(plain.length).toBeGreaterThan(20);
  const missing: string[] = [];
  for (const [path] of plain) {
    const response = await fetch(stage.origin + stage.base + path, { redirect: "manual" });
    // The headers of a stream are enough.
    await response.body?.cancel();
    if (response.status === 404) missing.push(path);
  }
  expect(missing).toEqual([]);
});

it("documents for people and models stay below the path", async () => {
  const docs = await read(`${stage.base}/docs`);
  expect(docs.response.status).toBe(200);
  expect(docs.text.match(/data-path="\/(metrics|health)"/g)).toBeNull();
  // Templates of paths, which the page appends to the URL of the server.
  expect(findEscapes(docs.text.replaceAll(/ data-path="[^"]*"/g, ""))).toEqual([]);
  const llms = await read(`${stage.base}/llms.txt`);
  const links = [...llms.text.matchAll(/\]\(([^)]*)\)/g)].map(([, link = ""]) => link);
  expect(links.length).toBeGreaterThan(20);
  expect(links.filter((link) => !link.startsWith(`${stage.base}/`))).toEqual([]);
  expect(llms.text).not.toMatch(/GET \/(metrics|health)/);
});
