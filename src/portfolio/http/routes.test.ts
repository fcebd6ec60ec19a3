// The documents of the portfolio service: consistent with each other and independent of request headers.
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  startTestPortfolioWeb,
  TEST_OFFER,
  type TestPortfolioWeb,
} from "../../../tests/support/http/test-portfolio-web.ts";
import type { OpenApiDocument } from "../../http/openapi/document.ts";
import { FAULTS } from "../../lib/fault.ts";
import type { JsonSchema } from "../../schema/column.ts";
import { discoveryResourcesSchema, x402DiscoverySchema, x402ResourcesSchema } from "../../web/discovery.ts";
import { exampleSnapshot } from "../../web/example-snapshot.ts";
import { portfolioSnapshotSchema } from "./snapshot-schema.ts";

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
  it("list URLs below the configured origin", async () => {
    const document = (await (await get("/.well-known/x402")).json()) as { resources: string[] };
    expect(problems(x402ResourcesSchema, document)).toBeNull();
    expect(document).toEqual({ version: 1, resources: [`${ORIGIN}/portfolio`] });
    for (const resource of document.resources) expect(new URL(resource).origin).toBe(ORIGIN);
  });

  it("contain the same terms as a 402 response", async () => {
    const document = (await (await get("/discovery/resources")).json()) as {
      items: { resource: string; accepts: unknown[]; lastUpdated: string }[];
    };
    expect(problems(discoveryResourcesSchema, document)).toBeNull();
    const [item] = document.items;
    const challenge = (await (await get("/portfolio")).json()) as { accepts: unknown[] };
    expect(item?.accepts).toEqual(challenge.accepts);
    expect(new URL(item?.resource ?? "").href).toBe(`${ORIGIN}/portfolio`);
    expect(item?.lastUpdated).toBe("2026-01-01T00:00:00.000Z");
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
      ["spam", "query"],
      ["PAYMENT-SIGNATURE", "header"],
    ]);
  });

  it("describes exactly the existing routes", async () => {
    const document = (await (await get("/openapi.json")).json()) as OpenApiDocument;
    for (const path of Object.keys(document.paths)) {
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
  it("have a content type, a strict policy and an etag", async () => {
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

  it("report health and the development bypass", async () => {
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
