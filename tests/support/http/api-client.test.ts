// The validator of responses: it accepts what the document declares and nothing else.
import { describe, expect, it } from "vitest";
import { buildOpenApiDocument } from "../../../src/http/openapi/document.ts";
import { describeEndpoint } from "../../../src/http/openapi/route-description.ts";
import { type ApiResponse, createResponseChecker } from "./api-client.ts";

// Open objects, as many of ours are: clients must accept fields that come later.
const thing = {
  type: "object",
  properties: { id: { type: "string" }, parts: { type: "array", items: { type: "object", properties: {} } } },
  required: ["id"],
};

const document = buildOpenApiDocument({
  info: { title: "Things", version: "1.0.0", description: "Things." },
  tags: { Things: "Things." },
  routes: [
    describeEndpoint({
      method: "GET",
      path: "/things",
      operationId: "getThing",
      summary: "A thing",
      description: "A thing.",
      tag: "Things",
      parameters: [],
      body: null,
      responses: { 200: thing },
      handle: async () => ({ status: 200, body: {} }),
    }),
  ],
});
const check = createResponseChecker(document);

type Change = {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body?: unknown;
};

function respond({ status = 200, headers = {}, body = { id: "1" } }: Change): ApiResponse {
  const all = {
    "content-type": "application/json",
    "x-content-type-options": "nosniff",
    "x-request-id": "1",
  };
  return { status, headers: new Headers({ ...all, ...headers }), text: JSON.stringify(body), body };
}

const error = { headers: { "x-error-code": "INTERNAL" }, body: { error: "It failed." } };

describe("the validator of responses", () => {
  it.each<[string, Change]>([
    ["a declared response", {}],
    ["an optional header", { status: 503, ...error, headers: { ...error.headers, "retry-after": "1" } }],
    ["an error of the server itself", { status: 500, ...error }],
  ])("accepts %s", (_what, change) => {
    check("GET", "/things", respond(change));
  });

  it.each<[string, Change, RegExp]>([
    ["a status", { status: 418, ...error }, /418 is not declared/],
    ["a success", { status: 202 }, /202 is not declared/],
    ["a header", { headers: { "x-more": "1" } }, /headers that are not declared/],
    ["a field", { body: { id: "1", more: 1 } }, /more/],
    ["a field of an element", { body: { id: "1", parts: [{ more: 1 }] } }, /more/],
    ["an error's field", { status: 500, ...error, body: { error: "It failed.", more: 1 } }, /more/],
  ])("rejects %s that the document does not declare", (_what, change, message) => {
    expect(() => check("GET", "/things", respond(change))).toThrow(message);
  });

  it("rejects a response without what the document requires", () => {
    expect(() => check("GET", "/things", respond({ body: {} }))).toThrow(/200 \{\}/);
    const { headers, ...response } = respond({});
    headers.delete("x-request-id");
    expect(() => check("GET", "/things", { ...response, headers })).toThrow(/carries x-request-id/);
  });
});
