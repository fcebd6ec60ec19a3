// The result of a tool: the response of its route, short enough for the context of a model.
import type { CallToolResult } from "@modelcontextprotocol/server";
import { isJsonObject, type JsonObject } from "../lib/json.ts";

export type ServiceResponse = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
};

type Shortened = { readonly data: unknown; readonly truncated: boolean; readonly cursor: string | null };

/** Keys under which x402 travels in the metadata of a call and of its result. */
export const PAYMENT_META = "x402/payment";
const PAYMENT_RESPONSE_META = "x402/payment-response";

export function buildResult(shortened: Shortened, { headers }: ServiceResponse): CallToolResult {
  const receipt = decodeHeader(headers["payment-response"]);
  return {
    content: [{ type: "text", text: JSON.stringify(shortened) }],
    structuredContent: { ...shortened },
    ...(receipt === null ? {} : { _meta: { [PAYMENT_RESPONSE_META]: receipt } }),
  };
}

/** Errors are results too: the model reads the sentence and can act on it. Null for a success. */
export function buildErrorResult(response: ServiceResponse): CallToolResult | null {
  const { status, headers, body } = response;
  if (status < 400) return null;
  // The terms, as the binding of x402 to tool results has them.
  const required = status === 402 ? decodeHeader(headers["payment-required"]) : null;
  if (required !== null) {
    return {
      isError: true,
      content: [{ type: "text", text: JSON.stringify(required) }],
      structuredContent: required,
    };
  }
  const parsed = parseJson(body);
  const error =
    isJsonObject(parsed) && typeof parsed.error === "string" ? parsed.error : "The request failed.";
  const code = headers["x-error-code"] ?? null;
  const retryAfter = headers["retry-after"] ?? null;
  return {
    isError: true,
    content: [{ type: "text", text: error }],
    structuredContent: { error, code, status, retryAfter },
  };
}

/** The part of a text from the cursor on, a position in UTF-16 units, that fits. */
export function cutText(text: string, cursor: string | null, lengthMax: number): Shortened {
  const start = cursor === null ? 0 : Number(cursor);
  const part = text.slice(start, start + lengthMax);
  const end = start + part.length;
  return { data: part, truncated: end < text.length, cursor: end < text.length ? String(end) : null };
}

/** How many records of a page fit; null when the page fits as a whole, or is no page. */
export function countFitting(body: unknown, bytesMax: number): number | null {
  const page = readPage(body);
  if (page === null || byteLength(body) <= bytesMax) return null;
  const others = byteLength(body) - byteLength(page.records);
  let bytes = others;
  let count = 0;
  for (const record of page.records) {
    bytes += byteLength(record) + 1;
    if (bytes > bytesMax) break;
    count += 1;
  }
  return Math.max(1, count);
}

/** A response that is short enough: a page with its cursor, or an object whose longest lists are cut. */
export function shorten(body: unknown, bytesMax: number, wasCut: boolean): Shortened {
  const page = readPage(body);
  const cursor = page?.cursor ?? null;
  if (page !== null || !isJsonObject(body)) return { data: body, truncated: wasCut, cursor };
  const cut = cutLists(body, bytesMax);
  return { data: cut, truncated: cut !== body, cursor: null };
}

/** Halves the longest list until the object fits, or no list has more than one entry. */
function cutLists(object: JsonObject, bytesMax: number): JsonObject {
  let cut = object;
  while (byteLength(cut) > bytesMax) {
    const lists = Object.entries(cut).flatMap(([key, value]) =>
      Array.isArray(value) && value.length > 1 ? [{ key, value, bytes: byteLength(value) }] : [],
    );
    const longest = lists.sort((a, b) => b.bytes - a.bytes)[0];
    if (longest === undefined) return cut;
    cut = { ...cut, [longest.key]: longest.value.slice(0, Math.ceil(longest.value.length / 2)) };
  }
  return cut;
}

type Page = { readonly records: readonly unknown[]; readonly cursor: string | null };

function readPage(body: unknown): Page | null {
  if (!isJsonObject(body) || !isJsonObject(body.pagination)) return null;
  const records = Object.values(body).find(Array.isArray);
  const next = body.pagination.next_cursor;
  return records === undefined ? null : { records, cursor: typeof next === "string" ? next : null };
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function byteLength(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

function decodeHeader(value: string | undefined): JsonObject | null {
  const decoded = value === undefined ? null : parseJson(Buffer.from(value, "base64").toString());
  return isJsonObject(decoded) ? decoded : null;
}
