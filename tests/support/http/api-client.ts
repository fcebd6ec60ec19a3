// A client that validates every response against /openapi.json: its status, its headers and every field of its body.
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { expect } from "vitest";
import type {
  OpenApiDocument,
  OpenApiOperation,
  OpenApiResponse,
} from "../../../src/http/openapi/document.ts";
import { DEFAULT_HEADERS } from "../../../src/http/response.ts";

export type ApiResponse = {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Parsed if the response is JSON. */
  readonly body: unknown;
};

type ApiRequest = {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Text and bytes are sent unchanged, anything else as JSON. */
  readonly body?: unknown;
};

export type ApiClient = {
  readonly document: OpenApiDocument;
  /** Sends a request, and fails unless the document allows the response. */
  call(target: string, request?: ApiRequest): Promise<ApiResponse>;
};

export async function openApiClient(url: string): Promise<ApiClient> {
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as OpenApiDocument;
  const check = createResponseChecker(document);
  return {
    document,
    async call(target, { method = "GET", headers = {}, body } = {}) {
      const raw = typeof body === "string" || body instanceof Uint8Array;
      const received = await fetch(url + target, {
        method,
        headers: body === undefined ? headers : { "content-type": "application/json", ...headers },
        ...(body === undefined ? {} : { body: raw ? (body as string) : JSON.stringify(body) }),
      });
      const text = await received.text();
      const isJson = isJsonType(received.headers.get("content-type"));
      const response: ApiResponse = {
        status: received.status,
        headers: received.headers,
        text,
        body: isJson && text !== "" ? JSON.parse(text) : undefined,
      };
      check(method, target, response);
      return response;
    },
  };
}

type FindValidator = (pointer: string) => ValidateFunction;

// Validators by the text of their document: the files of a worker start many services with few different documents.
const validatorsOfDocuments = new Map<string, FindValidator>();

/** Validators of the document's schemas by their pointer, each compiled when it is first needed. */
function openValidators(document: OpenApiDocument): FindValidator {
  const text = JSON.stringify(document);
  const known = validatorsOfDocuments.get(text);
  if (known) return known;
  // It ends at the first error: with all of them, one of many kinds of record is compared with every kind to the end.
  // Optimizing a validator takes longer than the few responses that it checks.
  const ajv = new Ajv2020({ strict: false, validateFormats: false, code: { optimize: false } });
  ajv.addSchema(closeObjects(document) as OpenApiDocument, "api");
  const validators = new Map<string, ValidateFunction>();
  const validatorOf: FindValidator = (pointer) => {
    const validator = validators.get(pointer) ?? ajv.compile({ $ref: `api#${pointer}` });
    validators.set(pointer, validator);
    return validator;
  };
  validatorsOfDocuments.set(text, validatorOf);
  return validatorOf;
}

/** Fails unless the document allows the response for the method and path. */
export function createResponseChecker(
  document: OpenApiDocument,
): (method: string, target: string, response: ApiResponse) => void {
  const validatorOf = openValidators(document);
  return (method, target, received) => {
    const where = `${method} ${target} → ${received.status}`;
    expect(received.headers.get("x-content-type-options"), where).toBe("nosniff");
    const found = findOperation(document, method, target);
    if (!found) {
      expect([404, 405, 204, 429], where).toContain(received.status);
      return;
    }
    const { responses } = found.operation;
    const isDeclared = responses[received.status] !== undefined;
    if (!isDeclared) expect(ERRORS_OF_ANY_ROUTE, `${where} is not declared`).toContain(received.status);
    const status = isDeclared ? String(received.status) : "default";
    const response = resolveResponse(document, responses[status]);
    checkHeaders(document, response.headers, received.headers, where);
    const content = Object.keys(response.content ?? {});
    const [type] = content;
    if (method === "HEAD" || type === undefined) {
      expect(received.text, where).toBe("");
      return;
    }
    expect(received.headers.get("content-type")?.split(";")[0], where).toBe(type);
    const reference = responses[status];
    const pointer =
      reference && "$ref" in reference
        ? reference.$ref.slice(1)
        : `/paths/${encodePointerPart(found.path)}/${found.method}/responses/${status}`;
    const validate = validatorOf(`${pointer}/content/${encodePointerPart(type)}/schema`);
    const value = received.body === undefined ? received.text : received.body;
    expect(validate(value) ? [] : validate.errors, `${where} ${received.text.slice(0, 500)}`).toEqual([]);
  };
}

// The statuses that `default` stands for: errors of the server itself, which every route may return.
const ERRORS_OF_ANY_ROUTE = [405, 408, 414, 431, 500, 504];

// Part of HTTP, of browser security or of CORS: the same for every route, and no part of an API's description.
const COMMON_HEADERS = [
  ...["cache-control", "connection", "content-length", "content-type", "date", "keep-alive", "vary"],
  ...["transfer-encoding", ...Object.keys(DEFAULT_HEADERS)],
  ...["content-digest", "signature", "signature-input"],
];

function checkHeaders(
  document: OpenApiDocument,
  described: Exclude<OpenApiResponse, { $ref: string }>["headers"],
  received: Headers,
  where: string,
): void {
  for (const [name, header] of Object.entries(described)) {
    const resolved =
      "$ref" in header ? document.components.headers[header.$ref.split("/").at(-1) ?? ""] : header;
    if (resolved?.required === true) expect(received.has(name), `${where} carries ${name}`).toBe(true);
  }
  const undeclared = [...received.keys()].filter(
    (name) => !(name in described) && !COMMON_HEADERS.includes(name),
  );
  expect(undeclared, `${where} has headers that are not declared`).toEqual([]);
}

/** The same document, in which an object with fields has no other fields: clients may allow more than we send. */
function closeObjects(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closeObjects);
  if (typeof value !== "object" || value === null) return value;
  const closed = Object.fromEntries(Object.entries(value).map(([key, part]) => [key, closeObjects(part)]));
  const hasFields = closed.type === "object" && typeof closed.properties === "object";
  return hasFields ? { additionalProperties: false, ...closed } : closed;
}

type Found = { readonly path: string; readonly method: string; readonly operation: OpenApiOperation };

/** The operation that a request reaches; literal segments win over parameters, as in the router. */
export function findOperation(document: OpenApiDocument, method: string, target: string): Found | undefined {
  const [path = ""] = target.split("?", 1);
  const operationMethod = method === "HEAD" ? "get" : method.toLowerCase();
  return Object.entries(document.paths)
    .filter(([template]) => patternOf(template).test(path))
    .sort(([a], [b]) => a.split("{").length - b.split("{").length)
    .flatMap(([template, methods]) => {
      const operation = methods[operationMethod];
      return operation ? [{ path: template, method: operationMethod, operation }] : [];
    })[0];
}

const patterns = new Map<string, RegExp>();

function patternOf(template: string): RegExp {
  const known = patterns.get(template);
  if (known) return known;
  const text = template.replace(/[.*+?^$()|[\]\\]/g, "\\$&").replace(/\{\w+\}/g, "[^/]*");
  const pattern = new RegExp(`^${text}$`);
  patterns.set(template, pattern);
  return pattern;
}

function resolveResponse(
  document: OpenApiDocument,
  response: OpenApiResponse | undefined,
): Exclude<OpenApiResponse, { $ref: string }> {
  if (!response) throw new Error("the document has no default response");
  if (!("$ref" in response)) return response;
  const { responses } = document.components as unknown as { responses: Record<string, OpenApiResponse> };
  return resolveResponse(document, responses[response.$ref.split("/").at(-1) ?? ""]);
}

function encodePointerPart(part: string): string {
  return encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1"));
}

/** JSON itself, and formats written in it, such as application/linkset+json. */
export function isJsonType(contentType: string | null): boolean {
  return /^application\/([\w.]+\+)?json\b/.test(contentType ?? "");
}
