// Endpoints over HTTP: bodies as raw bytes and as JSON, and error messages that name what is wrong.

import { afterEach, describe, expect, it } from "vitest";
import { NO_LIMITS } from "../../../tests/support/http/no-limits.ts";
import { createLog } from "../../lib/log.ts";
import type { Endpoint, EndpointRequest } from "../../schema/endpoint.ts";
import { addressParameter, uintParameter } from "../../schema/parameter.ts";
import { createHttpServer, type HttpServer } from "../server.ts";
import { addEndpointRoutes } from "./endpoints.ts";

const log = createLog({ level: "silent", terminal: false, name: "test" });
const open: HttpServer[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

const base = {
  operationId: "try",
  summary: "",
  description: "",
  tag: "",
  responses: { 200: { type: "object" } },
};

const body = {
  type: "object",
  properties: {
    account: addressParameter.json,
    amount: uintParameter().json,
    note: { type: "string", maxLength: 5 },
    plan: { type: "object" },
    rail: { type: "integer", enum: [0, 1] },
  },
  required: ["account"],
};

async function start(endpoint: Partial<Endpoint>): Promise<{ url: string; seen: EndpointRequest[] }> {
  const server = createHttpServer({
    ...NO_LIMITS,
    log,
    bodyBytesMax: 1_024,
    requestMsMax: 5_000,
    checkReadiness: async () => ({ ready: true }),
  });
  open.push(server);
  const seen: EndpointRequest[] = [];
  addEndpointRoutes(server.app, [
    {
      ...base,
      method: "POST",
      path: "/things/:id",
      parameters: [
        { name: "id", in: "path", required: true, kind: uintParameter(), description: "" },
        { name: "block", in: "query", required: false, kind: uintParameter(), description: "" },
      ],
      body,
      handle: async (request) => {
        seen.push(request);
        return { status: 201, body: { done: true } };
      },
      ...endpoint,
    },
  ]);
  return { url: await server.listen({ host: "127.0.0.1", port: 0, portVariable: "API_PORT" }), seen };
}

const ACCOUNT = `0x${"ab".repeat(20)}`;

function post(
  url: string,
  text: string | Uint8Array,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(`${url}/things/7`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: text as string,
  });
}

describe("a body", () => {
  const padded = (bytes: number) => {
    const text = JSON.stringify({ account: ACCOUNT });
    return text + " ".repeat(bytes - text.length);
  };

  it.each([
    ["the limit of the endpoint", { bodyBytesMax: 500 }, 500],
    ["the limit of the server if that is below the default", {}, 1_024],
    ["the limit of the server if that is below the endpoint's", { bodyBytesMax: 10_000 }, 1_024],
  ])("accepts a body as large as %s", async (_name, declared, bytes) => {
    const { url, seen } = await start(declared);
    expect((await post(url, padded(bytes))).status).toBe(201);
    const rejected = await post(url, padded(bytes + 1));
    expect([rejected.status, rejected.headers.get("x-error-code")]).toEqual([413, "BODY_TOO_LARGE"]);
    expect(seen).toHaveLength(1);
  });

  it("does not read a body without a route", async () => {
    const { url } = await start({});
    for (const [method, path, status] of [
      ["POST", "/nothing", 404],
      ["PUT", "/things/7", 405],
    ] as const) {
      const headers = { "content-type": "application/json" };
      expect((await fetch(url + path, { method, headers, body: padded(2_000) })).status).toBe(status);
    }
  });

  it("passes a body on parsed and byte for byte", async () => {
    const { url, seen } = await start({});
    const text = `{ "account": "${ACCOUNT}",\n "note": "é", "other": 1.50 }`;
    const response = await fetch(`${url}/things/7?block=12&other=1`, {
      method: "POST",
      headers: { "content-type": "Application/JSON; charset=UTF-8", "x-write-version": "1" },
      body: text,
    });
    expect([response.status, await response.text()]).toEqual([201, '{"done":true}']);
    expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(seen[0]?.rawBody.equals(Buffer.from(text))).toBe(true);
    expect(seen[0]?.body).toEqual({ account: ACCOUNT, note: "é", other: 1.5 });
    expect(seen[0]?.values).toEqual({ id: "7", block: "12" });
    expect(seen[0]?.headers["x-write-version"]).toBe("1");
  });

  it.each([
    ["it has another type", "{}", { "content-type": "text/plain" }, 415, /application\/json/],
    ["it has almost the right type", "{}", { "content-type": "application/json5" }, 415, /application\/json/],
    ["it has another charset", "{}", { "content-type": "application/json; charset=latin1" }, 415, /UTF-8/],
    ["it is too large", JSON.stringify({ account: "x".repeat(2_000) }), {}, 413, /larger than allowed/],
    ["it is empty", "", {}, 400, /not valid JSON/],
    ["it is malformed", "{", {}, 400, /not valid JSON/],
    ["it is not UTF-8", new Uint8Array([0x22, 0xff, 0x22]), {}, 400, /not valid UTF-8/],
    ["it repeats a key", `{"account":"${ACCOUNT}","account":"${ACCOUNT}"}`, {}, 400, /twice/],
    ["it is not an object", "[]", {}, 400, /^The body must be an object\.$/],
    ["it lacks a required field", "{}", {}, 400, /^account is required\.$/],
    [
      "it has a wrong address",
      '{"account":"0x12"}',
      {},
      400,
      /^account must be an address: 0x followed by 40/,
    ],
    [
      "it has a wrong number",
      `{"account":"${ACCOUNT}","amount":"1e3"}`,
      {},
      400,
      /^amount must be a whole number/,
    ],
    [
      "it has a field of a wrong type",
      `{"account":"${ACCOUNT}","plan":[]}`,
      {},
      400,
      /^plan must be an object\.$/,
    ],
    [
      "it has a text that is too long",
      `{"account":"${ACCOUNT}","note":"123456"}`,
      {},
      400,
      /^note must have at most 5/,
    ],
    [
      "it has a value outside an enumeration",
      `{"account":"${ACCOUNT}","rail":2}`,
      {},
      400,
      /^rail must be one of 0, 1\.$/,
    ],
  ])("rejects a body if %s", async (_name, text, headers, status, sentence) => {
    const { url, seen } = await start({});
    const response = await post(url, text, headers as Record<string, string>);
    const rejection = (await response.json()) as { error: string };
    expect([response.status, Object.keys(rejection)]).toEqual([status, ["error"]]);
    expect(rejection.error).toMatch(sentence);
    expect(seen).toEqual([]);
  });

  it("takes an empty string in an optional field for none, and in a required one for wrong", async () => {
    const { url, seen } = await start({});
    const sent = { account: ACCOUNT, amount: "", note: "", plan: "", other: "" };
    expect((await post(url, JSON.stringify(sent))).status).toBe(201);
    expect(seen[0]?.body).toEqual({ account: ACCOUNT, other: "" });
    expect(seen[0]?.rawBody.toString()).toBe(JSON.stringify(sent));
    expect((await post(url, JSON.stringify({ account: "" }))).status).toBe(400);
  });

  it("accepts any body, or none, for an endpoint without one", async () => {
    const { url, seen } = await start({ body: null });
    expect((await fetch(`${url}/things/7`, { method: "POST" })).status).toBe(201);
    expect((await post(url, "anything", { "content-type": "text/plain" })).status).toBe(201);
    expect(seen.map(({ body: parsed, rawBody: bytes }) => [parsed, bytes.toString()])).toEqual([
      [undefined, ""],
      [undefined, "anything"],
    ]);
  });
});

describe("parameters", () => {
  it.each([
    ["/things/x", /^id must be/],
    ["/things/7?block=-1", /^block must be/],
    ["/things/7?block=1&block=1", /twice/],
  ])("rejects invalid parameters: %s", async (path, sentence) => {
    const { url } = await start({ body: null });
    const response = await fetch(`${url}${path}`, { method: "POST" });
    expect(response.status).toBe(400);
    expect(((await response.json()) as { error: string }).error).toMatch(sentence);
  });
});

describe("the preHandler of an endpoint", () => {
  it("ends the request before anything is validated", async () => {
    const heads: unknown[] = [];
    const { url, seen } = await start({
      method: "GET",
      body: null,
      preHandler: ({ query, headers }) => {
        heads.push([query, headers["x-paid"]]);
        return headers["x-paid"] === undefined ? { status: 402, body: { error: "Pay." } } : null;
      },
    });
    const unpaid = await fetch(`${url}/things/x?block=1&block=1`);
    expect([unpaid.status, await unpaid.json()]).toEqual([402, { error: "Pay." }]);
    expect((await fetch(`${url}/things/7`, { method: "HEAD" })).status).toBe(402);
    const paid = { headers: { "x-paid": "yes" } };
    expect((await fetch(`${url}/things/x?a=1`, paid)).status).toBe(400);
    expect(seen).toEqual([]);
    expect((await fetch(`${url}/things/7?a=1`, paid)).status).toBe(201);
    expect(heads).toEqual([
      ["block=1&block=1", undefined],
      ["", undefined],
      ["a=1", "yes"],
      ["a=1", "yes"],
    ]);
  });
});

describe("a response", () => {
  it("responds with bytes and headers, and 304 to a matching ETag", async () => {
    const bytes = Buffer.from('{"n":9007199254740993}');
    const headers = { "content-type": "application/json", etag: '"abc"' };
    const { url } = await start({
      method: "GET",
      body: null,
      handle: async () => ({ status: 200, body: bytes, headers }),
    });
    const first = await fetch(`${url}/things/1`);
    expect([first.status, await first.text()]).toEqual([200, bytes.toString()]);
    expect(first.headers.get("content-type")).toBe("application/json");
    const again = await fetch(`${url}/things/1`, { headers: { "if-none-match": 'W/"x", W/"abc"' } });
    expect([again.status, await again.text()]).toEqual([304, ""]);
    expect((await fetch(`${url}/things/1`, { method: "HEAD" })).status).toBe(200);
  });
});

describe("a schema that does not compile", () => {
  it("fails at start", async () => {
    await expect(start({ body: { type: "objekt" } })).rejects.toThrow(/type/);
  });
});
