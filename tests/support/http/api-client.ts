// A client of the API that believes its description: every answer is held against /openapi.json.
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { expect } from "vitest";
import type {
  OpenApiDocument,
  OpenApiOperation,
  OpenApiResponse,
} from "../../../src/http/openapi/document.ts";

export type ApiResponse = {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Parsed where the answer says that it is JSON. */
  readonly body: unknown;
};

export type ApiRequest = {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as it is when text or bytes, as JSON otherwise. */
  readonly body?: unknown;
};

export type ApiClient = {
  readonly document: OpenApiDocument;
  /** Asks, and fails unless the answer is one that the description allows. */
  call(target: string, request?: ApiRequest): Promise<ApiResponse>;
};

export async function openApiClient(url: string): Promise<ApiClient> {
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as OpenApiDocument;
  const check = createResponseChecker(document);
  return {
    document,
    async call(target, { method = "GET", headers = {}, body } = {}) {
      const raw = typeof body === "string" || body instanceof Uint8Array;
      const response = await fetch(url + target, {
        method,
        headers: body === undefined ? headers : { "content-type": "application/json", ...headers },
        ...(body === undefined ? {} : { body: raw ? (body as string) : JSON.stringify(body) }),
      });
      const text = await response.text();
      const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
      const answer = {
        status: response.status,
        headers: response.headers,
        text,
        body: isJson && text !== "" ? JSON.parse(text) : undefined,
      };
      check(method, target, answer);
      return answer;
    },
  };
}

/** Fails unless an answer is one that the description allows for that method and path. */
export function createResponseChecker(
  document: OpenApiDocument,
): (method: string, target: string, answer: ApiResponse) => void {
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
  ajv.addSchema(document, "api");
  const validators = new Map<string, ValidateFunction>();
  const validatorOf = (pointer: string) => {
    const known = validators.get(pointer) ?? ajv.compile({ $ref: `api#${pointer}` });
    validators.set(pointer, known);
    return known;
  };
  return (method, target, answer) => {
    const where = `${method} ${target} → ${answer.status}`;
    expect(answer.headers.get("x-content-type-options"), where).toBe("nosniff");
    const found = findOperation(document, method, target);
    if (!found) {
      expect([404, 405, 204, 429], where).toContain(answer.status);
      return;
    }
    const { responses } = found.operation;
    const status = responses[answer.status] ? String(answer.status) : "default";
    const response = resolved(document, responses[status]);
    for (const header of Object.keys(response.headers)) {
      expect(answer.headers.has(header), `${where} carries ${header}`).toBe(true);
    }
    const content = Object.keys(response.content ?? {});
    const [type] = content;
    if (method === "HEAD" || type === undefined) {
      expect(answer.text, where).toBe("");
      return;
    }
    expect(answer.headers.get("content-type")?.split(";")[0], where).toBe(type);
    const reference = responses[status];
    const place =
      reference && "$ref" in reference
        ? reference.$ref.slice(1)
        : `/paths/${pointerPart(found.path)}/${found.method}/responses/${status}`;
    const validate = validatorOf(`${place}/content/${pointerPart(type)}/schema`);
    const value = answer.body === undefined ? answer.text : answer.body;
    expect(validate(value) ? [] : validate.errors, `${where} ${answer.text.slice(0, 500)}`).toEqual([]);
  };
}

type Found = { readonly path: string; readonly method: string; readonly operation: OpenApiOperation };

/** The described operation that a request reaches; literal segments go before parameters, as in the router. */
export function findOperation(document: OpenApiDocument, method: string, target: string): Found | undefined {
  const [path = ""] = target.split("?", 1);
  const wanted = method === "HEAD" ? "get" : method.toLowerCase();
  return Object.entries(document.paths)
    .filter(([template]) => patternOf(template).test(path))
    .sort(([a], [b]) => a.split("{").length - b.split("{").length)
    .flatMap(([template, methods]) => {
      const operation = methods[wanted];
      return operation ? [{ path: template, method: wanted, operation }] : [];
    })[0];
}

function patternOf(template: string): RegExp {
  const pattern = template.replace(/[.*+?^$()|[\]\\]/g, "\\$&").replace(/\{\w+\}/g, "[^/]*");
  return new RegExp(`^${pattern}$`);
}

function resolved(
  document: OpenApiDocument,
  response: OpenApiResponse | undefined,
): Exclude<OpenApiResponse, { $ref: string }> {
  if (!response) throw new Error("the description has no default response");
  if (!("$ref" in response)) return response;
  const { responses } = document.components as unknown as { responses: Record<string, OpenApiResponse> };
  return resolved(document, responses[response.$ref.split("/").at(-1) ?? ""]);
}

function pointerPart(part: string): string {
  return encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1"));
}
