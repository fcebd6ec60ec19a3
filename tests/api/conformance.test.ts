// The API matches the specification, table by table, and its own OpenAPI document.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { requestAllExamples } from "../../scripts/api-examples/sample-requests.ts";
import { siteFiles } from "../../src/http/icon.ts";
import type { OpenApiDocument } from "../../src/http/openapi/document.ts";
import type { JsonSchema } from "../../src/schema/json-schema.ts";
import { type DescribedSchemas, describedSchemas } from "../support/http/described-schemas.ts";
import { SHARED_HISTORY_MS_MAX } from "../support/index/simulated-history.ts";
import { openReadStage, type ReadStage } from "./api-stage.ts";
import { readSpecification } from "./specification.ts";

const specification = readSpecification();
let stage: ReadStage;
let document: OpenApiDocument;
let schemas: DescribedSchemas;

beforeAll(async () => {
  stage = await openReadStage();
  document = stage.client.document;
  schemas = describedSchemas(document);
}, SHARED_HISTORY_MS_MAX);

afterAll(async () => {
  await stage?.close();
});

function itemSchema(path: string, key: string): JsonSchema {
  return schemas.followed(schemas.fieldsOf(schemas.responseSchema("GET", path))[key]?.items as JsonSchema);
}

/** The first word of a type in the specification is its JSON type; "or null" adds one. */
function specifiedTypes(text: string): string[] {
  const [word = ""] = text.split(/[\s,;(]/);
  return [word, ...(text.includes("or null") ? ["null"] : [])].sort();
}

// Part of a record only on request: the schema allows them and requires none.
const PROVENANCE = ["tx_hash", "log_index", "block_hash", "block_timestamp"];
const REQUIREMENTS = ["requirements", "result_hash", "trace_hash", "attestation_id"];
// Records without a block of their own name it on request, too.
const ON_REQUEST = [
  ...[...PROVENANCE, "block_number", ...REQUIREMENTS],
  ...["action_parts", "reason_parts", "proofs"],
];

function expectRecord(name: string, schema: JsonSchema, additions: readonly string[] = []): void {
  const specified = specification.records[name] ?? {};
  const fields = schemas.fieldsOf(schema);
  const optional = Object.keys(fields).filter((key) => ON_REQUEST.includes(key) && !(key in specified));
  expect(Object.keys(fields).filter((key) => !optional.includes(key))).toEqual([
    ...Object.keys(specified),
    ...additions,
  ]);
  expect(schemas.followed(schema).required).toEqual([...Object.keys(specified), ...additions]);
  for (const [key, type] of Object.entries(specified)) {
    expect([key, schemas.typesOf(fields[key])]).toEqual([key, specifiedTypes(type)]);
  }
}

describe("endpoints", () => {
  it("parses endpoints, records and errors from the specification", () => {
    expect(specification.endpoints.length).toBe(40);
    expect(Object.keys(specification.records)).toEqual([
      "Agent",
      "Intent",
      "Preflight result",
      "Quote",
      "Transaction explanation",
    ]);
    expect(specification.errors.length).toBe(8);
  });

  it.each(specification.endpoints)(
    "describes $method $path as specified",
    ({ method, path, query, body, created }) => {
      const { parameters, requestBody, responses } = schemas.operation(method, path);
      const described = parameters.map((parameter) => `${parameter.in} ${parameter.name}`);
      expect(described).toEqual(expect.arrayContaining(query.map((name) => `query ${name}`)));
      for (const [, name] of path.matchAll(/\{(\w+)\}/g)) expect(described).toContain(`path ${name}`);
      const schema = requestBody?.content["application/json"]?.schema;
      expect(Object.keys(schemas.fieldsOf(schema ?? {}))).toEqual(expect.arrayContaining([...body]));
      expect(Object.keys(responses)).toContain(created ? "201" : responses[200] ? "200" : "201");
    },
  );

  it.each(specification.endpoints.filter(({ responseKeys }) => responseKeys.length > 0))(
    "$method $path returns the keys of the specification",
    ({ method, path, responseKeys }) => {
      expect(Object.keys(schemas.fieldsOf(schemas.responseSchema(method, path)))).toEqual(responseKeys);
    },
  );

  it("declares the owner of /agents as required", () => {
    const required = schemas.operation("GET", "/agents").parameters.filter((each) => each.required);
    expect(required.map(({ name }) => name)).toEqual(["owner"]);
  });

  it("describes every endpoint, except site files and pages for people", () => {
    const described = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ":$1")}`),
    );
    const files = siteFiles.map(({ path }) => `GET ${path}`);
    const pages = /^GET \/(explorer(\/.*)?)?$/;
    const registered = stage.routes.filter(
      (route) => !route.startsWith("HEAD ") && !files.includes(route) && !pages.test(route),
    );
    expect(described.sort()).toEqual([...new Set(registered)].sort());
  });
});

describe("records", () => {
  it("describes Agent as specified", () => {
    expectRecord("Agent", schemas.responseSchema("GET", "/agents/{agentId}"));
    expectRecord("Agent", itemSchema("/agents", "agents"));
  });

  it("describes Intent as specified, with its metadata when read alone", () => {
    expectRecord("Intent", schemas.responseSchema("GET", "/intents/{id}"), ["metadata"]);
    expectRecord("Intent", itemSchema("/intents", "intents"));
  });

  it("describes the fill of an intent as specified", () => {
    const specified = specification.named("Intent", "Fill object: ");
    const [fill] = (schemas.fieldsOf(schemas.responseSchema("GET", "/intents/{id}")).fill?.anyOf ??
      []) as JsonSchema[];
    const fields = schemas.fieldsOf(fill ?? {});
    expect(Object.keys(fields).filter((key) => !REQUIREMENTS.includes(key))).toEqual(specified);
    expect(schemas.followed(fill).required).toEqual(specified);
    for (const key of specified) expect(schemas.typesOf(fields[key])).toEqual(["string"]);
  });

  it("describes Intent metadata as specified", () => {
    const specified = specification.named("Intent metadata (offchain)", "All optional strings: ");
    const put = schemas.operation("PUT", "/intents/{id}/metadata").requestBody?.content["application/json"]
      ?.schema;
    const reserve = schemas.operation("POST", "/intents/metadata").requestBody?.content["application/json"]
      ?.schema;
    expect(Object.keys(schemas.fieldsOf(put ?? {}))).toEqual(specified);
    expect(Object.keys(schemas.fieldsOf(reserve ?? {}))).toEqual(["intent_hash", "owner", ...specified]);
    expect(schemas.followed(put).required ?? []).toEqual([]);
  });

  it("describes the creation of a bid as specified", () => {
    const specified = specification.named("Bid (mirrors onchain bid events)", "Create fields: ");
    const body = schemas.operation("POST", "/intents/{id}/bids").requestBody?.content["application/json"]
      ?.schema;
    expect(Object.keys(schemas.fieldsOf(body ?? {}))).toEqual(specified);
  });

  it.each([
    ["Policy (element of account policies)", "SPEND_LIMIT", ["token", "max_per_day"]],
    ["Policy (element of account policies)", "TARGET_ALLOWLIST", ["target", "allowed"]],
  ])("describes as specified: %s, %s", (heading, type, between) => {
    expect(specification.section(heading)).toContain(`| ${type} | policy_type, ${between[0]} `);
    const policies = (itemSchema("/accounts/{address}/policies", "policies").oneOf ??
      itemSchema("/accounts/{address}/policies", "policies").anyOf) as JsonSchema[];
    const found = policies
      .map((each) => schemas.fieldsOf(each))
      .find(({ policy_type }) => JSON.stringify(policy_type).includes(`"${type}"`));
    const keys = Object.keys(found ?? {}).filter((key) => !PROVENANCE.includes(key));
    expect(keys).toEqual(["policy_type", ...between, "block_number"]);
    expect(schemas.typesOf(found?.[between[1] ?? ""])).toEqual([
      type === "SPEND_LIMIT" ? "string" : "boolean",
    ]);
  });

  it("describes Preflight result as specified", () => {
    expectRecord("Preflight result", schemas.responseSchema("POST", "/preflight"));
  });

  it("describes Quote as specified", () => {
    expectRecord("Quote", schemas.responseSchema("GET", "/quotes/{quoteHash}"));
  });

  it("describes Commerce analytics as specified", () => {
    const heading = "Commerce analytics (GET /analytics/commerce)";
    const fields = schemas.fieldsOf(schemas.responseSchema("GET", "/analytics/commerce"));
    const summary = specification.named(heading, "all values strings: ");
    const arrays = specification.named(heading, "Further arrays: ");
    expect(Object.keys(fields)).toEqual(["summary", ...arrays]);
    expect(Object.keys(schemas.fieldsOf(fields.summary ?? {}))).toEqual(summary);
    for (const field of Object.values(schemas.fieldsOf(fields.summary ?? {})))
      expect(schemas.typesOf(field)).toEqual(["string"]);
    for (const array of arrays) expect(schemas.typesOf(fields[array])).toEqual(["array"]);
  });

  it("describes Transaction explanation as specified", () => {
    expectRecord("Transaction explanation", schemas.responseSchema("GET", "/tx/{hash}/explain"));
    const [event] = [
      schemas.fieldsOf(schemas.responseSchema("GET", "/tx/{hash}/explain")).events?.items as JsonSchema,
    ];
    const types = Object.entries(schemas.fieldsOf(event ?? {})).map(([key, schema]) => [
      key,
      ...schemas.typesOf(schema),
    ]);
    expect(types).toEqual([
      ["eventName", "string"],
      ["args", "object"],
      ["description", "string"],
    ]);
  });

  it.each([
    ["Catalog", "/catalogs"],
    ["Quote request", "/quote-requests"],
    ["Quote response", "/quote-responses"],
  ])("describes a published %s as specified", (name, path) => {
    const row = new RegExp(`^\\| ${name} \\| \\w+ \\| (.*) \\|$`, "m").exec(
      specification.section("Hosted documents"),
    );
    const specified = (row?.[1] ?? "").split(", ").map((field) => field.replace(" (integer)", ""));
    const fields = schemas.fieldsOf(schemas.responseSchema("POST", path, "201"));
    expect(Object.keys(fields)).toEqual(specified);
    expect(schemas.typesOf(fields.size_bytes)).toEqual(["integer"]);
    expect(Object.keys(schemas.fieldsOf(schemas.responseSchema("GET", `${path}/{hash}/metadata`)))).toEqual([
      ...specified,
      "created_at",
      "updated_at",
    ]);
  });

  it("describes the pagination of every list as integers", () => {
    const lists = Object.entries(document.paths).flatMap(([path, { get }]) =>
      get?.parameters.some(({ name }) => name === "offset") ? [path] : [],
    );
    expect(lists.length).toBeGreaterThanOrEqual(14);
    for (const path of lists) {
      const pagination = schemas.fieldsOf(
        schemas.fieldsOf(schemas.responseSchema("GET", path)).pagination ?? {},
      );
      expect(Object.keys(pagination)).toEqual(["limit", "offset", "count", "next_cursor"]);
      for (const key of ["limit", "offset", "count"])
        expect(schemas.typesOf(pagination[key])).toEqual(["integer"]);
    }
  });
});

const HASH = `0x${"5e".repeat(32)}`;
const BAD_IDS = [
  "abc",
  "-1",
  "1.5",
  "0x1",
  "1e3",
  "%20",
  "01",
  "٣",
  (2n ** 256n).toString(),
  "9".repeat(500),
];
const BAD_ADDRESSES = ["abc", "0x12", `0x${"g".repeat(40)}`, `${"a".repeat(40)}`, `0x${"a".repeat(41)}`];
const BAD_HASHES = ["abc", "0x12", `0x${"g".repeat(64)}`, HASH.slice(2), `${HASH}00`];

type Try = { readonly target: string; readonly method?: string; readonly body?: unknown };

// The requests for each condition of the table; a row without requests fails.
const CONDITIONS: Readonly<Record<string, (path: string) => Try[]>> = {
  "invalid ID": (path) => BAD_IDS.map((id) => ({ target: path.replace(/:\w+/, id) })),
  "not found": (path) => [
    { target: path.replace(":hash", HASH).replace(/:\w+/, (2n ** 256n - 1n).toString()) },
  ],
  "owner missing or invalid": (path) => [
    { target: path },
    { target: `${path}?owner=` },
    ...BAD_ADDRESSES.map((owner) => ({ target: `${path}?owner=${owner}` })),
  ],
  "invalid status": (path) =>
    ["", "done", "opened", "open,filled"].map((status) => ({ target: `${path}?status=${status}` })),
  "invalid address": (path) =>
    BAD_ADDRESSES.map((address) => ({ target: path.replace(":address", address) })),
  "invalid hash": (path) => BAD_HASHES.map((hash) => ({ target: path.replace(":hash", hash) })),
  "expected_hash differs from computed hash": () => [
    { method: "POST", target: "/catalogs", body: { catalog_json: "{}", expected_hash: HASH } },
    { method: "POST", target: "/quote-requests", body: { quote_request_json: "{}", expected_hash: HASH } },
    { method: "POST", target: "/quote-responses", body: { quote_response_json: "{}", expected_hash: HASH } },
  ],
};

describe("errors", () => {
  it.each(specification.errors)(
    "responds as specified: $status when $condition",
    async ({ status, endpoints, condition }) => {
      const requests = CONDITIONS[condition];
      if (!requests) throw new Error(`nothing tries "${condition}"`);
      // The status of a rejected document is our own decision.
      const expected = status === "rejected" ? 409 : Number(status);
      for (const path of endpoints) {
        const tries = requests(path.replace(/^GET /, ""));
        expect(tries.length).toBeGreaterThan(0);
        for (const { target, ...request } of tries) {
          const response = await stage.client.call(target, request);
          expect([target, response.status]).toEqual([target, expected]);
          expect(Object.keys(response.body as object)).toEqual(["error"]);
        }
      }
    },
  );
});

describe("limits", () => {
  it("applies the specified limits to limit and offset", async () => {
    expect(specification.section("8. Limits")).toContain("| limit | 50 | 100 |");
    expect(specification.section("8. Limits")).toContain("| offset | 0 |");
    const pagination = async (target: string) =>
      ((await stage.client.call(target)).body as { pagination: Record<string, number> }).pagination;
    expect(await pagination("/trust-signals")).toMatchObject({ limit: 50, offset: 0 });
    expect(await pagination("/trust-signals?limit=100&offset=3")).toMatchObject({ limit: 100, offset: 3 });
    expect(await pagination("/trust-signals?limit=101")).toMatchObject({ limit: 100 });
  });
});

describe("responses", () => {
  it("responds on every route as the OpenAPI document says", async () => {
    const samples = await requestAllExamples((method, target, body) =>
      stage.client.call(target, { method, ...(body === undefined ? {} : { body }) }),
    );
    const described = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const requested = samples.map(({ method, path }) => `${method} ${path}`);
    expect([...new Set(requested)].sort()).toEqual(described.sort());
    // Again by HEAD, as of the head block, and with If-None-Match.
    const reads = samples.filter(({ method }) => method === "GET");
    for (const { target, path } of reads) {
      expect((await stage.client.call(target, { method: "HEAD" })).status).toBe(200);
      const response = await stage.client.call(target);
      const block = response.headers.get("x-indexed-block");
      // Pages of events go on behind a cursor, and are neither validated nor as of a block.
      if (block === null || path === "/events") continue;
      const etag = response.headers.get("etag") ?? "";
      expect((await stage.client.call(target, { headers: { "if-none-match": etag } })).status).toBe(304);
      const parameters = schemas.operation("GET", path).parameters.map(({ name }) => name);
      const joint = target.includes("?") ? "&" : "?";
      if (parameters.includes("block")) {
        expect((await stage.client.call(`${target}${joint}block=${block}`)).text).toBe(response.text);
      }
      if (parameters.includes("include")) {
        expect((await stage.client.call(`${target}${joint}include=provenance`)).text).toContain(
          "block_timestamp",
        );
      }
    }
  });
});
