// Builds and writes responses: the one place that merges headers, computes ETags and decides on 304.
import { hash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { Fault } from "../lib/fault.ts";
import { stringifyVisibly } from "../lib/foreign-text.ts";
import type { EndpointResponse } from "../schema/endpoint.ts";

/** No response is meant to be rendered, framed or sniffed; the pages we serve override this. */
export const DEFAULT_HEADERS: Readonly<Record<string, string>> = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "x-frame-options": "DENY",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  // Default to no-store: a 404 is heuristically cacheable. Cacheable responses override this.
  "cache-control": "no-store",
  // The data is public, and there is no cookie or credential that another origin could misuse.
  "access-control-allow-origin": "*",
  // Listed alongside the star: some clients read the star as a literal header name.
  "access-control-expose-headers":
    "*, PAYMENT-REQUIRED, PAYMENT-RESPONSE, Retry-After, X-Block-Number, X-Block-Time, X-Error-Code, X-Indexed-Block, X-Indexed-Time, X-Request-Id",
};

export type SerializedResponse = {
  /** The route pattern, as declared. */
  readonly route: string;
  readonly status: number;
  readonly body: Buffer;
  /** Null for a response that never becomes a 304, such as a paid one. */
  readonly etag: string | null;
  /** The indexed block that it reflects; null for what is not read from the index. */
  readonly indexedBlock: bigint | null;
  /** The revision of the index that it was read from; null if that is not known. */
  readonly indexedRevision: bigint | null;
  /** Names and values in turn: everything except the headers that differ per request. */
  readonly headers: readonly string[];
};

type ResponseParts = {
  readonly route: string;
  readonly status?: number;
  /** Bytes are sent unchanged, anything else as JSON. */
  readonly body: unknown;
  /** Override the default headers. An `etag` among them is compared with If-None-Match. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Derives the ETag from the body. */
  readonly computeEtag?: boolean;
  readonly indexedBlock?: bigint;
  readonly indexedRevision?: bigint;
};

const JSON_TYPE = "application/json; charset=utf-8";
const BYTES_TYPE = "application/octet-stream";
export const DEFAULT_ENTRIES = Object.entries(DEFAULT_HEADERS);

export function serializeResponse(parts: ResponseParts): SerializedResponse {
  const { route, status = 200, body } = parts;
  const bytes = toBytes(body);
  const own: Record<string, string> = {};
  for (const name in parts.headers) own[name.toLowerCase()] = parts.headers[name] ?? "";
  own["content-type"] ??= body instanceof Uint8Array ? BYTES_TYPE : JSON_TYPE;
  if (parts.computeEtag === true) own.etag = `"${hash("sha1", bytes, "base64url")}"`;
  const headers: string[] = [];
  for (const [name, value] of DEFAULT_ENTRIES) if (own[name] === undefined) headers.push(name, value);
  for (const name in own) headers.push(name, own[name] ?? "");
  const { indexedBlock = null, indexedRevision = null } = parts;
  return { route, status, body: bytes, etag: own.etag ?? null, indexedBlock, indexedRevision, headers };
}

function toBytes(body: unknown): Buffer {
  if (body instanceof Uint8Array) return Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const text = stringifyVisibly(body);
  if (text === undefined) throw new Fault("INTERNAL", "The response has no body.");
  return Buffer.from(text);
}

/** As an endpoint would return it. */
export function toEndpointResponse({ status, body, headers }: SerializedResponse): EndpointResponse {
  const entries = headers.flatMap((name, at) => (at % 2 === 0 ? [[name, headers[at + 1] ?? ""]] : []));
  return { status, body, headers: Object.fromEntries(entries) };
}

type WriteResponseOptions = {
  readonly requestId: string;
  /** Set while the process shuts down, so that the client opens another connection. */
  readonly closeConnection: boolean;
};

/** Returns the status that was sent. Node drops the body of a response to HEAD itself. */
export function writeResponse(
  response: SerializedResponse,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { requestId, closeConnection }: WriteResponseOptions,
): number {
  const { status, body } = response;
  const headers = [...response.headers, "x-request-id", requestId];
  if (closeConnection) headers.push("connection", "close");
  if (isNotModified(response, incoming)) {
    outgoing.writeHead(304, headers).end();
    return 304;
  }
  headers.push("content-length", String(body.length));
  outgoing.writeHead(status, headers).end(body);
  return status;
}

function isNotModified({ status, etag }: SerializedResponse, { method, headers }: IncomingMessage): boolean {
  if (etag === null || status !== 200) return false;
  return (method === "GET" || method === "HEAD") && etagMatches(headers["if-none-match"], etag);
}

/** If-None-Match compares weakly, and may list several ETags or `*`. */
function etagMatches(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header === etag || header.trim() === "*") return true;
  return header.split(",").some((part) => part.trim().replace(/^W\//, "") === etag);
}
