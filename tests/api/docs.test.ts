// docs/api.md shows every route with valid requests and responses.
import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findStaleApiSections } from "../../scripts/api-examples/sections.ts";
import {
  type ApiClient,
  createResponseChecker,
  findOperation,
  openApiClient,
} from "../support/http/api-client.ts";
import { operationsOf } from "../support/http/hostile-requests.ts";
import { startTestApi, type TestApi } from "../support/http/test-api.ts";
import { type EmptyIndex, openEmptyIndex } from "../support/index/empty-index.ts";

let index: EmptyIndex;
let api: TestApi;
let client: ApiClient;

beforeAll(async () => {
  index = await openEmptyIndex();
  api = await startTestApi(index.database);
  client = await openApiClient(api.url);
});

afterAll(async () => {
  await api?.close();
  await index?.drop();
});

const sections = readFileSync("docs/api.md", "utf8")
  .split(/^### /m)
  .slice(1)
  .map((text) => ({ title: text.slice(0, text.indexOf("\n")), text }));

// Shown in part, as plain text.
const PARTIAL = ["GET /metrics", "GET /openapi.json", "GET /docs", "GET /llms.txt"];

/** What is between a line of ```json and one of ```. */
function jsonIn(text: string): string {
  return text.split("\n```json\n")[1]?.split("\n```")[0] ?? "";
}

describe("/llms.txt", () => {
  it("follows llmstxt.org and links every operation to its place on the page", async () => {
    const text = await (await fetch(`${api.url}/llms.txt`)).text();
    const page = await (await fetch(`${api.url}/docs`)).text();
    const lines = text.split("\n");
    expect(lines[0]).toBe("# Sextant indexing API");
    expect(lines[2]).toMatch(/^> \S/);
    const links = lines.flatMap((line) => [...line.matchAll(/^- \[([^\]]+)\]\(([^)]+)\): \S.*\.$/g)]);
    expect(links.length).toBe(lines.filter((line) => line.startsWith("- ")).length);
    const operations = links.filter(([, , target = ""]) => target.startsWith("/docs#"));
    expect(operations.map(([, title]) => title?.replace(/:(\w+)/g, "{$1}")).sort()).toEqual(
      operationsOf(client.document)
        .map(({ method, path }) => `${method.toUpperCase()} ${path}`)
        .sort(),
    );
    for (const [, , target = ""] of operations) expect(page).toContain(`id="${target.split("#")[1]}"`);
  });
});

it.each([
  ["/robots.txt", "text/plain; charset=utf-8"],
  ["/favicon.svg", "image/svg+xml; charset=utf-8"],
  ["/favicon.ico", "image/x-icon"],
])("%s is there for clients that look for it", async (path, type) => {
  const response = await fetch(api.url + path);
  expect([response.status, response.headers.get("content-type")]).toEqual([200, type]);
  expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(30);
});

describe("docs/api.md (written by npm run docs:api)", () => {
  it("has an example of every route", () => {
    const described = operationsOf(client.document).map(
      ({ method, path }) => `${method.toUpperCase()} ${path}`,
    );
    expect(sections.map(({ title }) => title).sort()).toEqual(described.sort());
  });

  it("shows the summary and the parameters of every route; otherwise run `npm run docs:api`", () => {
    expect(findStaleApiSections(client.document, readFileSync("docs/api.md", "utf8"))).toEqual([]);
  });

  it("shows valid requests and responses", () => {
    const check = createResponseChecker(client.document);
    const ajv = new Ajv2020({ strict: false }).addSchema(client.document, "api");
    for (const { title, text } of sections.filter((each) => !PARTIAL.includes(each.title))) {
      const [method = "", path = ""] = title.split(" ");
      const target = /^curl .*'http:\/\/127\.0\.0\.1:3001([^']*)'/m.exec(text)?.[1] ?? "";
      const found = findOperation(client.document, method, target);
      expect(found?.path).toBe(path);
      const headers = new Headers({
        "content-type": "application/json",
        "x-content-type-options": "nosniff",
      });
      const status = Number(/^`(\d{3})`$/m.exec(text)?.[1]);
      // The page shows none.
      const described = found?.operation.responses[status];
      const names = described && "headers" in described ? Object.keys(described.headers) : [];
      for (const name of names) headers.set(name, "1");
      const json = jsonIn(text);
      check(method, target, { status, headers, text: json, body: JSON.parse(json) });
      const sent = /^ {2}-d '(.*)'$/m.exec(text)?.[1];
      expect(sent === undefined).toBe(found?.operation.requestBody === undefined);
      if (sent === undefined) continue;
      const encodedPath = encodeURIComponent(path.replaceAll("/", "~1"));
      const pointer = `api#/paths/${encodedPath}/${method.toLowerCase()}/requestBody/content/application~1json/schema`;
      expect(ajv.compile({ $ref: pointer })(JSON.parse(sent)), title).toBe(true);
    }
  });
});
