// Requests to Alchemy: the key appears in the URL and nowhere else, and transient failures are retried.
import type { Clock } from "../../../lib/clock.ts";
import { isJsonObject } from "../../../lib/json.ts";
import { retry } from "../../../lib/retry.ts";
import type { Secret } from "../../../lib/secret.ts";
import { type FetchFunction, redactSecrets, sendVendorRequest, VendorError } from "../../vendor-request.ts";

export type AlchemyOptions = {
  readonly key: Secret<string>;
  readonly fetch: FetchFunction;
  /** Base URL of the data API; `/data/v1/` and the key are appended. */
  readonly dataUrl?: string;
  /** Base URL of the JSON-RPC nodes with `{network}` for the chain; `/v2/` and the key are appended. */
  readonly rpcUrl?: string;
  readonly timeoutMs?: number;
  readonly clock?: Clock;
};

/** Parses a payload whose numbers are text; throws a VendorError when it is invalid. */
type ParsePayload<T> = (payload: unknown) => T;

export type AlchemyClient = {
  callDataApi<T>(path: string, body: unknown, parse: ParsePayload<T>, signal: AbortSignal): Promise<T>;
  callRpc<T>(
    network: string,
    method: string,
    params: unknown,
    parse: ParsePayload<T>,
    signal: AbortSignal,
  ): Promise<T>;
};

const DATA_URL = "https://api.g.alchemy.com";
const RPC_URL = "https://{network}.g.alchemy.com";
// Pages of a large wallet take the vendor a few seconds.
const TIMEOUT_MS = 10_000;
// A page has about a hundred tokens of a few hundred bytes; anyone may choose names and logos.
const RESPONSE_BYTES_MAX = 4 * 1024 * 1024;
// Three attempts within seconds: the caller does not wait longer.
const ATTEMPTS_MAX = 3;
const DELAY_MS_BASE = 250;
const DELAY_MS_MAX = 5_000;

export function createAlchemyClient(options: AlchemyOptions): AlchemyClient {
  const { fetch, timeoutMs = TIMEOUT_MS } = options;
  const secrets = [options.key.reveal()];
  const keyPath = encodeURIComponent(options.key.reveal());

  function send<T>(url: string, body: unknown, parse: ParsePayload<T>, signal: AbortSignal): Promise<T> {
    const request = { fetch, url, body, timeoutMs, responseBytesMax: RESPONSE_BYTES_MAX, secrets };
    return retry(async () => parse(rejectError(await sendVendorRequest(request, signal), secrets)), {
      attemptsMax: ATTEMPTS_MAX,
      delayMsBase: DELAY_MS_BASE,
      delayMsMax: DELAY_MS_MAX,
      isRetryable,
      delayMsRequested: (error) => (error instanceof VendorError ? error.retryAfterMs : null),
      ...(options.clock && { clock: options.clock }),
      signal,
    });
  }

  return {
    callDataApi: (path, body, parse, signal) =>
      send(`${options.dataUrl ?? DATA_URL}/data/v1/${keyPath}/${path}`, body, parse, signal),
    callRpc: (network, method, params, parse, signal) => {
      const url = `${(options.rpcUrl ?? RPC_URL).replaceAll("{network}", network)}/v2/${keyPath}`;
      const body = { jsonrpc: "2.0", id: 1, method, params };
      return send(url, body, (payload) => parse(isJsonObject(payload) ? payload.result : undefined), signal);
    },
  };
}

// Retrying earlier than Retry-After would only be rejected again.
function isRetryable(error: unknown): boolean {
  return (
    error instanceof VendorError && error.kind !== "permanent" && (error.retryAfterMs ?? 0) <= DELAY_MS_MAX
  );
}

// Both APIs return errors with status 200; partial errors are left to the parser.
function rejectError(payload: unknown, secrets: readonly string[]): unknown {
  const error = isJsonObject(payload) ? payload.error : undefined;
  if (error === undefined || error === null) return payload;
  if (isJsonObject(error) && Array.isArray(error.partialErrors)) return payload;
  const { code, message } = isJsonObject(error) ? error : { code: undefined, message: error };
  const reason = typeof message === "string" ? redactSecrets(message, secrets) : "no reason";
  throw new VendorError(classifyCode(code), `The response is an error: ${reason}.`);
}

function classifyCode(code: unknown): VendorError["kind"] {
  if (code === "429" || code === "-32005") return "rate-limited";
  // JSON-RPC codes for an invalid request.
  return code === "-32600" || code === "-32601" || code === "-32602" ? "permanent" : "transient";
}
