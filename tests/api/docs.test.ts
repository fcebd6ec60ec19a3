// Descriptions of the API for people and programs are true: docs/api.md, /llms.txt, /docs and the code that it shows.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findStaleApiSections } from "../../scripts/api-examples/sections.ts";
import { buildServiceDocuments } from "../../scripts/openapi-lint/documents.ts";
import { renderDocsPage } from "../../src/http/openapi/docs-page.ts";
import type { OpenApiDocument } from "../../src/http/openapi/document.ts";
import { type ApiClient, findOperation, openApiClient } from "../support/http/api-client.ts";
import { operationsOf } from "../support/http/hostile-requests.ts";
import { startTestApi, type TestApi } from "../support/http/test-api.ts";
import { type EmptyIndex, openEmptyIndex } from "../support/index/empty-index.ts";
import { findTypeErrors } from "../support/process/type-check.ts";

let index: EmptyIndex;
let api: TestApi;
let client: ApiClient;
let ajv: Ajv2020 | undefined;

beforeAll(async () => {
  index = await openEmptyIndex();
  api = await startTestApi(index.database);
  client = await openApiClient(api.url);
});

afterAll(async () => {
  await api?.close();
  await index?.drop();
});

const API_PAGE = readFileSync("docs/api.md", "utf8");

/** The requests that the page shows, each below a comment with its route. */
const shownRequests = [...API_PAGE.matchAll(/^# ([A-Z]+) (\/\S*): .*\n((?:curl| {2}-).*\n)+/gm)].map(
  ([text, method = "", path = ""]) => ({
    method,
    path,
    target: /^curl .*'http:\/\/127\.0\.0\.1:3001([^']*)'/m.exec(text)?.[1] ?? "",
    sent: /^ {2}-d '(.*)'$/m.exec(text)?.[1],
  }),
);

describe("/llms.txt", () => {
  it("follows llmstxt.org and links every operation to its position on the page", async () => {
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

describe("/docs", () => {
  it("serves a /docs page below 68 kB, compressed", () => {
    for (const document of Object.values(buildServiceDocuments())) {
      expect(gzipSync(renderDocsPage(document).html).length).toBeLessThan(68_000);
    }
  });

  it("shows calls that the client's types accept", () => {
    const calls = Object.values(buildServiceDocuments()).flatMap(clientCallsIn);
    expect(calls.length).toBeGreaterThan(80);
    // The folder is inside the repository, so that packages are found.
    mkdirSync("node_modules/.cache", { recursive: true });
    const folder = mkdtempSync(join("node_modules/.cache", "calls-"));
    try {
      for (const [number, source] of calls.entries())
        writeFileSync(join(folder, `call-${number}.ts`), source);
      const paths = {
        "@sextant-index/client": [resolve("packages/client/sextant.ts")],
        "@sextant-index/client/file-journal": [resolve("packages/client/journal/file-journal.ts")],
      };
      const compilerOptions = { paths, incremental: false, tsBuildInfoFile: null };
      const config = { extends: resolve("tsconfig.json"), compilerOptions, include: ["*.ts"], exclude: [] };
      writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
      expect(findTypeErrors(folder)).toBeNull();
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

/** The code in TypeScript of every operation that the client offers. */
function clientCallsIn(document: OpenApiDocument): readonly string[] {
  return operationsOf(document).flatMap(({ operation }) => {
    // With signed writes this route only responds 404, and takes no body.
    if (operation.operationId === "createOffchainBid" && !operation.requestBody) return [];
    const samples = operation["x-codeSamples"] as readonly {
      readonly lang: string;
      readonly source: string;
    }[];
    return samples.filter(({ lang }) => lang === "TypeScript").map(({ source }) => source);
  });
}

it.each([
  ["/robots.txt", "text/plain; charset=utf-8"],
  ["/favicon.svg", "image/svg+xml; charset=utf-8"],
  ["/favicon.ico", "image/x-icon"],
])("serves %s to clients that look for it", async (path, type) => {
  const response = await fetch(api.url + path);
  expect([response.status, response.headers.get("content-type")]).toEqual([200, type]);
  expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(30);
});

describe("docs/api.md (written by npm run docs:api)", () => {
  it("has an example of every route", () => {
    const described = operationsOf(client.document).map(
      ({ method, path }) => `${method.toUpperCase()} ${path}`,
    );
    expect(shownRequests.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(described.sort());
  });

  it("shows the summary and the parameters of every route; otherwise run `npm run docs:api`", () => {
    expect(findStaleApiSections(client.document, API_PAGE)).toEqual([]);
  });

  it("shows valid requests", () => {
    for (const { method, path, target, sent } of shownRequests) {
      const found = findOperation(client.document, method, target);
      expect(found?.path).toBe(path);
      expect(sent === undefined).toBe(found?.operation.requestBody === undefined);
      if (sent === undefined) continue;
      const validate = compileSchema(
        `${pointerTo(path, method)}/requestBody/content/application~1json/schema`,
      );
      expect(validate(JSON.parse(sent)), `${method} ${path}`).toBe(true);
    }
  });
});

it("has valid example responses in /openapi.json; otherwise run `npm run docs:api`", () => {
  let checked = 0;
  for (const { method, path, operation } of operationsOf(client.document)) {
    for (const [status, response] of Object.entries(operation.responses)) {
      const json = "content" in response ? response.content?.["application/json"] : undefined;
      if (json?.example === undefined) continue;
      const content = `${pointerTo(path, method)}/responses/${status}/content/application~1json/schema`;
      expect(compileSchema(content)(json.example), `${method} ${path} ${status}`).toBe(true);
      checked += 1;
    }
  }
  expect(checked).toBeGreaterThan(50);
});

function pointerTo(path: string, method: string): string {
  return `api#/paths/${encodeURIComponent(path.replaceAll("/", "~1"))}/${method.toLowerCase()}`;
}

/** Compiles against the whole document, so that references are found. */
function compileSchema(pointer: string) {
  ajv ??= new Ajv2020({ strict: false, validateFormats: false }).addSchema(client.document, "api");
  return ajv.compile({ $ref: pointer });
}
