// Requests of an operation as code: a curl command and a call of the client, which readers of OpenAPI show.
import type { JsonSchema } from "../../schema/json-schema.ts";
import {
  type ClientCall,
  formatClientCall,
  formatCurl,
  type SampleGuard,
  type SampleRequest,
} from "./docs-page/request-samples.ts";
import type { OpenApiParameter } from "./route-description.ts";

/** The part of an OpenAPI operation that samples need. */
type DescribedOperation = {
  readonly operationId: string;
  readonly parameters: readonly OpenApiParameter[];
  readonly security: readonly JsonSchema[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content } | JsonSchema>>;
};
type Content = Readonly<Record<string, { readonly schema: JsonSchema; readonly example?: unknown }>>;

/** The ways in which a program calls the service. */
export type SampleService = {
  /** The environment variable that names its URL, and the URL in a local run. */
  readonly variable: string;
  readonly fallback: string;
  /** Null if the client cannot call the service. */
  readonly client: {
    /** The option of the client that takes the URL. */
    readonly option: "api" | "portfolio";
    /** The terms of a payment, if something is sold. */
    readonly guard?: SampleGuard;
  } | null;
};

/** The extensions of an operation that show its example request. */
export function describeSamples(
  operation: DescribedOperation,
  place: { readonly method: string; readonly path: string },
  { client, ...base }: SampleService,
): Readonly<Record<`x-${string}`, unknown>> {
  const request = exampleRequest(operation, place);
  const curl = { lang: "Shell", label: "curl", source: formatCurl(base, request) };
  if (client === null) return { "x-codeSamples": [curl] };
  const call = describeCall(operation, client);
  // The client's journal of payments keeps no bodies, so that it does not sell such a request.
  if (call.kind === "paid" && operation.requestBody !== undefined) return { "x-codeSamples": [curl] };
  const source = formatClientCall(base, call, request);
  return {
    "x-codeSamples": [curl, { lang: "TypeScript", label: "TypeScript", source }],
    "x-client-call": call,
  };
}

/** The request with what is required, which is what the form of the page begins with. */
function exampleRequest(
  { parameters, requestBody }: DescribedOperation,
  { method, path }: { readonly method: string; readonly path: string },
): SampleRequest {
  const body = requestBody?.content["application/json"];
  return {
    method,
    path,
    parameters: parameters
      .filter(({ required, example }) => required === true && example !== undefined)
      .map(({ name, in: location, schema, example }) => ({
        name,
        in: location,
        type: String(schema.type ?? "string"),
        value: String(example),
      })),
    body: body === undefined ? null : JSON.stringify(body.example ?? {}, null, 2),
  };
}

// The client sets these itself, or takes them as an option.
const SET_BY_CLIENT = ["block", "min_block", "offset"];

function describeCall(
  { operationId, parameters, security, responses }: DescribedOperation,
  { option, guard }: NonNullable<SampleService["client"]>,
): ClientCall {
  const schemes = security.flatMap((each) => Object.keys(each));
  const isPaid = schemes.includes("x402");
  const kind = isPaid ? "paid" : schemes.length > 0 ? "signed" : isList(responses) ? "list" : "read";
  const passed = parameters.filter((each) => each.in !== "header" && !SET_BY_CLIENT.includes(each.name));
  const limits = isPaid && guard !== undefined ? { guard } : {};
  return { action: operationId, option, kind, takesParameters: passed.length > 0, ...limits };
}

/** Lists have a `pagination` alongside their records. */
function isList(responses: DescribedOperation["responses"]): boolean {
  const content = responses[200]?.content as Content | undefined;
  const { properties } = content?.["application/json"]?.schema ?? {};
  return typeof properties === "object" && properties !== null && "pagination" in properties;
}
