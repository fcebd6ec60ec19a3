// What the portfolio service tells about itself: one table in many forms, all of them true and none of them from a header.
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
let faces: TestPortfolioWeb;

beforeAll(async () => {
  faces = await startTestPortfolioWeb();
});
afterAll(() => faces.close());

// A Host of somebody's choosing: nothing of it may show up anywhere.
function get(path: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(faces.url + path, { headers: { "x-forwarded-host": "evil.example", ...headers } });
}

function problems(schema: JsonSchema, value: unknown): unknown {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  const validate = ajv.compile(schema);
  return validate(value) ? null : validate.errors;
}

describe("/.well-known/x402.json", () => {
  it("is as specified: strings only", async () => {
    const answer = await get("/.well-known/x402.json");
    expect(answer.headers.get("content-type")).toBe("application/json; charset=utf-8");
    const document = (await answer.json()) as { resources: Record<string, unknown>[] };
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
  it("list addresses below the configured origin", async () => {
    const document = (await (await get("/.well-known/x402")).json()) as { resources: string[] };
    expect(problems(x402ResourcesSchema, document)).toBeNull();
    expect(document).toEqual({ version: 1, resources: [`${ORIGIN}/portfolio`] });
    for (const resource of document.resources) expect(new URL(resource).origin).toBe(ORIGIN);
  });

  it("carry the terms that a request is answered with", async () => {
    const document = (await (await get("/discovery/resources")).json()) as {
      items: { resource: string; accepts: unknown[]; lastUpdated: string }[];
    };
    expect(problems(discoveryResourcesSchema, document)).toBeNull();
    const [item] = document.items;
    const told = (await (await get("/portfolio")).json()) as { accepts: unknown[] };
    expect(item?.accepts).toEqual(told.accepts);
    expect(new URL(item?.resource ?? "").href).toBe(`${ORIGIN}/portfolio`);
    expect(item?.lastUpdated).toBe("2026-01-01T00:00:00.000Z");
  });
});

describe("/openapi.json", () => {
  it("says what the paid operation costs and how its 402 looks", async () => {
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
    expect(operation?.parameters.map(({ name, in: place }) => [name, place])).toEqual([
      ["address", "query"],
      ["chains", "query"],
      ["spam", "query"],
      ["PAYMENT-SIGNATURE", "header"],
    ]);
  });

  it("describes exactly the routes there are", async () => {
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
  it("is in the form of llmstxt.org, and every link in it leads somewhere", async () => {
    const answer = await get("/llms.txt");
    expect(answer.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    const lines = (await answer.text()).split("\n");
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
  it("tells how to pay, every field, and every error a payment can run into", async () => {
    const answer = await get("/llms-full.txt");
    expect(answer.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    const text = await answer.text();
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

  it("shows terms as a request is answered with, and an answer as the schema wants it", async () => {
    const text = await (await get("/llms-full.txt")).text();
    const blocks = [...text.matchAll(/```json\n([\s\S]*?)\n```/g)].map((match) => JSON.parse(match[1] ?? ""));
    const [required, typed, payment] = blocks;
    const path = new URL(required.resource.url);
    const told = (await (await get(path.pathname + path.search)).json()) as { accepts: unknown[] };
    expect(required.accepts).toEqual(told.accepts);
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
  it("say what they are, run nothing foreign and are not sent twice", async () => {
    const answer = await get("/", { accept: "text/html" });
    expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(answer.headers.get("content-security-policy")).toMatch(/^default-src 'none'; style-src 'sha256-/);
    expect(answer.headers.get("content-security-policy")).not.toMatch(/unsafe|https?:|\*/);
    const html = await answer.text();
    expect(html).not.toMatch(/(?:src|href)="https?:|evil\.example/);
    const etag = answer.headers.get("etag") ?? "";
    expect((await get("/", { "if-none-match": etag })).status).toBe(304);
  });

  it("tell that the process lives, and whether it asks for money", async () => {
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
