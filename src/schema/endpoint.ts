// An endpoint that is not a plain read of the index: method, path, body, and handler; and responses that stay open.
import type { JsonSchema, TypeOf } from "./json-schema.ts";
import type { Operation, Parameter, ParameterValues, ValuesOf } from "./parameter.ts";
import type { MinBlock } from "./reads/read.ts";

export type EndpointRequest<Values = ParameterValues, Body = unknown> = {
  /** Parsed path and query parameters by name. */
  readonly values: Values;
  /** The body byte for byte; empty without one. */
  readonly rawBody: Buffer;
  /** The body parsed strictly and validated by the endpoint's schema; undefined if the endpoint takes none. */
  readonly body: Body;
  /** Lower-case names. The values of a repeated header are joined by commas. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The client, as limits per client count it. */
  readonly client: string;
  /** Whether the client gets the head of the response only. */
  readonly isHead: boolean;
  /** Only with `readsIndex`: what is read must not be older. */
  readonly minBlock: MinBlock;
};

/** A request before its parameters and body are parsed. */
export type RequestHead = Pick<EndpointRequest, "headers" | "client" | "isHead"> & {
  /** As sent, without the leading `?`; empty without a query. */
  readonly query: string;
};

export type EndpointResponse = {
  readonly status: number;
  /** JSON, or bytes that are sent unchanged. */
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
};

/** A connection that stays open, on which text is sent as it comes. */
export type TextStream = {
  /** Aborts when the connection is gone, by either side. */
  readonly signal: AbortSignal;
  /** The bytes that neither the client nor the system has taken yet. */
  readonly bufferedBytes: number;
  /** When text was last sent, in milliseconds of performance.now(). */
  readonly sentMs: number;
  send(text: string): void;
  /** Resolves when everything has left the process; never if the client takes nothing. */
  drained(): Promise<void>;
  /** Sends what is left and closes. */
  end(text: string): void;
  /** Closes at once. */
  destroy(): void;
};

/** A response that stays open: its head is sent, then `open` has the connection. */
export type StreamedResponse = {
  readonly headers: Readonly<Record<string, string>>;
  readonly open: (stream: TextStream) => void;
  /** Instead of `open`: the client gets another response, or has left. */
  readonly cancel: () => void;
};

/** The credentials of a request, as an OpenAPI security scheme. */
export type Security = {
  readonly name: string;
  readonly scheme: JsonSchema;
  /** Whether the document refers to the scheme, for readers that judge a route by the kind of its schemes. */
  readonly isReferred?: boolean;
  /** Whether a request without it is valid, too, and gets a response that says what to send. */
  readonly optional?: boolean;
};

export type Endpoint = Operation & {
  readonly method: "GET" | "POST" | "PUT";
  /** Whether it reads the index: it then takes x-min-block and min_block, and runs once the index has that block. */
  readonly readsIndex?: boolean;
  /** JSON Schema 2020-12 of the body; null without one. Unknown keys are allowed unless it forbids them. */
  readonly body: JsonSchema | null;
  /** A body for the description, if it is not recorded from a run. */
  readonly bodyExample?: unknown;
  /** The body of a successful response for the description, if it is not recorded from a run. */
  readonly responseExample?: unknown;
  /** Largest body in bytes, if a few kilobytes are not enough; the server's limit applies too. */
  readonly bodyBytesMax?: number;
  /** Response schemas by status; errors have the same form everywhere. */
  readonly responses: Readonly<Record<number, JsonSchema>>;
  /** Media types of a successful response besides JSON, with their schemas. */
  readonly otherTypes?: Readonly<Record<string, JsonSchema>>;
  /** Error statuses in addition to those implied by parameters and body. */
  readonly errorStatuses?: readonly number[];
  /** Descriptions of additional response headers, by status and name. */
  readonly responseHeaders?: Readonly<Record<number, Readonly<Record<string, string>>>>;
  /** Whether successful responses have an ETag, so that a client may get 304. */
  readonly hasEtag?: boolean;
  /** Absent or null if neither a payment nor a signature is needed. */
  readonly security?: Security | null;
  /** OpenAPI extensions of the operation. */
  readonly extensions?: Readonly<Record<`x-${string}`, unknown>>;
  /** Runs before parameters and body are validated: a response ends the request, null continues. */
  readonly preHandler?: (head: RequestHead) => EndpointResponse | null | Promise<EndpointResponse | null>;
  /** The response if the work exceeds the request timeout and continues; null is the usual error. */
  readonly onTimeout?: (head: RequestHead) => EndpointResponse | null;
  /** A response that stays open, if the request wants one; null leaves the request to `handle`. */
  readonly stream?: (request: EndpointRequest) => StreamedResponse | null;
  readonly handle: (request: EndpointRequest) => Promise<EndpointResponse>;
};

/** A request with the types of the declared parameters and body. */
export type RequestOf<
  Parameters extends readonly Parameter[],
  Body extends JsonSchema | null,
> = EndpointRequest<ValuesOf<Parameters>, TypeOf<Body>>;

/** An endpoint whose functions get values and body with the types that its parameters and its schema say. */
export function defineEndpoint<
  const Parameters extends readonly Parameter[],
  const Body extends JsonSchema | null,
>(
  declared: Omit<Endpoint, "parameters" | "body" | "stream" | "handle"> & {
    readonly parameters: Parameters;
    readonly body: Body;
    readonly stream?: (request: RequestOf<Parameters, Body>) => StreamedResponse | null;
    readonly handle: (request: RequestOf<Parameters, Body>) => Promise<EndpointResponse>;
  },
): Endpoint {
  // The router has parsed each value by its kind and validated the body by its schema.
  return declared as unknown as Endpoint;
}
