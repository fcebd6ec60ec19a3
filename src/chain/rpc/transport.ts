// One HTTP exchange with a node: a JSON body out, a JSON body back, within a time and a size.

import { type Endpoint, scrubbedError } from "../../kit/endpoint.ts";
import { readRetryAfter } from "../../kit/retry-after.ts";
import { RpcError } from "./failure.ts";

export type Exchange = {
  readonly endpoint: Endpoint;
  /** How the call is named in a failure: a method, or the batch it is part of. */
  readonly method: string;
  readonly body: string;
  readonly timeoutMs: number;
  readonly responseBytesMax: number;
  readonly signals: readonly AbortSignal[];
};

export type Reply = {
  readonly status: number;
  readonly retryAfterMs: number | null;
  /** The parsed body; undefined when it is not JSON. */
  readonly payload: unknown;
  /** The beginning of a body that is not JSON, fit to be shown. */
  readonly text: string;
};

/** Throws an RpcError when no whole answer arrives, and the signal's own reason when the caller gave up. */
export async function exchange(options: Exchange): Promise<Reply> {
  const { endpoint, method } = options;
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), options.timeoutMs);
  // Forwarded by hand and taken off again: AbortSignal.any would tie every request to a long-lived signal.
  const forward = (event: Event) => controller.abort((event.target as AbortSignal).reason);
  for (const signal of options.signals) {
    if (signal.aborted) controller.abort(signal.reason);
    signal.addEventListener("abort", forward, { once: true });
  }
  try {
    const headers: Record<string, string> = {
      "content-type": "application/json",
      accept: "application/json",
    };
    if (endpoint.authorization) headers.authorization = endpoint.authorization.reveal();
    const response = await fetch(endpoint.url.reveal(), {
      method: "POST",
      body: options.body,
      headers,
      // A redirect would carry the request, and perhaps the key, to a host nobody configured.
      redirect: "manual",
      signal: controller.signal,
    });
    const body = await readBody(response, options);
    const payload = parseJson(body);
    return {
      status: response.status,
      retryAfterMs: readRetryAfter(response.headers.get("retry-after")),
      payload,
      text: payload === undefined ? endpoint.scrub(body.slice(0, 2_000)) : "",
    };
  } catch (error) {
    for (const signal of options.signals) if (signal.aborted) throw signal.reason;
    if (error instanceof RpcError) throw error;
    if (controller.signal.aborted) {
      throw new RpcError("timeout", `no answer within ${options.timeoutMs} ms.`, {
        host: endpoint.host,
        method,
      });
    }
    const cause = scrubbedError(error, endpoint);
    throw new RpcError("transient", `${reasonOf(cause)}.`, { host: endpoint.host, method, cause });
  } finally {
    clearTimeout(timer);
    for (const signal of options.signals) signal.removeEventListener("abort", forward);
  }
}

async function readBody(response: Response, options: Exchange): Promise<string> {
  if (!response.body) return "";
  // A stated and small length needs no counting; the connection itself ends at it. Packed bodies state another length.
  const stated = response.headers.get("content-length");
  if (
    stated !== null &&
    Number(stated) <= options.responseBytesMax &&
    !response.headers.has("content-encoding")
  ) {
    return response.text();
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength;
    if (size > options.responseBytesMax) {
      throw new RpcError(
        "response-too-large",
        `the answer is longer than ${options.responseBytesMax} bytes.`,
        {
          host: options.endpoint.host,
          method: options.method,
        },
      );
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size).toString("utf8");
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    // Told apart by the caller, who knows the status: an HTML page of a gateway, or an answer cut short.
    return undefined;
  }
}

function reasonOf(error: Error): string {
  let deepest = error;
  while (deepest.cause instanceof Error) deepest = deepest.cause;
  return deepest.message || "the connection failed";
}
