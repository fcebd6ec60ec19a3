// One HTTP exchange with a node or a facilitator, within a time and a size; what fails tells nothing of its key.

import type { JsonObject } from "../../lib/json.ts";
import { type RemoteEndpoint, redactError } from "../../lib/remote-endpoint.ts";

export type JsonExchangeRequest = {
  readonly endpoint: RemoteEndpoint;
  /** What stands behind the endpoint's own address, such as /verify. */
  readonly path?: string;
  /** Sent as JSON by POST; without it the address is asked by GET. */
  readonly body?: JsonObject;
  readonly timeoutMs: number;
};

export type JsonExchangeResponse = { readonly status: number; readonly payload: unknown };

// Verdicts and receipts are small; the largest answer is a block with its transactions, which has a few megabytes.
const ANSWER_BYTES_MAX = 16 * 1024 * 1024;

/** Throws where no whole answer in JSON arrives; the cause says why. */
export async function exchangeJson({
  endpoint,
  path = "",
  body,
  timeoutMs,
}: JsonExchangeRequest): Promise<JsonExchangeResponse> {
  try {
    const response = await fetch(addressOf(endpoint, path), {
      method: body === undefined ? "GET" : "POST",
      headers: headersFor(endpoint),
      body: body === undefined ? null : JSON.stringify(body),
      // A redirect would carry payments to a host nobody configured, and let it speak for the one that was.
      redirect: "manual",
      signal: AbortSignal.timeout(timeoutMs),
    });
    const text = await readText(response);
    if (response.status >= 300 && response.status < 400) throw new Error("it redirects; configure where to");
    return { status: response.status, payload: parse(text, response.status) };
  } catch (error) {
    throw new Error(`${endpoint.host} gave no answer`, { cause: redactError(error, endpoint) });
  }
}

function addressOf({ url }: RemoteEndpoint, path: string): string {
  return path === "" ? url.reveal() : url.reveal().replace(/\/+$/, "") + path;
}

function headersFor({ authorization }: RemoteEndpoint): Record<string, string> {
  const headers = { "content-type": "application/json", accept: "application/json" };
  return authorization === null ? headers : { ...headers, authorization: authorization.reveal() };
}

async function readText({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength;
    if (size > ANSWER_BYTES_MAX) throw new Error(`the answer is longer than ${ANSWER_BYTES_MAX} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size).toString("utf8");
}

function parse(text: string, status: number): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser quotes the text it failed on, and that may begin with half the key.
    throw new Error(`status ${status} without JSON`);
  }
}
