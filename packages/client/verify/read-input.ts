// Reads what is to be checked: a stored file, a body alone, or the parts of a response.
import type { ReceivedResponse, SentRequest } from "./http-signature.ts";
import { Rejection } from "./rejection.ts";
import {
  decodeText,
  isObject,
  type JsonObject,
  memberOf,
  parseStrictJson,
  requireObject,
} from "./strict-json.ts";

/** The parts of a response, as a program has them. */
export type ResponseParts = {
  /** The exact bytes or text; parsed and written again it has another digest. */
  readonly body: string | Uint8Array;
  readonly status?: number;
  readonly headers?: Headers | Readonly<Record<string, string>>;
  /** As it was sent: the signature covers method and URL. */
  readonly request?: SentRequest;
  /** The header PAYMENT-RESPONSE, if it is not among the headers. */
  readonly receipt?: string;
};

/** A string or bytes are the content of a file. */
export type VerifyInput = string | Uint8Array | ResponseParts;

export type ReadInput = {
  readonly request: SentRequest | null;
  readonly response: ReceivedResponse;
  readonly receipt: string | null;
  readonly json: JsonObject;
};

const OK = 200;
const FORMAT = "sextant-answer";

export function readInput(input: VerifyInput): ReadInput {
  if (typeof input !== "string" && !(input instanceof Uint8Array)) return readParts(input);
  const body = toBytes(input);
  const file = requireObject(parseStrictJson(decodeText(body)), "The file");
  if (memberOf(file, "format") !== FORMAT) return readParts({ body });
  if (memberOf(file, "version") !== 1)
    throw new Rejection("The file has a version that this program does not know.");
  const request = requireObject(memberOf(file, "request"), "The request in the file");
  const response = requireObject(memberOf(file, "response"), "The response in the file");
  return readParts({
    body: requireText(response, "body"),
    status: memberOf(response, "status") as number,
    headers: requireObject(memberOf(response, "headers"), "The headers in the file") as Record<
      string,
      string
    >,
    request: { method: requireText(request, "method"), url: requireText(request, "url") },
  });
}

function readParts({ body, status = OK, headers = {}, request, receipt }: ResponseParts): ReadInput {
  const bytes = toBytes(body);
  const json = parseStrictJson(decodeText(bytes));
  if (!isObject(json)) throw new Rejection("The body is not an object of JSON.");
  if (!Number.isInteger(status)) throw new Rejection("The status is not a number.");
  const pairs = headers instanceof Headers ? [...headers.entries()] : Object.entries(headers);
  const named = new Map<string, string>();
  for (const [name, value] of pairs) {
    if (typeof value !== "string") throw new Rejection("A header is not a text.");
    if (named.has(name.toLowerCase())) throw new Rejection("A header is there twice.");
    named.set(name.toLowerCase(), value);
  }
  return {
    request: request ?? null,
    response: { status, headers: named, body: bytes },
    receipt: receipt ?? named.get("payment-response") ?? null,
    json,
  };
}

function requireText(object: JsonObject, name: string): string {
  const value = memberOf(object, name);
  if (typeof value !== "string") throw new Rejection(`The ${name} in the file is not a text.`);
  return value;
}

function toBytes(content: string | Uint8Array): Uint8Array {
  return typeof content === "string" ? new TextEncoder().encode(content) : content;
}
