// The documents of the portfolio service: consistent with each other and independent of request headers.
import type { PaymentRequired } from "@x402/core/types";
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  startTestPortfolioWeb,
  TEST_OFFER,
  type TestPortfolioWeb,
} from "../../../tests/support/http/test-portfolio-web.ts";
import { decodeBase64Header } from "../../../tests/support/payments/paid-client.ts";
import type { OpenApiDocument } from "../../http/openapi/document.ts";
import { FAULTS } from "../../lib/fault.ts";
import type { JsonSchema } from "../../schema/json-schema.ts";
import { exampleSnapshot } from "../../schema/portfolio/examples.ts";
import { portfolioSnapshotSchema } from "../../schema/portfolio/snapshot.ts";
import {
  apiCatalogSchema,
  discoveryResourcesSchema,
  paymentRequiredSchema,
  x402DiscoverySchema,
  x402ResourcesSchema,
} from "../../web/discovery.ts";

const ORIGIN = TEST_OFFER.resourceOrigin;
let web: TestPortfolioWeb;

beforeAll(async () => {
  web = await startTestPortfolioWeb();
});
afterAll(() => web.close());

// With a forged host: no document may contain it.
function get(path: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(web.url + path, { headers: { "x-forwarded-host": "evil.example", ...headers } });
}

function problems(schema: JsonSchema, value: unknown): unknown {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  const validate = ajv.compile(schema);
  return validate(value) ? null : validate.errors;
}

describe("/.well-known/x402.json", () => {
  it("matches the specification: strings only", async () => {
    const response = await get("/.well-known/x402.json");
    expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
    const document = (await response.json()) as { resources: Record<string, unknown>[] };
    expect(problems(x402DiscoverySchema, document)).toBeNull();
    expect(document).toEqual({
      version: "1.0.0",
      resources: [
        {
          path: "/portfolio",
          method: "GET",
          price: "$0.01",
          network: "eip155:31337",
          description: expect.stringMatching(/^.{20,500}$/),
        },
      ],
    });
  });
});

describe("the documents of directories", () => {
  it("/.well-known/x402 lists URLs below the configured origin", async () => {
    const document = (await (await get("/.well-known/x402")).json()) as { resources: string[] };
    expect(problems(x402ResourcesSchema, document)).toBeNull();
    expect(document).toEqual({
      version: 1,
      resources: [`${ORIGIN}/portfolio`],
      methods: { [`${ORIGIN}/portfolio`]: ["GET"] },
    });
    for (const resource of document.resources) expect(new URL(resource).origin).toBe(ORIGIN);
  });

  it("/discovery/resources contains the same terms as a 402 response", async () => {
    const document = (await (await get("/discovery/resources")).json()) as {
      items: {
        resource: string;
        accepts: unknown[];
        lastUpdated: string;
        extensions: Record<string, unknown>;
      }[];
    };
    expect(problems(discoveryResourcesSchema, document)).toBeNull();
    const [item] = document.items;
    const response = await get("/portfolio");
    const challenge = (await response.json()) as { accepts: unknown[] };
    expect(problems(paymentRequiredSchema, challenge)).toBeNull();
    expect(item?.accepts).toEqual(challenge.accepts);
    const required = decodeBase64Header<PaymentRequired>(response, "payment-required");
    expect(required.x402Version).toBe(2);
    expect(item?.extensions.bazaar).toEqual(required.extensions?.bazaar);
    expect(new URL(item?.resource ?? "").href).toBe(`${ORIGIN}/portfolio`);
    expect(item?.lastUpdated).toBe("2026-01-01T00:00:00.000Z");
  });
});

describe("the security of paid operations", () => {
  it("asks for a payment that may come later, in a header that every tool can send", async () => {
    const { paths, components } = (await (await get("/openapi.json")).json()) as OpenApiDocument;
    expect(paths["/portfolio"]?.get?.security).toEqual([{}, { x402: [] }]);
    expect(components.securitySchemes).toEqual({ x402: { $ref: "#/components/x-security-schemes/x402" } });
    const scheme = { type: "apiKey", in: "header", name: "PAYMENT-SIGNATURE" };
    expect(components["x-security-schemes"]).toMatchObject({ x402: scheme });
  });
});

it("describes an address in the document as the service takes it: an address or a name", async () => {
  const { paths } = (await (await get("/openapi.json")).json()) as OpenApiDocument;
  const parameters = paths["/portfolio"]?.get?.parameters as
    | { name: string; schema: JsonSchema }[]
    | undefined;
  const schema = parameters?.find(({ name }) => name === "address")?.schema ?? {};
  for (const text of [exampleSnapshot.address, `0x${"AB".repeat(20)}`, "alice.eth", "0x12", "alice", ""]) {
    const url = `${web.url}/portfolio?address=${encodeURIComponent(text)}`;
    const { status } = await fetch(url, { redirect: "manual" });
    expect([text, problems(schema, text) === null]).toEqual([text, status !== 400]);
  }
});

describe("/discovery/resources", () => {
  type Page = { items: unknown[]; pagination: unknown };
  const page = async (query: string) => (await (await get(`/discovery/resources${query}`)).json()) as Page;

  it.each([
    ["", 1, { limit: 100, offset: 0, total: 1 }],
    ["?type=http&limit=1", 1, { limit: 1, offset: 0, total: 1 }],
    ["?type=mcp", 0, { limit: 100, offset: 0, total: 0 }],
    ["?type=&limit=1000", 1, { limit: 100, offset: 0, total: 1 }],
    ["?offset=1", 0, { limit: 100, offset: 1, total: 1 }],
    ["?limit=5&offset=7", 0, { limit: 5, offset: 7, total: 1 }],
    // Filters of other directories, which one resource needs not.
    ["?network=eip155:1&unknown=x", 1, { limit: 100, offset: 0, total: 1 }],
  ])("%o lists %i", async (query, count, pagination) => {
    const listed = await page(query);
    expect(listed.items.length).toBe(count);
    expect(listed.pagination).toEqual(pagination);
  });

  it.each(["limit=0", "limit=-1", "limit=1.5", "offset=x", "offset=1000001", "limit=1&limit=2"])(
    "rejects %o",
    async (query) => {
      const response = await get(`/discovery/resources?${query}`);
      expect(response.status).toBe(400);
      expect(await response.json()).toEqual({ error: expect.stringMatching(/limit|offset|twice/) });
    },
  );

  it("gives each page of /discovery/resources its own etag", async () => {
    const etag = (await get("/discovery/resources")).headers.get("etag") ?? "";
    expect((await get("/discovery/resources", { "if-none-match": etag })).status).toBe(304);
    expect((await get("/discovery/resources?type=mcp", { "if-none-match": etag })).status).toBe(200);
  });
});

describe("/.well-known/api-catalog", () => {
  it("links to existing documents, as RFC 9727 describes", async () => {
    const response = await get("/.well-known/api-catalog");
    expect(response.headers.get("content-type")).toBe(
      'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"; charset=utf-8',
    );
    const document = (await response.json()) as { linkset: Record<string, unknown>[] };
    expect(problems(apiCatalogSchema, document)).toBeNull();
    const [{ anchor, ...relations } = {}] = document.linkset;
    expect(anchor).toBe(`${ORIGIN}/`);
    expect(Object.keys(relations)).toEqual(["service-desc", "service-doc", "service-meta", "status"]);
    for (const { href, type } of Object.values(relations).flat() as { href: string; type: string }[]) {
      expect(href.startsWith(ORIGIN)).toBe(true);
      const linked = await get(href.slice(ORIGIN.length));
      expect([href, linked.status]).toEqual([href, 200]);
      expect(linked.headers.get("content-type")?.split(";")[0]).toBe(type);
    }
  });
});

describe("files that clients look for", () => {
  it("serves robots.txt, and an icon as SVG and as ICO", async () => {
    const robots = await get("/robots.txt");
    expect(await robots.text()).toBe("User-agent: *\nAllow: /\nDisallow: /metrics\n");
    const svg = await get("/favicon.svg");
    expect(svg.headers.get("content-type")).toBe("image/svg+xml; charset=utf-8");
    expect(await svg.text()).toMatch(
      /^<svg xmlns="[^"]+" viewBox="0 0 32 32"><path d="M[-\d. LAM]+" .*<\/svg>\n$/,
    );
    const ico = await get("/favicon.ico");
    expect(ico.headers.get("content-type")).toBe("image/x-icon");
    const bytes = Buffer.from(await ico.arrayBuffer());
    // One image of 32 × 32 pixels with 32 bits, which fills the file.
    expect([...bytes.subarray(0, 14)]).toEqual([0, 0, 1, 0, 1, 0, 32, 32, 0, 0, 1, 0, 32, 0]);
    expect(bytes.readUInt32LE(14) + bytes.readUInt32LE(18)).toBe(bytes.length);
    const opacities = Array.from({ length: 32 * 32 }, (_, pixel) => bytes[62 + pixel * 4 + 3] ?? 0);
    const drawn = opacities.filter((opacity) => opacity > 0).length;
    expect(drawn).toBeGreaterThan(150);
    expect(drawn).toBeLessThan(600);
  });

  it("the pages name an icon that their policy allows", async () => {
    const response = await get("/", { accept: "text/html" });
    expect(await response.text()).toContain('<link rel="icon" type="image/svg+xml" href="/favicon.svg">');
    expect(response.headers.get("content-security-policy")).toContain("img-src 'self'");
  });
});

describe("/openapi.json", () => {
  it("describes the price of the paid operation and its 402", async () => {
    const document = (await (await get("/openapi.json")).json()) as OpenApiDocument;
    expect([document.openapi, document.info.version]).toEqual(["3.1.0", "1.0.0"]);
    const operation = document.paths["/portfolio"]?.get;
    expect(operation?.["x-payment-info"]).toEqual({
      price: { mode: "fixed", amount: "0.01", currency: "USD" },
      protocols: [{ x402: {} }],
    });
    expect(Object.keys(operation?.responses ?? {})).toEqual(
      expect.arrayContaining(["200", "400", "402", "409", "429", "500", "503", "default"]),
    );
    expect(operation?.responses[304]).toBeUndefined();
    expect(operation?.responses[402]).toMatchObject({
      headers: { "payment-required": { schema: { type: "string" } } },
      content: { "application/json": { schema: { $ref: "#/components/schemas/PaymentRequired" } } },
    });
    expect(operation?.parameters.map(({ name, in: location }) => [name, location])).toEqual([
      ["address", "query"],
      ["chains", "query"],
      ["block", "query"],
      ["at", "query"],
      ["spam", "query"],
      ["partial", "query"],
      ["detail", "query"],
      ["min_usd", "query"],
      ["fields", "query"],
      ["proof", "query"],
      ["PAYMENT-SIGNATURE", "header"],
      ["SIGN-IN-WITH-X", "header"],
    ]);
  });

  it("tells agents how to use the service, and which routes are free", async () => {
    const document = (await (await get("/openapi.json")).json()) as OpenApiDocument;
    expect(document.info["x-guidance"]).toMatch(/GET \/portfolio costs \$0\.01.*PAYMENT-SIGNATURE/s);
    for (const [path, methods] of Object.entries(document.paths)) {
      for (const { security } of Object.values(methods)) {
        expect([path, security]).toEqual([path, path === "/portfolio" ? [{}, { x402: [] }] : []]);
      }
    }
  });

  it("describes exactly the existing routes", async () => {
    const document = (await (await get("/openapi.json")).json()) as OpenApiDocument;
    for (const [path, methods] of Object.entries(document.paths)) {
      if (!("get" in methods)) continue;
      const { status, headers } = await get(path);
      expect([path, status]).toEqual([path, path === "/portfolio" ? 402 : 200]);
      const described = document.paths[path]?.get?.responses[status];
      const [type = ""] = Object.keys((described as { content: object }).content);
      expect(headers.get("content-type")?.split(";")[0]).toBe(type);
    }
    expect((await get("/docs")).status).toBe(200);
  });
});

describe("/llms.txt", () => {
  it("follows llmstxt.org, and every link works", async () => {
    const response = await get("/llms.txt");
    expect(response.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    const lines = (await response.text()).split("\n");
    expect(lines[0]).toMatch(/^# \S/);
    expect(lines[2]).toMatch(/^> \S/);
    expect(lines.filter((line) => line.startsWith("## ")).length).toBeGreaterThanOrEqual(3);
    const links = lines.flatMap((line) => [...line.matchAll(/^- \[[^\]]+\]\(([^)]+)\): \S/g)]);
    expect(links.length).toBeGreaterThanOrEqual(9);
    expect(lines.filter((line) => line.startsWith("- ")).length).toBe(links.length);
    for (const [, link = ""] of links) {
      const { origin, pathname } = new URL(link);
      expect(origin).toBe(ORIGIN);
      expect([pathname, (await get(pathname)).status]).toEqual([
        pathname,
        pathname === "/portfolio" ? 402 : 200,
      ]);
    }
  });
});

describe("/llms-full.txt", () => {
  it("describes how to pay, every field, and every payment error", async () => {
    const response = await get("/llms-full.txt");
    expect(response.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    const text = await response.text();
    for (const word of [
      "PAYMENT-REQUIRED",
      "PAYMENT-SIGNATURE",
      "PAYMENT-RESPONSE",
      "TransferWithAuthorization",
    ])
      expect(text).toContain(word);
    for (const field of fieldsOf(portfolioSnapshotSchema)) expect(text).toContain(`| \`${field}\` |`);
    for (const code of Object.keys(FAULTS).filter((each) => each.startsWith("PAYMENT_")))
      expect(text).toContain(`\`${code}\``);
    expect(text).not.toMatch(/undefined|\[object|evil\.example/);
  });

  it("shows the terms of a 402 response, and a snapshot that matches the schema", async () => {
    const text = await (await get("/llms-full.txt")).text();
    const blocks = [...text.matchAll(/```json\n([\s\S]*?)\n```/g)].map((match) => JSON.parse(match[1] ?? ""));
    const [required, typed, payment] = blocks;
    const path = new URL(required.resource.url);
    const challenge = (await (await get(path.pathname + path.search)).json()) as { accepts: unknown[] };
    expect(required.accepts).toEqual(challenge.accepts);
    expect(typed.domain).toEqual({
      name: "USD Coin",
      version: "2",
      chainId: 31_337,
      verifyingContract: TEST_OFFER.asset,
    });
    expect(payment.payload.authorization).toEqual(typed.message);
    expect(problems(portfolioSnapshotSchema, blocks.at(-1))).toBeNull();
    expect(problems(portfolioSnapshotSchema, exampleSnapshot)).toBeNull();
  });
});

describe("pages and documents", () => {
  it("serves the page with a content type, a strict policy and an etag", async () => {
    const response = await get("/", { accept: "text/html" });
    expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(response.headers.get("content-security-policy")).toMatch(
      /^default-src 'none'; style-src 'sha256-/,
    );
    expect(response.headers.get("content-security-policy")).not.toMatch(/unsafe|https?:|\*/);
    const html = await response.text();
    expect(html).not.toMatch(/(?:src|href)="https?:|evil\.example/);
    const etag = response.headers.get("etag") ?? "";
    expect((await get("/", { "if-none-match": etag })).status).toBe(304);
  });

  it("/health reports health and the development bypass", async () => {
    expect(await (await get("/health")).json()).toEqual({
      ok: true,
      service: "portfolio",
      name: "Sextant",
      x402DevBypass: false,
    });
    expect((await get("/metrics")).status).toBe(200);
  });
});

function fieldsOf(schema: JsonSchema): string[] {
  const parts = Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>);
  const inner = [schema.items, ...((schema.anyOf ?? []) as unknown[])].filter(Boolean) as JsonSchema[];
  return [...parts.map(([name]) => name), ...[...parts.map(([, part]) => part), ...inner].flatMap(fieldsOf)];
}
