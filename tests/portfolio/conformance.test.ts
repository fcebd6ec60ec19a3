// The portfolio service conforms to its specification, table by table, and to its own /openapi.json.
import { readFileSync } from "node:fs";
import type { PrivateKeyAccount } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CLIENT_TYPES, SERVED_TYPES } from "../../scripts/example-docs/example-files.ts";
import { siteFiles } from "../../src/http/icon.ts";
import type { OpenApiDocument } from "../../src/http/openapi/document.ts";
import { renderSnapshotTypes } from "../../src/portfolio/http/documents.ts";
import { PAID_ROUTES } from "../../src/portfolio/http/routes/paid-routes.ts";
import type { JsonSchema } from "../../src/schema/json-schema.ts";
import { readSpecification, tableRowsOf } from "../api/specification.ts";
import { type ApiClient, type ApiResponse, openApiClient } from "../support/http/api-client.ts";
import { type DescribedSchemas, describedSchemas } from "../support/http/described-schemas.ts";
import { decodeBase64Header, fetchWithPayment, signPaymentFor } from "../support/payments/paid-client.ts";
import { TEST_PRICE } from "../support/payments/paid-stage.ts";
import { openServiceStage, type PortfolioService, type ServiceStage } from "./service-stage.ts";
import { readSpecifiedRecords } from "./specified-records.ts";

const specification = readSpecification("docs/specification/portfolio-service.md");
const { expectRecord, expectValue } = readSpecifiedRecords(specification);
const PARAMETERS = specification.section("GET /portfolio query parameters");
const WALLET = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

let stage: ServiceStage;
let service: PortfolioService;
let client: ApiClient;
let document: OpenApiDocument;
let schemas: DescribedSchemas;
let customer: PrivateKeyAccount;

beforeAll(async () => {
  stage = await openServiceStage();
  service = await stage.serve();
  customer = await stage.paid.payer();
  client = await openApiClient(service.url);
  document = client.document;
  schemas = describedSchemas(document);
});

afterAll(async () => {
  await stage?.close();
});

async function signature(target: string): Promise<Record<string, string>> {
  const { header } = await signPaymentFor(`${service.url}${target}`, customer, stage.paid.asset);
  return { "payment-signature": header };
}

/** Buys a snapshot. */
async function buySnapshot(query: string): Promise<ApiResponse> {
  const target = `/portfolio?${query}`;
  const response = await client.call(target, { headers: await signature(target) });
  expect([response.status, response.text]).toEqual([200, expect.anything()]);
  return response;
}

// Fields beyond the specification, which clients may ignore: the price source, the spam mark, who sent a transaction and what it moved.
const ADDITIONS = {
  PortfolioSnapshot: ["accounts", "health", "gas", "name", "blocks"],
  PortfolioSummary: ["unlistedValueUsd"],
  PortfolioToken: ["priceSource", "priceContract", "priceTimestamp", "spam"],
  RecentActivity: ["sender", "lookalike", "transfer"],
};

// Present only if the service compares with a second source, or the request leaves holdings out.
const OPTIONAL_ADDITIONS = {
  PortfolioSnapshot: ["crossCheck", "omitted", "snapshotId", "failedChains", "proofs"],
};

describe("the specification", () => {
  it("parses every endpoint, record and status of the specification", () => {
    expect(specification.endpoints.map(({ path }) => path)).toEqual([
      "/health",
      "/.well-known/x402.json",
      "/portfolio",
      "/llms.txt",
      "/llms-full.txt",
    ]);
    expect(Object.keys(specification.records)).toEqual([
      "Health",
      "X402Discovery",
      "PortfolioSnapshot",
      "PortfolioSummary",
      "ChainSummary",
      "TopHolding",
      "PortfolioToken",
      "RecentActivity",
    ]);
    expect(specification.errors.map(({ status }) => status)).toEqual(["400", "402", "500"]);
    expect(specification.records.TopHolding?.symbol).toBe("string|null");
  });
});

describe("endpoints", () => {
  const rows = tableRowsOf(specification.section("4. Endpoints")).map(({ cells }) => cells);

  it.each(rows)(
    "%s %s is described and responds (%s): %s",
    async (method, path = "", _request, success = "") => {
      const operation = document.paths[path]?.[String(method).toLowerCase()];
      expect(operation).toBeDefined();
      const [status = "", what = ""] = success.split(", ");
      const response =
        path === "/portfolio"
          ? await buySnapshot(`address=${WALLET}`)
          : await client.call(path, { method: "GET" });
      expect(String(response.status)).toBe(status);
      const type = response.headers.get("content-type");
      if (what === "text/plain") {
        expect(type).toBe("text/plain; charset=utf-8");
        expect(response.text).toMatch(/^# \w/);
      } else {
        expect(type).toBe("application/json; charset=utf-8");
        expectValue(what, response.body);
      }
      expect(response.headers.get("x-request-id")).toMatch(UUID);
      expect(response.headers.get("access-control-allow-origin")).toBe("*");
    },
  );

  it("describes exactly the existing endpoints, except the files of every site", () => {
    const described = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const files = siteFiles.map(({ path }) => `GET ${path}`);
    const registered = service.routes.filter((route) => !route.startsWith("HEAD ") && !files.includes(route));
    expect(described.sort()).toEqual([...new Set(registered)].sort());
  });

  it("the OpenAPI document has the API version of the specification", () => {
    const [, version] = /version string `([^`]+)`/.exec(specification.section("9. Versioning")) ?? [];
    expect(document.info.version).toBe(version);
  });

  it("responds to HEAD like GET without the body, and to other methods with 405 and Allow", async () => {
    const paths = Object.entries(document.paths).flatMap(([path, methods]) =>
      "get" in methods ? [path] : [],
    );
    for (const path of paths) {
      const [get, head] = [await client.call(path), await client.call(path, { method: "HEAD" })];
      expect([path, head.status, head.text]).toEqual([path, get.status, ""]);
      expect(head.headers.get("content-type")).toBe(get.headers.get("content-type"));
      for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
        const rejected = await client.call(path, { method });
        expect([path, method, rejected.status]).toEqual([path, method, 405]);
        expect(rejected.headers.get("allow")).toBe("GET, HEAD");
        expect(rejected.headers.get("x-error-code")).toBe("METHOD_NOT_ALLOWED");
        expect(rejected.body).toEqual({ error: "Method not allowed. Allowed: GET, HEAD." });
      }
      const options = await client.call(path, {
        method: "OPTIONS",
        headers: { origin: "https://elsewhere.example", "access-control-request-method": "GET" },
      });
      expect([options.status, options.headers.get("allow")]).toEqual([204, "GET, HEAD, OPTIONS"]);
      expect(options.headers.get("access-control-allow-origin")).toBe("*");
      expect(options.headers.get("access-control-allow-headers")).toContain("PAYMENT-SIGNATURE");
      expect(get.headers.get("access-control-expose-headers")).toContain(
        "PAYMENT-REQUIRED, PAYMENT-RESPONSE",
      );
    }
  });
});

describe("records", () => {
  it("records have the fields and types of the tables", () => {
    // The other forms are those that `detail` and `fields` select.
    const { anyOf: forms } = schemas.responseSchema("GET", "/portfolio") as { anyOf?: JsonSchema[] };
    const seen = [
      ...expectRecord(schemas, "Health", schemas.responseSchema("GET", "/health")),
      ...expectRecord(schemas, "X402Discovery", schemas.responseSchema("GET", "/.well-known/x402.json")),
      ...expectRecord(schemas, "PortfolioSnapshot", forms?.[0] ?? {}, ADDITIONS, OPTIONAL_ADDITIONS),
    ];
    expect([...new Set(seen)].sort()).toEqual(Object.keys(specification.records).sort());
  });

  it("/health returns the specified record", async () => {
    expect((await client.call("/health")).body).toEqual({
      ok: true,
      service: "portfolio",
      name: "Sextant",
      x402DevBypass: false,
    });
  });

  it("/.well-known/x402.json lists the specified terms of every paid route", async () => {
    const row = /^Resource entry \(all required strings\): (.*)\.$/m.exec(
      specification.section("X402Discovery"),
    );
    const keys = (row?.[1] ?? "").split(", ").map((key) => key.replaceAll("`", ""));
    const entry = schemas.followed(
      schemas.fieldsOf(schemas.responseSchema("GET", "/.well-known/x402.json")).resources
        ?.items as JsonSchema,
    );
    expect([Object.keys(schemas.fieldsOf(entry)), entry.required]).toEqual([keys, keys]);
    for (const field of Object.values(schemas.fieldsOf(entry)))
      expect(schemas.typesOf(field)).toEqual(["string"]);
    const { body } = await client.call("/.well-known/x402.json");
    expect(PAID_ROUTES[0]?.path).toBe("/portfolio");
    expect(body).toMatchObject({
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      // The specification's route first, then those beyond it.
      resources: PAID_ROUTES.map(({ path, body: posted }) => ({
        ...{ path, network: "eip155:31337" },
        ...(posted ? { method: "POST", price: "$0.003" } : { method: "GET", price: "$0.01" }),
      })),
    });
  });

  it("returns a valid PortfolioSnapshot of a wallet with tokens, positions and activity", async () => {
    const { body, headers } = await buySnapshot(`address=${stage.paid.chain.accounts.payer.address}`);
    expectValue("PortfolioSnapshot", body);
    const snapshot = body as Record<string, unknown[]> & { timestamp: string };
    for (const list of ["chains", "tokens", "positions", "recentActivity"])
      expect(snapshot[list]?.length).toBeGreaterThan(0);
    expect(new Date(snapshot.timestamp).toISOString()).toBe(snapshot.timestamp);
    expect(headers.get("cache-control")).toBe("private, no-store");
  });

  it("returns a valid PortfolioSnapshot of an empty wallet", async () => {
    const { body } = await buySnapshot(`address=0x${"00e1".repeat(10)}`);
    expectValue("PortfolioSnapshot", body);
    expect(body).toMatchObject({
      tokens: [],
      positions: [],
      recentActivity: [],
      summary: { totalValueUsd: "0", stablecoinValueUsd: "0", tokenCount: 0, topHoldings: [] },
    });
  });
});

describe("parameters", () => {
  const rows = tableRowsOf(PARAMETERS)
    .filter(({ header }) => header[0] === "Name")
    .map(({ cells }) => cells);

  it.each(rows)(
    "describes the parameter %s as specified (required: %s; %s; default %s)",
    async (name = "", required, format = "", fallback = "") => {
      const described = document.paths["/portfolio"]?.get?.parameters.find((each) => each.name === name);
      const schema = described?.schema as JsonSchema;
      expect([described?.in, described?.required]).toEqual(["query", required === "yes"]);
      expect(schema.type).toBe("string");
      const [, pattern] = /matching `([^`]+)`/.exec(format) ?? [];
      // A name is redirected to its address before anything else: only an address gets a response.
      const [address] = (schema.anyOf as readonly JsonSchema[] | undefined) ?? [schema];
      if (pattern !== undefined) expect(address?.pattern).toBe(pattern);
      expect(schema.default).toBe(fallback === "none" ? undefined : fallback.replaceAll("`", ""));
    },
  );

  it("chains defaults to the specified chains, in their order", async () => {
    const [, chains = ""] = /`chains` defaults to `([^`]+)`/.exec(specification.section("8. Limits")) ?? [];
    const [without, named] = [
      await buySnapshot(`address=${WALLET}`),
      await buySnapshot(`address=${WALLET}&chains=${chains}`),
    ];
    for (const { body } of [without, named]) expect(body).toMatchObject({ chains: chains.split(",") });
  });

  it("address may be in any case, and is returned in lower case", async () => {
    for (const address of [WALLET, WALLET.toLowerCase(), `0x${WALLET.slice(2).toUpperCase()}`]) {
      expect((await buySnapshot(`address=${address}&chains=base`)).body).toMatchObject({
        address: WALLET.toLowerCase(),
      });
    }
  });
});

function expectError({ body, headers }: ApiResponse, code: string, message: RegExp): void {
  expect(Object.keys(body as object)).toEqual(["error"]);
  expect((body as { error: string }).error).toMatch(message);
  expect(headers.get("x-error-code")).toBe(code);
  expect(headers.get("x-request-id")).toMatch(UUID);
}

const slugs = (count: number) => Array.from({ length: count }, (_, i) => (i % 2 ? "base" : "eth")).join(",");

const INVALID: readonly (readonly [string, RegExp])[] = [
  ["chains=base", /^address is required\.$/],
  ["address=", /^address must be/],
  ["address=0x12", /^address must be/],
  [`address=${WALLET}0`, /^address must be/],
  [`address=${WALLET.slice(2)}`, /^address must be/],
  [`address=0X${WALLET.slice(2)}`, /^address must be/],
  [`address=0x${"g".repeat(40)}`, /^address must be/],
  [`address=%20${WALLET}`, /^address must be/],
  [`address=${WALLET}&address=${WALLET}`, /^A query key is given twice\.$/],
  [`address=${WALLET}&chains=base&chains=base`, /^A query key is given twice\.$/],
  [`address=${WALLET}&chains=`, /^chains must be a comma-separated list of base, ethereum\.$/],
  [`address=${WALLET}&chains=base,,eth`, /^chains must be a comma-separated list of base, ethereum\.$/],
  [`address=${WALLET}&chains=moon`, /^chains must be a comma-separated list of base, ethereum\.$/],
  [`address=${WALLET}&chains=base,polygon`, /^chains must be a comma-separated list of base, ethereum\.$/],
  [`address=${WALLET}&chains=${slugs(11)}`, /^chains must name at most 10 chains\.$/],
  [`address=${WALLET}&spam=some`, /^spam must be/],
  [`address=${WALLET}&chains=%ff`, /^The query is not valid percent-encoding\.$/],
];

describe("statuses of GET /portfolio", () => {
  const specified = tableRowsOf(PARAMETERS).filter(({ header }) => header[0] === "Status");

  it("describes the statuses of the table", () => {
    const statuses = specified.map(({ cells }) => cells[0] ?? "");
    expect(statuses).toEqual(["200", "400", "402", "500"]);
    expect(Object.keys(document.paths["/portfolio"]?.get?.responses ?? {})).toEqual(
      expect.arrayContaining(statuses),
    );
    expect(specified[2]?.cells[1]).toContain("header `payment-required` carries base64-encoded x402");
  });

  it.each(INVALID)("responds with 400 to an invalid query: %s", async (query, message) => {
    for (const headers of [{}, { "payment-signature": "e30=" }]) {
      const response = await client.call(`/portfolio?${query}`, { headers });
      expect(response.status).toBe(400);
      expectError(response, "INPUT_INVALID", message);
    }
  });

  it.each([
    ["empty", ""],
    ["not base64", "x"],
    ["not JSON", "bm90IGpzb24="],
    ["an empty object", "e30="],
    ["only a version", "eyJ4NDAyVmVyc2lvbiI6Mn0="],
    ["too long", "A".repeat(9_000)],
  ])("responds with 400 to a payment that is %s", async (_name, header) => {
    const headers = { "payment-signature": header };
    const response = await client.call(`/portfolio?address=${WALLET}`, { headers });
    expect(response.status).toBe(400);
    expectError(response, "INPUT_INVALID", /\.$/);
  });

  it("responds with 402 and the terms without payment", async () => {
    const response = await client.call(`/portfolio?address=${WALLET}&chains=eth`);
    expect(response.status).toBe(402);
    const required = JSON.parse(
      Buffer.from(response.headers.get("payment-required") ?? "", "base64").toString(),
    ) as { accepts: unknown[] };
    const { asset, payTo } = stage.paid;
    expect(required).toMatchObject({
      x402Version: 2,
      resource: { url: `${service.url}/portfolio?address=${WALLET.toLowerCase()}&chains=ethereum` },
      accepts: [{ scheme: "exact", network: "eip155:31337", amount: TEST_PRICE.toString(), asset, payTo }],
    });
    expect(response.body).toEqual({
      x402Version: 2,
      error: expect.stringMatching(/^[A-Z].*\.$/),
      accepts: required.accepts,
    });
    expect(response.headers.get("x-error-code")).toBe("PAYMENT_REQUIRED");
    expect(response.headers.get("cache-control")).toBe("no-store");
  });

  it("responds with 402 to a rejected payment, without a charge", async () => {
    const target = `/portfolio?address=${WALLET}`;
    const url = service.url + target;
    const [rich, poor] = [await stage.paid.payer(), await stage.paid.payer(0n)];
    const tooLittle = await signPaymentFor(url, rich, stage.paid.asset, (required) => ({
      ...required,
      accepts: required.accepts.map((terms) => ({ ...terms, amount: "9999" })),
    }));
    const unfunded = await signPaymentFor(url, poor, stage.paid.asset);
    for (const { header } of [tooLittle, unfunded]) {
      const response = await client.call(target, { headers: { "payment-signature": header } });
      expect([response.status, response.headers.get("x-error-code")]).toEqual([402, "PAYMENT_REQUIRED"]);
      expect(response.headers.get("payment-required")).not.toBeNull();
    }
    expect(await stage.paid.balance(rich.address)).toBe(1_000_000n);
  });

  it("responds with 500 when a chain cannot be read", async () => {
    stage.base.plan = () => ({ kind: "status", status: 500 });
    const target = `/portfolio?address=0x${"5e".repeat(20)}`;
    const response = await client.call(target, { headers: await signature(target) });
    stage.base.plan = () => null;
    expect(response.status).toBe(500);
    expectError(response, "PROVIDER_FAILED", /^The balances on Base \(local\) could not be read in full\.$/);
  });

  it("responds with 404 to an unknown path", async () => {
    for (const path of ["/portfolios", "/portfolio/", "/Portfolio", "/.well-known", "/llms"]) {
      const response = await client.call(path);
      expect([path, response.status]).toEqual([path, 404]);
      expectError(response, "ROUTE_UNKNOWN", /^There is nothing at this path\.$/);
    }
  });

  it("shows people a page with a way back at an unknown path", async () => {
    const response = await fetch(`${service.url}/portfolios?address=x`, { headers: { accept: "text/html" } });
    const headers = ["content-type", "x-error-code", "vary"].map((name) => response.headers.get(name));
    expect([response.status, ...headers]).toEqual([
      404,
      "text/html; charset=utf-8",
      "ROUTE_UNKNOWN",
      "accept",
    ]);
    expect(response.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
    const page = await response.text();
    expect(page).toContain("<h1>There is nothing at this address</h1>");
    expect(page).toMatch(/<a href="\/">Back to the front page<\/a>/);
    expect(page).toContain('<form class="card search" method="get" action="/portfolio">');
    const posted = await fetch(`${service.url}/portfolios`, {
      method: "POST",
      headers: { accept: "text/html" },
    });
    expect([posted.status, posted.headers.get("content-type")]).toEqual([
      404,
      "application/json; charset=utf-8",
    ]);
  });
});

describe("payment", () => {
  it("an unpaid HEAD gets the headers of GET without its body", async () => {
    for (const query of ["", `?address=${WALLET}&chains=base`]) {
      const url = `${service.url}/portfolio${query}`;
      const [get, head] = [await fetch(url), await fetch(url, { method: "HEAD" })];
      expect([head.status, await head.text()]).toEqual([402, ""]);
      // These differ per request or per connection.
      const changing = ["date", "x-request-id", "connection", "keep-alive"];
      // So does the challenge of sign-in.
      const withoutNonce = (terms: string) =>
        Buffer.from(terms, "base64")
          .toString()
          .replace(/"nonce":"\w+","issuedAt":"[^"]+"/, "");
      const named = ({ headers }: Response) =>
        [...headers]
          .filter(([name]) => !changing.includes(name))
          .map(([name, value]) => [name, name === "payment-required" ? withoutNonce(value) : value]);
      expect(named(head)).toEqual(named(get));
      expect(head.headers.get("content-length")).toBe(String((await get.text()).length));
    }
  });

  it("the program of /llms-full.txt is the checked example, with the terms of this service", async () => {
    const text = await (await fetch(`${service.url}/llms-full.txt`)).text();
    const [, program = ""] = /```ts\n([\s\S]*?)```/.exec(text) ?? [];
    const constantsOf = (code: string) =>
      Object.fromEntries(
        [...code.matchAll(/^const (url|network|asset) = "(.*)";$/gm)].map(([, ...pair]) => pair),
      );
    const amountOf = (code: string) => /maxAmountPerPayment: "(\d+)"/.exec(code)?.[1];
    const { url, ...terms } = constantsOf(program);
    expect(url).toMatch(new RegExp(`^${service.url}/portfolio\\?address=0x`));
    expect(terms).toEqual({ network: "eip155:31337", asset: stage.paid.asset });
    expect(amountOf(program)).toBe(TEST_PRICE.toString());
    // `npm run check` compiles the example.
    const example = readFileSync("examples/buy-snapshot.ts", "utf8");
    const withoutTerms = (code: string) => code.replace(/^(const url = ).*|"(eip155|0x|\d+)[^"]*"/gm, "$1");
    expect(withoutTerms(program.replace(SERVED_TYPES, CLIENT_TYPES))).toBe(withoutTerms(example));
    const [, types = ""] = /^curl -O (\S+)$/m.exec(text) ?? [];
    expect(await (await fetch(types)).text()).toBe(renderSnapshotTypes());
  });

  it("HEAD costs the same as GET and buys the same response", async () => {
    const payer = await stage.paid.payer();
    const url = `${service.url}/portfolio?address=${WALLET}`;
    expect((await fetch(url, { method: "HEAD" })).status).toBe(402);
    const { header } = await signPaymentFor(url, payer, stage.paid.asset);
    const head = await fetchWithPayment(url, header, { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
    const get = await fetchWithPayment(url, header);
    expect(get.status).toBe(200);
    const [first, second] = [head, get].map((each) =>
      decodeBase64Header<{ success: boolean; transaction: string; payer: string }>(each, "payment-response"),
    );
    expect(first).toMatchObject({ success: true, payer: payer.address.toLowerCase() });
    expect(second).toEqual(first);
    expect((await stage.paid.transfersFrom(payer.address)).map((log) => log.transactionHash)).toEqual([
      first?.transaction,
    ]);
    expect(await stage.paid.balance(payer.address)).toBe(1_000_000n - TEST_PRICE);
  });
});
