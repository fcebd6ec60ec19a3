// Tools of other projects read our OpenAPI documents: prism in front of the service, and two generators.
// Their packages are large. In main, src/portfolio/http/routes.test.ts fails too: "asks for a payment that may come
// later, in a header that every tool can send".
import { writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildServiceDocuments } from "../../scripts/openapi-lint/documents.ts";
import type { OpenApiDocument } from "../../src/http/openapi/document.ts";
import { encodeX402Header } from "../../src/payments/paywall/offer.ts";
import { PAID_ROUTES } from "../../src/portfolio/http/routes/paid-routes.ts";
import { startTestPortfolioWeb, type TestPortfolioWeb } from "../support/http/test-portfolio-web.ts";
import { createTestFolder } from "../support/test-folder.ts";

// The packages of this folder, which a checkout without the suite lacks: their types are named here, as far as they are used.
const require = createRequire(import.meta.url);
const load = async (name: string) => import(pathToFileURL(require.resolve(name)).href);

type Prism = { listen(port: number, host: string): Promise<string>; close(): Promise<void> };

/** Rejects with 422 what the document does not allow, as a request or as a response. */
async function startPrism(document: OpenApiDocument, upstream: string): Promise<Prism & { url: string }> {
  const { createServer } = require("@stoplight/prism-http-server");
  const { getHttpOperationsFromSpec } = require("@stoplight/prism-http");
  const logger: unknown = new Proxy({}, { get: (_, key) => (key === "child" ? () => logger : () => {}) });
  const server: Prism = createServer(await getHttpOperationsFromSpec(document), {
    components: { logger },
    cors: false,
    config: {
      ...{ isProxy: true, upstream: new URL(upstream), upstreamProxy: undefined, mock: false },
      ...{ validateRequest: true, validateResponse: true, checkSecurity: true, errors: true },
    },
  });
  const url = await server.listen(0, "127.0.0.1");
  return { ...server, url };
}

const WALLET = "0xd8da6bf26964af9d7eed9e03e53415d37aa96045";
const documents = Object.entries(buildServiceDocuments());

describe("prism in front of the portfolio service", () => {
  let web: TestPortfolioWeb;
  let prism: Awaited<ReturnType<typeof startPrism>>;
  beforeAll(async () => {
    web = await startTestPortfolioWeb({ declarations: PAID_ROUTES });
    const document = (await (await fetch(`${web.url}/openapi.json`)).json()) as OpenApiDocument;
    prism = await startPrism(document, web.url);
  });
  afterAll(async () => {
    await prism?.close();
    await web?.close();
  });

  it.each([
    [`/portfolio?address=${WALLET}`, {}, 402],
    [`/portfolio?address=${WALLET}`, { "payment-signature": encodeX402Header({ any: "payment" }) }, 200],
    [`/exposure?address=${WALLET}`, {}, 402],
    [`/portfolio/diff?address=${WALLET}&from=base:1`, {}, 402],
    // Prism itself follows the redirect to the address.
    ["/portfolio?address=alice.eth", {}, 402],
    ["/health", {}, 200],
    // Prism rejects what the document forbids, which shows that it validated the other requests.
    ["/portfolio?address=0x12", {}, 422],
  ] as const)("%s with %o has the status %i", async (path, headers, status) => {
    const response = await fetch(prism.url + path, { headers });
    expect([response.status, await response.text()]).toEqual([status, expect.anything()]);
  });
});

describe.each(documents)("generators read the document of the %s", (name, document) => {
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
  const ts = require("typescript") as typeof import("typescript");
  const findSyntaxErrors = (source: string) =>
    ts
      .transpileModule(source, { reportDiagnostics: true })
      .diagnostics?.map(({ messageText }) => messageText);

  it("openapi-typescript writes a type of every operation", async () => {
    const { default: openapiTS, astToString } = await load("openapi-typescript");
    const source: string = astToString(await openapiTS(structuredClone(document), { silent: true }));
    expect(findSyntaxErrors(source)).toEqual([]);
    const missing = operations.filter(({ operationId }) => !source.includes(`operations["${operationId}"]`));
    expect([name, missing]).toEqual([name, []]);
  });

  it("oazapfts writes a function of every operation", async () => {
    const { generateSource } = await load("oazapfts");
    const path = join(await createTestFolder(), "openapi.json");
    await writeFile(path, JSON.stringify(document));
    const source: string = await generateSource(path);
    expect(findSyntaxErrors(source)).toEqual([]);
    const missing = operations.filter(({ operationId }) => !source.includes(`function ${operationId}(`));
    expect([name, missing.map(({ operationId }) => operationId)]).toEqual([name, []]);
  });
});
