// One HTTP exchange with a node: a JSON body out, a JSON body back, within a time and a size.
import { setMaxListeners } from "node:events";
import { sendHttpRequest } from "../../lib/http-client.ts";
import { type RemoteEndpoint, redactError } from "../../lib/remote-endpoint.ts";
import { parseRetryAfter } from "../../lib/retry-after.ts";
import { RpcError } from "./errors.ts";

export type RpcExchange = {
  readonly endpoint: RemoteEndpoint;
  /** How the call is named in a failure: a method, or the batch it is part of. */
  readonly method: string;
  readonly body: string;
  readonly timeoutMs: number;
  readonly responseBytesMax: number;
  readonly signals: readonly AbortSignal[];
};

export type RpcHttpResponse = {
  readonly status: number;
  readonly retryAfterMs: number | null;
  /** The parsed body; undefined when it is not JSON. */
  readonly payload: unknown;
  /** The beginning of a body that is not JSON, fit to be shown. */
  readonly text: string;
};

/** Throws an RpcError when no whole answer arrives, and the signal's own reason when the caller gave up. */
export async function sendRpcRequest(options: RpcExchange): Promise<RpcHttpResponse> {
  const { endpoint, method } = options;
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), options.timeoutMs);
  // Forwarded by hand and taken off again: AbortSignal.any would tie every request to a long-lived signal.
  const forward = (event: Event) => controller.abort((event.target as AbortSignal).reason);
  for (const signal of options.signals) {
    if (signal.aborted) controller.abort(signal.reason);
    // As many requests listen as are in flight at all providers together; each stops listening when it ends.
    setMaxListeners(0, signal);
    signal.addEventListener("abort", forward, { once: true });
  }
  try {
    const headers: Record<string, string> = {
      "content-type": "application/json",
      accept: "application/json",
    };
    if (endpoint.authorization) headers.authorization = endpoint.authorization.reveal();
    const { status, retryAfter, text } = await sendHttpRequest({
      url: endpoint.url.reveal(),
      headers,
      body: options.body,
      signal: controller.signal,
      responseBytesMax: options.responseBytesMax,
    });
    if (text === null) {
      const words = `the answer is longer than ${options.responseBytesMax} bytes.`;
      throw new RpcError("response-too-large", words, { host: endpoint.host, method });
    }
    const payload = parseJson(text);
    return {
      status,
      retryAfterMs: parseRetryAfter(retryAfter),
      payload,
      text: payload === undefined ? endpoint.redact(text.slice(0, 2_000)) : "",
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
    const cause = redactError(error, endpoint);
    throw new RpcError("transient", `${reasonOf(cause)}.`, { host: endpoint.host, method, cause });
  } finally {
    clearTimeout(timer);
    for (const signal of options.signals) signal.removeEventListener("abort", forward);
  }
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
