// The OpenAPI document and its page: true to the declarations, self-contained, and safe to render.
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { Endpoint, Security } from "../../schema/endpoint.ts";
import { uintParameter } from "../../schema/parameter.ts";
import type { Read } from "../../schema/reads/read.ts";
import { sql } from "../../schema/sql.ts";
import { renderDocsPage } from "./docs-page.ts";
import { buildOpenApiDocument, createSchemaRegistry } from "./document.ts";
import { describeEndpoint, describeRead, serviceRoutes } from "./route-description.ts";
import { formatSchemaType } from "./schema-types.ts";

const thing = { title: "Thing", type: "object", properties: { id: { type: "string" } }, required: ["id"] };
const id = {
  name: "id",
  in: "path",
  required: true,
  kind: uintParameter(),
  description: "Which <b>one</b>, such as `<7>`.",
} as const;

const read: Read = {
  path: "/things/:id",
  operationId: "getThing",
  summary: "One <thing>",
  description: "All of <it>.",
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
  description: "Makes one & no more.",
  tag: "Things & such",
  parameters: [],
  body: { type: "object", properties: { name: { type: "string" } } },
  bodyExample: { name: "<own>" },
  responses: { 201: thing },
  handle: async () => ({ status: 201, body: {} }),
};

const info = { title: "A <script>", version: "1.2.3", description: "What it is & does." };
const tags = { "Things & such": "What <things> are." };
const document = buildOpenApiDocument({
  info,
  routes: [describeRead(read), describeEndpoint(endpoint), ...serviceRoutes],
  tags,
  samples: { variable: "THINGS_URL", fallback: "http://127.0.0.1:1", client: { option: "api" } },
  examples: { parameters: { block: "7" }, operations: { getThing: { parameters: { id: "12" } } } },
});

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
      ["at", "query", false],
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
    const operation = buildOpenApiDocument({ info, routes: [priced], tags }).paths["/things"]?.get;
    expect(operation?.["x-price"]).toEqual({ amount: "1" });
    expect(operation?.responses[402]).toMatchObject({
      headers: { "payment-required": { description: "The terms.", schema: { type: "string" } } },
    });
    expect(operation?.responses[200]).not.toMatchObject({ headers: { "payment-required": {} } });
    expect(Object.keys(operation?.responses ?? {})).not.toContain("304");
  });

  it("has examples, recorded ones before those of all operations", () => {
    const { get } = document.paths["/things/{id}"] ?? {};
    const examples = get?.parameters.map(({ name, example }) => [name, example]);
    expect(examples).toEqual([
      ["id", "12"],
      ["block", "7"],
      ["at", "1h"],
      ["include", "provenance"],
      ["min_block", undefined],
      ["x-min-block", undefined],
    ]);
    const { post } = document.paths["/things"] ?? {};
    expect(post?.requestBody?.content["application/json"]?.example).toEqual({ name: "<own>" });
  });

  it("says what a request must carry, and which operations are free", () => {
    const scheme = { type: "apiKey", in: "header", name: "x-key" };
    const describe = (more: Partial<Security>) => {
      const secured = describeEndpoint({ ...endpoint, security: { name: "key", scheme, ...more } });
      const { paths, components } = buildOpenApiDocument({ info, routes: [secured], tags });
      return [paths["/things"]?.post?.security, components.securitySchemes];
    };
    expect(describe({})).toEqual([[{ key: [] }], { key: scheme }]);
    expect(describe({ optional: true, isReferred: true })).toEqual([
      [{}, { key: [] }],
      { key: { $ref: "#/components/x-security-schemes/key" } },
    ]);
    expect(document.paths["/things"]?.post?.security).toEqual([]);
    expect(document.components).not.toHaveProperty("securitySchemes");
  });

  it("contains nothing that it does not refer to, and rejects a tag without a description", () => {
    const text = JSON.stringify(document);
    for (const kind of ["headers", "responses", "schemas"] as const) {
      const names = Object.keys(document.components[kind]);
      expect(names.filter((name) => !text.includes(`"#/components/${kind}/${name}"`))).toEqual([]);
    }
    expect(() => buildOpenApiDocument({ info, routes: [describeRead(read)], tags: {} })).toThrow(
      /tag Things/,
    );
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
  it("collects titled schemas once, and keeps a second shape of a name inline", () => {
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

describe("samples of an operation", () => {
  const operation = document.paths["/things/{id}"]?.get;

  it("has a curl command and a client call as samples of an operation", () => {
    expect(operation?.["x-codeSamples"]).toEqual([
      { lang: "Shell", label: "curl", source: 'curl "$THINGS_URL/things/12"' },
      {
        lang: "TypeScript",
        label: "TypeScript",
        source: `import { createSextant } from "@sextant-index/client";

const sextant = createSextant({ api: process.env.THINGS_URL ?? "http://127.0.0.1:1" });
console.log(await sextant.getThing({ id: "12" }));`,
      },
    ]);
  });

  it("has no client call as a sample of what the client does not offer", () => {
    const health = document.paths["/health"]?.get;
    expect(health?.["x-codeSamples"]).toMatchObject([{ label: "curl" }]);
    expect(health?.["x-client-call"]).toBeUndefined();
  });
});

describe("schemas as text", () => {
  it.each([
    [{ type: "string" }, "string"],
    [{ type: "array", items: { $ref: "#/components/schemas/Thing" } }, "Thing[]"],
    [{ anyOf: [{ type: "string" }, { type: "null" }] }, "string | null"],
    [{ type: "array", items: { anyOf: [{ type: "string" }, { type: "null" }] } }, "(string | null)[]"],
    [{ type: "object", properties: { a: { type: "integer" } } }, "{ a?: integer }"],
    [{ enum: [0, 1] }, "0 | 1"],
    [{}, "any"],
  ])("formats the schema %o as %s", (schema, text) => {
    expect(formatSchemaType(schema)).toBe(text);
  });
});

describe("the page", () => {
  const { html, contentSecurityPolicy: policy } = renderDocsPage(document);

  it("leads back to the first page of its server, also below a path", () => {
    expect(html).toContain('<a class="brand" href="./">');
  });

  it("escapes every text", () => {
    expect(html).toContain("<title>A &lt;script&gt;</title>");
    expect(html).toContain("One &lt;thing&gt;");
    expect(html).toContain("Which &lt;b&gt;one&lt;/b&gt;, such as <code>&lt;7&gt;</code>.");
    expect(html).toContain(
      'pre data-sample="curl" tabindex="0" aria-label="Request as code">curl -X POST &quot;$THINGS_URL/things&quot;',
    );
    expect(html.match(/<script/g)).toHaveLength(1);
  });

  it("offers the words of a parameter as a list, and fills in what is required", () => {
    expect(html).toContain(
      '<select id="getThing-include" data-name="include" data-in="query" data-type="string"><option value="">not set</option><option>provenance</option></select>',
    );
    expect(html).toContain(
      '<input id="getThing-id" data-name="id" data-in="path" data-type="string" required inputmode="numeric" value="12">',
    );
    expect(html).toContain(
      '<input id="getThing-block" data-name="block" data-in="query" data-type="string" inputmode="numeric" placeholder="7">',
    );
    expect(html).toContain("&quot;name&quot;: &quot;&lt;own&gt;&quot;");
  });

  it("loads nothing, and runs only what its policy allows", () => {
    expect(html).not.toMatch(/\b(?:src|href|action)\s*=\s*"(?:https?:)?\/\//);
    expect(html).not.toMatch(/\son\w+\s*=|\sstyle\s*=|javascript:/);
    for (const [tag, directive] of [
      ["style", "style-src"],
      ["script", "script-src"],
    ]) {
      const inside = new RegExp(`<${tag}(?: type="module")?>([^]*?)</${tag}>`).exec(html)?.[1] ?? "";
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
