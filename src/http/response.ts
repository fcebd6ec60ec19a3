// An answer as bytes with all its headers, and how it is sent: straight to the connection, past the framework.
import { hash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { formatHeadHeaders, type IndexHead } from "../schema/reads/read.ts";
import { DEFAULT_HEADERS } from "./security/headers.ts";

// Validators of an answer: whether the client already has these bytes.

/** If-None-Match compares weakly, and may list several validators or `*`. */

export function etagMatches(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header === etag || header.trim() === "*") return true;
  return header.split(",").some((part) => part.trim().replace(/^W\//, "") === etag);
}

export type SerializedResponse = {
  /** The route it answers, as declared. */
  readonly route: string;
  readonly body: Buffer;
  readonly etag: string;
  /** Names and values by turns: all but what differs from one sending to the next. */
  readonly headers: readonly string[];
};

export function serializeResponse(route: string, body: unknown, head: IndexHead): SerializedResponse {
  const bytes = Buffer.from(JSON.stringify(body));
  const etag = `"${hash("sha1", bytes, "base64url")}"`;
  const headers = [...STEADY];
  for (const [name, value] of Object.entries(formatHeadHeaders(head))) headers.push(name, value);
  headers.push("etag", etag);
  return { route, body: bytes, etag, headers };
}

const STEADY: readonly string[] = Object.entries({
  ...DEFAULT_HEADERS,
  "cache-control": "no-cache",
  "content-type": "application/json; charset=utf-8",
}).flat();

/** Answers with the status; `leaving` asks the client to come back on another connection. */
export function writeResponse(
  answer: SerializedResponse,
  request: IncomingMessage,
  response: ServerResponse,
  {
    requestId: id,
    closeConnection: leaving,
  }: { readonly requestId: string; readonly closeConnection: boolean },
): number {
  const { body, etag } = answer;
  const headers = [...answer.headers, "x-request-id", id];
  if (leaving) headers.push("connection", "close");
  if (etagMatches(request.headers["if-none-match"], etag)) {
    response.writeHead(304, headers).end();
    return 304;
  }
  headers.push("content-length", String(body.length));
  response.writeHead(200, headers).end(body);
  return 200;
}
