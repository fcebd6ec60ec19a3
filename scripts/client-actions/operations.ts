// The operations that the client offers, read from the OpenAPI documents of both services.
import type { OpenApiDocument, OpenApiOperation } from "../../src/http/openapi/document.ts";
import type { OpenApiParameter } from "../../src/http/openapi/route-description.ts";
import type { JsonSchema } from "../../src/schema/json-schema.ts";

/** How the client runs an operation; see packages/client/operation.ts. */
type OperationKind = "read" | "list" | "document" | "write" | "signed" | "paid";

export type ClientOperation = {
  readonly id: string;
  readonly service: "api" | "portfolio";
  readonly method: string;
  readonly path: string;
  readonly kind: OperationKind;
  readonly summary: string;
  readonly description: string;
  /** The parameters that a caller passes by name, without what the client adds itself. */
  readonly parameters: readonly OpenApiParameter[];
  readonly body: { readonly schema: JsonSchema; readonly example: unknown } | null;
  readonly response: JsonSchema;
  /** The field of a page that holds its records; null unless the operation is a list. */
  readonly list: string | null;
  readonly takesBlock: boolean;
  readonly takesMinBlock: boolean;
};

/** Operations of a running service rather than of its data: health, metrics, pages. */
const SERVICE_TAG = "Service";
/** Set by `at`, `minBlock` and the iterator of a list, or by signing. Blocks of a snapshot are of several chains. */
const ADDED_BY_CLIENT: Readonly<Record<ClientOperation["service"], ReadonlySet<string>>> = {
  api: new Set(["block", "at", "min_block", "offset"]),
  portfolio: new Set(),
};

export function listClientOperations(documents: {
  readonly api: OpenApiDocument;
  /** The same in signed mode: which writes can be signed. */
  readonly signedApi: OpenApiDocument;
  readonly portfolio: OpenApiDocument;
}): readonly ClientOperation[] {
  const signed = new Set(
    operationsOf(documents.signedApi)
      .filter(({ operation }) => operation.security.some((each) => "signedWrite" in each))
      .map(({ operation }) => operation.operationId),
  );
  return [
    ...operationsOf(documents.api).map((each) => toClientOperation("api", each, signed)),
    ...operationsOf(documents.portfolio).map((each) => toClientOperation("portfolio", each, signed)),
    // The client's journal of payments keeps no bodies: it could not send such a request again.
  ].filter(({ kind, body }) => kind !== "paid" || body === null);
}

type PlacedOperation = {
  readonly path: string;
  readonly method: string;
  readonly operation: OpenApiOperation;
};

function operationsOf(document: OpenApiDocument): PlacedOperation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => !operation.tags.includes(SERVICE_TAG))
      .map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
}

function toClientOperation(
  service: ClientOperation["service"],
  { path, method, operation }: PlacedOperation,
  signed: ReadonlySet<string>,
): ClientOperation {
  const { parameters } = operation;
  const body = operation.requestBody?.content["application/json"];
  const response = responseSchema(operation);
  const list = listField(response);
  return {
    id: operation.operationId,
    service,
    method,
    path,
    list,
    response,
    kind: kindOf({ method, operation, response, list, signed }),
    summary: operation.summary,
    description: operation.description,
    parameters: parameters.filter((each) => each.in !== "header" && !ADDED_BY_CLIENT[service].has(each.name)),
    body: body === undefined ? null : { schema: body.schema, example: body.example },
    takesBlock: service === "api" && parameters.some(({ name }) => name === "block"),
    takesMinBlock: parameters.some(({ name }) => name === "x-min-block"),
  };
}

function kindOf(given: {
  readonly method: string;
  readonly operation: OpenApiOperation;
  readonly response: JsonSchema;
  readonly list: string | null;
  readonly signed: ReadonlySet<string>;
}): OperationKind {
  const { method, operation, response, list, signed } = given;
  if (operation.security.some((each) => "x402" in each)) return "paid";
  if (signed.has(operation.operationId)) return "signed";
  // A preflight has a body and changes nothing: like every read it is of a block.
  const isRead = method === "GET" || operation.parameters.some(({ name }) => name === "block");
  if (!isRead) return "write";
  if (list !== null) return "list";
  // Documents are the only responses of any form: what was published, byte for byte.
  return response.type === undefined && response.$ref === undefined ? "document" : "read";
}

function responseSchema({ operationId, responses }: OpenApiOperation): JsonSchema {
  const response = responses[200] ?? responses[201];
  const schema =
    response !== undefined && "content" in response
      ? response.content?.["application/json"]?.schema
      : undefined;
  if (schema === undefined) throw new Error(`${operationId} has no JSON response`);
  return schema;
}

/** The array next to `pagination`. */
function listField({ properties: fields = {} }: JsonSchema): string | null {
  if (fields.pagination === undefined) return null;
  return Object.keys(fields).find((name) => fields[name]?.type === "array") ?? null;
}
