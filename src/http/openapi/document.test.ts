// The OpenAPI document and its page: true to the declarations, self-contained, and safe to render.
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { Endpoint } from "../../schema/endpoint.ts";
import { uintParameter } from "../../schema/parameter.ts";
import type { Read } from "../../schema/reads/read.ts";
import { sql } from "../../schema/sql.ts";
import { renderDocsPage } from "./docs-page.ts";
import { buildOpenApiDocument, createSchemaRegistry } from "./document.ts";
import { describeEndpoint, describeRead, serviceRoutes } from "./route-description.ts";
import { buildSchemaExample, formatSchemaType } from "./schema-text.ts";

const thing = { title: "Thing", type: "object", properties: { id: { type: "string" } }, required: ["id"] };
const id = {
  name: "id",
  in: "path",
  required: true,
  kind: uintParameter(),
  description: "Which <b>one</b>.",
} as const;

const read: Read = {
  path: "/things/:id",
  operationId: "getThing",
  summary: "One <thing>",
  tag: "Things & such",
  parameters: [id],
  provenance: true,
  responseSchema: thing,
  notFoundMessage: "There is none.",
  plan: () => ({ sql: sql``, cost: "quick", assemble: () => null }),
};

const endpoint: Endpoint = {
  method: "POST",
  path: "/things",
  operationId: "makeThing",
  summary: 'Make "one"',
  tag: "Things & such",
  parameters: [],
  body: { type: "object", properties: { name: { type: "string" } } },
  responses: { 201: thing },
  handle: async () => ({ status: 201, body: {} }),
};

const info = { title: "A <script>", version: "1.2.3", description: "What it is & does." };
const document = buildOpenApiDocument(info, [
  describeRead(read),
  describeEndpoint(endpoint),
  ...serviceRoutes,
]);

/** Every $ref anywhere in a value. */
function referencesIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, part]) =>
    key === "$ref" && typeof part === "string" ? [part] : referencesIn(part),
  );
}

describe("the OpenAPI document", () => {
  it("has every route with its parameters, body and responses", () => {
    const { get } = document.paths["/things/{id}"] ?? {};
    expect(get?.parameters.map(({ name, in: location, required }) => [name, location, required])).toEqual([
      ["id", "path", true],
      ["block", "query", false],
      ["include", "query", false],
      ["min_block", "query", false],
      ["x-min-block", "header", false],
    ]);
    expect(Object.keys(get?.responses ?? {})).toEqual(["200", "304", "400", "404", "429", "503", "default"]);
    const { post } = document.paths["/things"] ?? {};
    expect(post?.requestBody?.content["application/json"]?.schema).toEqual(endpoint.body);
    expect(Object.keys(post?.responses ?? {})).toEqual(["201", "400", "413", "415", "429", "503", "default"]);
    expect(document.servers).toEqual([{ url: "/" }]);
  });

  it("has the response headers and extensions of an endpoint", () => {
    const priced = describeEndpoint({
      ...endpoint,
      method: "GET",
      body: null,
      responses: { 200: thing, 402: thing },
      responseHeaders: { 402: { "payment-required": "The terms." } },
      extensions: { "x-price": { amount: "1" } },
    });
    const operation = buildOpenApiDocument(info, [priced]).paths["/things"]?.get;
    expect(operation?.["x-price"]).toEqual({ amount: "1" });
    expect(operation?.responses[402]).toMatchObject({
      headers: { "payment-required": { description: "The terms.", schema: { type: "string" } } },
    });
    expect(operation?.responses[200]).not.toMatchObject({ headers: { "payment-required": {} } });
    expect(Object.keys(operation?.responses ?? {})).not.toContain("304");
  });

  it("contains everything it refers to, with unique operation ids", () => {
    const missing = [...new Set(referencesIn(document))].filter((reference) => {
      let at: unknown = document;
      for (const part of reference.slice(2).split("/"))
        at = (at as Record<string, unknown> | undefined)?.[part];
      return at === undefined;
    });
    expect(missing).toEqual([]);
    const ids = Object.values(document.paths).flatMap((methods) =>
      Object.values(methods).map(({ operationId }) => operationId),
    );
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe("titled schemas", () => {
  it("are collected once, and a second shape of the same name stays inline", () => {
    const registry = createSchemaRegistry();
    const list = {
      type: "object",
      properties: { title: { type: "string" }, things: { type: "array", items: thing } },
    };
    expect(registry.register(list)).toEqual({
      type: "object",
      // A field called title is not a title.
      properties: {
        title: { type: "string" },
        things: { type: "array", items: { $ref: "#/components/schemas/Thing" } },
      },
    });
    expect(registry.register({ ...thing, required: [] })).toMatchObject({ required: [] });
    expect(Object.keys(registry.schemas())).toEqual(["Thing"]);
  });
});

describe("schemas as text", () => {
  it.each([
    [{ type: "string" }, "string"],
    [{ type: "array", items: { $ref: "#/components/schemas/Thing" } }, "@Thing[]"],
    [{ anyOf: [{ type: "string" }, { type: "null" }] }, "string | null"],
    [{ type: "array", items: { anyOf: [{ type: "string" }, { type: "null" }] } }, "(string | null)[]"],
    [{ type: "object", properties: { a: { type: "integer" } } }, "{ a?: integer }"],
    [{ enum: [0, 1] }, "0 | 1"],
    [{}, "any"],
  ])("format %o as %s", (schema, text) => {
    expect(formatSchemaType(schema)).toBe(text);
  });

  it("get examples of the right form", () => {
    const properties = {
      account: { type: "string", pattern: "^0x[0-9a-fA-F]{40}$" },
      amount: { type: "string", pattern: "^(0|[1-9][0-9]*)$" },
      data: { type: "string", pattern: "^0x([0-9a-fA-F]{2})*$" },
      plan: { type: "object" },
      on: { type: "boolean" },
    };
    const example = { account: `0x${"0".repeat(40)}`, amount: "0", data: "0x", plan: {}, on: false };
    expect(buildSchemaExample({ type: "object", properties })).toEqual(example);
  });
});

describe("the page", () => {
  const { html, contentSecurityPolicy: policy } = renderDocsPage(document);

  it("escapes every text", () => {
    expect(html).toContain("<title>A &lt;script&gt;</title>");
    expect(html).toContain("One &lt;thing&gt;");
    expect(html).toContain("Which &lt;b&gt;one&lt;/b&gt;.");
    expect(html.match(/<script/g)).toHaveLength(1);
  });

  it("loads nothing, and runs only what its policy allows", () => {
    expect(html).not.toMatch(/\b(?:src|href|action)\s*=\s*"(?:https?:)?\/\//);
    expect(html).not.toMatch(/\son\w+\s*=|\sstyle\s*=|javascript:/);
    for (const [tag, directive] of [
      ["style", "style-src"],
      ["script", "script-src"],
    ]) {
      const inside = new RegExp(`<${tag}>([^]*?)</${tag}>`).exec(html)?.[1] ?? "";
      const hash = createHash("sha256").update(inside).digest("base64");
      expect(policy).toContain(`${directive} 'sha256-${hash}'`);
    }
  });

  it("links every record that it names", () => {
    const ids = new Set([...html.matchAll(/\sid="([^"]+)"/g)].map((match) => match[1]));
    const links = [...html.matchAll(/href="#([^"]+)"/g)].map((match) => match[1]);
    expect(links.filter((link) => !ids.has(link))).toEqual([]);
  });
});
