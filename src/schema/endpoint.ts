// What an endpoint is that is no plain read of the index: a method, a path, a body, and what it does.
import type { JsonSchema } from "./column.ts";
import type { Parameter } from "./parameter.ts";

export type EndpointRequest = {
  /** Path and query parameters, parsed, by name. */
  readonly values: Readonly<Record<string, unknown>>;
  /** The body as it was sent, byte for byte; empty where there is none. */
  readonly rawBody: Buffer;
  /** The same, parsed strictly and found to follow the endpoint's schema; undefined where it takes none. */
  readonly body: unknown;
  /** Lower-case names. A header given several times is its values joined by commas. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Which client sent it, as limits per client count it. */
  readonly client: string;
};

/** What is known of a request before anything in it is read. */
export type RequestHead = Pick<EndpointRequest, "headers"> & {
  /** As it was sent, without the question mark; empty where there is none. */
  readonly query: string;
};

export type EndpointResponse = {
  readonly status: number;
  /** JSON, or bytes that are sent as they are. */
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
};

export type Endpoint = {
  readonly method: "GET" | "POST" | "PUT";
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly tag: string;
  readonly parameters: readonly Parameter[];
  /** JSON Schema 2020-12 of the body; null where there is none. Unknown keys are allowed unless it forbids them. */
  readonly body: JsonSchema | null;
  /** Largest body in bytes, where a few kilobytes are not enough; the server's own limit holds besides. */
  readonly bodyBytesMax?: number;
  /** What it answers, by status; the form of errors is the same everywhere. */
  readonly responses: Readonly<Record<number, JsonSchema>>;
  /** Statuses it refuses with beside those that any route with its parameters and body may. */
  readonly errorStatuses?: readonly number[];
  /** Headers its answers carry beside those of every answer: what they mean, by status and name. */
  readonly responseHeaders?: Readonly<Record<number, Readonly<Record<string, string>>>>;
  /** What its description says beyond OpenAPI's own words. */
  readonly extensions?: Readonly<Record<`x-${string}`, unknown>>;
  /** Asked before parameters and body are checked: an answer ends the request, null lets it go on. */
  readonly preHandler?: (head: RequestHead) => EndpointResponse | null;
  /** What is told when the work takes longer than a request may, while it goes on. Null is the usual fault. */
  readonly onTimeout?: (head: RequestHead) => EndpointResponse | null;
  readonly handle: (request: EndpointRequest) => Promise<EndpointResponse>;
};
