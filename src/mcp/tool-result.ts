// The result of a tool: the response of its route, short enough for the context of a model.
import type { CallToolResult } from "@modelcontextprotocol/server";
import { noteInvisible } from "../lib/foreign-text.ts";
import { isJsonObject, type JsonObject } from "../lib/json.ts";

export type ServiceResponse = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
  /** Present if the sender pays itself: what a failure means for the money, and what to do. */
  readonly payment?: { readonly charged: "no" | "once" | "unknown"; readonly advice: string };
};

/** The result for a model. The same as text is at most as long as the limit. */
type Shortened = { readonly data: unknown; readonly truncated: boolean; readonly cursor: string | null };

/** How a client wants to get the terms of a payment. */
export type PaymentBinding = "tool-result" | "extension";

/** Keys under which x402 travels in the metadata of a call and of its result. */
export const PAYMENT_META = "x402/payment";
const PAYMENT_RESPONSE_META = "x402/payment-response";

/** Fields of a result besides its data. */
export type ResultNotes = {
  /** The block that was read, or that of each chain, and its time unless a number was given, for `at` the time itself. */
  readonly block?: string;
  readonly time?: string;
  /** The fields that hold texts of others. */
  readonly foreignText?: readonly string[];
};

export function noteResult(
  { headers }: ServiceResponse,
  body: unknown,
  asked: { readonly parameters: { readonly block?: string }; readonly foreignText: readonly string[] },
): ResultNotes {
  const { parameters, foreignText } = asked;
  const { "x-indexed-block": indexed, "x-block-number": found, "x-block-time": judged } = headers;
  const past = found ?? parameters.block;
  const block = indexed === undefined ? formatChainBlocks(body) : (past ?? indexed);
  const time = judged ?? (past === undefined ? headers["x-indexed-time"] : undefined);
  return {
    ...(block !== undefined && { block }),
    ...(time !== undefined && { time }),
    ...(foreignText.length > 0 && { foreignText }),
  };
}

/** The block of each chain of a wallet, as the argument `block` takes them; of a difference, those of its end. */
function formatChainBlocks(body: unknown): string | undefined {
  if (!isJsonObject(body)) return undefined;
  const { blocks, chains, to, summary } = body;
  const lists = [blocks, isJsonObject(to) && to.blocks, isJsonObject(summary) && summary.chains, chains];
  const found = lists.filter(Array.isArray).map((list) =>
    list.flatMap((each) => {
      const text = isJsonObject(each) ? `${each.chain}:${each.number ?? each.blockNumber}` : "";
      return CHAIN_BLOCK.test(text) ? [text] : [];
    }),
  );
  return found
    .find(({ length }) => length > 0)
    ?.slice(0, CHAINS_MAX)
    .join(",");
}

const CHAIN_BLOCK = /^[\w-]{1,32}:\d{1,16}$/;
// The most that a request may name.
const CHAINS_MAX = 10;

export function buildResult(
  shortened: Shortened,
  { headers }: ServiceResponse,
  notes: ResultNotes,
): CallToolResult {
  const result = { ...shortened, ...notes };
  return {
    content: [{ type: "text", text: JSON.stringify(result) }],
    structuredContent: result,
    ...receiptMeta(headers),
  };
}

/** Errors are results too: the model reads the sentence and can act on it. Null for a success. */
export function buildErrorResult(response: ServiceResponse, binding: PaymentBinding): CallToolResult | null {
  const { status, headers, body, payment } = response;
  if (status < 400) return null;
  const required = status === 402 ? decodeHeader(headers["payment-required"]) : null;
  if (required !== null) return { ...buildTerms(required, binding), ...receiptMeta(headers) };
  const parsed = parseJson(body);
  const sentence =
    isJsonObject(parsed) && typeof parsed.error === "string" ? parsed.error : "The request failed.";
  const error = cutString(noteInvisible(sentence), SENTENCE_LENGTH_MAX);
  const code = headers["x-error-code"] ?? null;
  const retryAfter = headers["retry-after"] ?? null;
  return {
    isError: true,
    content: [{ type: "text", text: payment === undefined ? error : `${error} ${payment.advice}` }],
    structuredContent: { error, code, status, retryAfter, ...payment },
  };
}

function buildTerms(required: JsonObject, binding: PaymentBinding): CallToolResult {
  if (binding === "tool-result") {
    return {
      isError: true,
      content: [{ type: "text", text: JSON.stringify(required) }],
      structuredContent: required,
    };
  }
  // The result type that the extension adds to the protocol; the types of the library do not know it.
  return { resultType: "payment_required", paymentRequired: required, content: [] };
}

function receiptMeta(headers: ServiceResponse["headers"]): Pick<CallToolResult, "_meta"> {
  const receipt = decodeHeader(headers["payment-response"]);
  return receipt === null ? {} : { _meta: { [PAYMENT_RESPONSE_META]: receipt } };
}

/** Our sentences are shorter; those of a proxy in between may not be. */
const SENTENCE_LENGTH_MAX = 1_000;

/** The part of a text from the cursor on, a position in UTF-16 units, that fits. */
export function cutText(text: string, cursor: string | null, bytesMax: number): Shortened {
  const start = Math.min(cursor === null ? 0 : Number(cursor), text.length);
  const partTo = (end: number): Shortened => ({
    data: text.slice(start, end),
    truncated: end < text.length,
    cursor: end < text.length ? String(end) : null,
  });
  const left = text.length - start;
  const fits = (length: number) => byteLength(partTo(start + length)) <= bytesMax;
  if (left <= bytesMax && fits(left)) return partTo(text.length);
  // At least one character, whatever the limit, or reading would never end.
  const length = Math.max(2, findLargest(0, Math.min(left, bytesMax), fits) ?? 0);
  return partTo(endOfCharacter(text, start + length));
}

/** Not between the two halves of a character beyond the first plane. */
function endOfCharacter(text: string, end: number): number {
  const isHalf = end < text.length && /[\ud800-\udbff]/.test(text[end - 1] ?? "");
  return isHalf ? end - 1 : Math.min(end, text.length);
}

/** How many records of a page fit; null when the page fits as a whole, or is not a page. */
export function countFitting(body: unknown, bytesMax: number): number | null {
  const page = readPage(body);
  if (page === null || byteLength(toShortened(body, false)) <= bytesMax) return null;
  const { records } = page;
  // The page that is asked for has another cursor, which may be longer.
  const others = byteLength(toShortened(body, true)) - byteLength(records) + CURSOR_MARGIN;
  let bytes = others;
  let count = 0;
  for (const record of records) {
    bytes += byteLength(record) + 1;
    if (bytes > bytesMax) break;
    count += 1;
  }
  return Math.max(1, count);
}

const CURSOR_MARGIN = 128;

/**
 * A response that is short enough; null if none can be made of it. A page keeps all its records, and only a page of
 * one record may be cut inside: otherwise its cursor would skip some.
 */
export function shortenToFit(body: unknown, bytesMax: number, wasCut: boolean): Shortened | null {
  const whole = toShortened(body, wasCut);
  const fits = (shortened: Shortened) => byteLength(shortened) <= bytesMax;
  if (fits(whole)) return whole;
  const records = readPage(body)?.records ?? [];
  if (records.length > 1) return null;
  const cut = (listMax: number, textMax: number) => toShortened(cutInside(body, listMax, textMax), true);
  if (fits(cut(Number.POSITIVE_INFINITY, LONG_TEXT))) return cut(Number.POSITIVE_INFINITY, LONG_TEXT);
  const listMax = findLargest(1, LIST_MAX, (length) => fits(cut(length, LONG_TEXT)));
  if (listMax !== null) return cut(listMax, LONG_TEXT);
  const textMax = findLargest(SHORT_TEXT, LONG_TEXT, (length) => fits(cut(1, length)));
  return textMax === null ? null : cut(1, textMax);
}

// No text of a few sentences is longer, and eight of them still fit.
const LONG_TEXT = 2_000;
// Hashes and amounts stay whole.
const SHORT_TEXT = 100;
// More entries than fit, however short they are.
const LIST_MAX = 8_192;

function toShortened(body: unknown, truncated: boolean): Shortened {
  return { data: body, truncated, cursor: readPage(body)?.cursor ?? null };
}

/** The same value with lists and texts of at most these lengths: what comes first matters most. */
function cutInside(value: unknown, listMax: number, textMax: number): unknown {
  if (typeof value === "string") return cutString(value, textMax);
  if (Array.isArray(value)) {
    return value.slice(0, listMax).map((each) => cutInside(each, listMax, textMax));
  }
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, cutInside(each, listMax, textMax)]),
  );
}

/** Marked, so that no reader takes a part of calldata for the whole. */
function cutString(text: string, lengthMax: number): string {
  return text.length <= lengthMax ? text : `${text.slice(0, endOfCharacter(text, lengthMax))}…`;
}

/**
 * The largest number between the two that passes, if all below it pass too; null if none does. Begins with small ones:
 * each try costs as much as what it keeps, and a response may have megabytes.
 */
function findLargest(least: number, most: number, passes: (number: number) => boolean): number | null {
  if (!passes(least)) return null;
  let [low, high] = [least, least];
  while (low === high && low < most) {
    high = Math.min(2 * high + 1, most);
    if (passes(high)) low = high;
  }
  while (low + 1 < high) {
    const middle = Math.floor((low + high) / 2);
    if (passes(middle)) low = middle;
    else high = middle;
  }
  return low;
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

/** A payment, or its receipt, as the value of a header. */
export function encodePayment(payment: object): string {
  return Buffer.from(JSON.stringify(payment)).toString("base64");
}
