// Requests to Alchemy and the chains it serves: the key appears in the URL only, and transient failures are retried.
import { createJsonRpcRequest } from "../../../chain/rpc/transport.ts";
import type { CallObserver, ObservedCall } from "../../../chain/rpc/types.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { HttpExchange } from "../../../lib/http-client.ts";
import { isJsonObject } from "../../../lib/json.ts";
import { createRemoteEndpoint, type RemoteEndpoint } from "../../../lib/remote-endpoint.ts";
import { retry } from "../../../lib/retry.ts";
import { Secret } from "../../../lib/secret.ts";
import { sendVendorRequest, VendorError } from "../../vendor-request.ts";

export type AlchemyOptions = {
  readonly key: Secret<string>;
  /** For the metrics of the calls to nodes. */
  readonly onCall: CallObserver | null;
  /** Base URL of the data API; `/data/v1/` and the key are appended. */
  readonly dataUrl?: string;
  /** Base URL of the JSON-RPC nodes with `{network}` for the chain; `/v2/` and the key are appended. */
  readonly rpcUrl?: string;
  readonly timeoutMs?: number;
  /** The most entries of recent activity in all. */
  readonly activityMsMax?: number;
  readonly clock?: Clock;
};

/** Parses a payload whose numbers are text; throws a VendorError when it is invalid. */
type ParsePayload<T> = (payload: unknown) => T;
type AlchemyRequest = Pick<
  Parameters<typeof sendVendorRequest>[0],
  "endpoint" | "path" | "body" | "onExchange"
>;

export type AlchemyClient = ReturnType<typeof createAlchemyClient>;

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

export function createAlchemyClient(options: AlchemyOptions) {
  const { timeoutMs = TIMEOUT_MS, onCall } = options;
  const key = encodeURIComponent(options.key.reveal());
  const endpointAt = (url: string) => createRemoteEndpoint(new Secret(url), { secrets: [options.key] });
  const dataApi = endpointAt(`${options.dataUrl ?? DATA_URL}/data/v1/${key}`);

  function send<T>(request: AlchemyRequest, parse: ParsePayload<T>, signal: AbortSignal): Promise<T> {
    const limits = { timeoutMs, responseBytesMax: RESPONSE_BYTES_MAX };
    const attempt = async () => {
      const payload = await sendVendorRequest({ ...request, ...limits }, signal);
      return parse(rejectError(payload, request.endpoint));
    };
    return retry(attempt, {
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
    callDataApi: <T>(path: string, body: unknown, parse: ParsePayload<T>, signal: AbortSignal) =>
      send({ endpoint: dataApi, path: `/${path}`, body }, parse, signal),
    callRpc: <T>(
      network: string,
      method: string,
      params: readonly unknown[],
      parse: ParsePayload<T>,
      signal: AbortSignal,
    ) => {
      const url = (options.rpcUrl ?? RPC_URL).replaceAll("{network}", network);
      const endpoint = endpointAt(`${url}/v2/${key}`);
      const body = createJsonRpcRequest(method, params);
      const onExchange = ({ host, outcome, ms }: HttpExchange) =>
        onCall?.({ provider: host, method, outcome: callOutcome(outcome), ms });
      const parseResult = (payload: unknown) => parse(isJsonObject(payload) ? payload.result : undefined);
      return send({ endpoint, body, onExchange }, parseResult, signal);
    },
  };
}

/** As the metrics of the calls to nodes name it. */
function callOutcome(outcome: HttpExchange["outcome"]): ObservedCall["outcome"] {
  if (outcome === "connection") return "transient";
  if (typeof outcome === "string") return outcome;
  if (outcome >= 200 && outcome <= 299) return "ok";
  if (outcome === 429) return "rate-limited";
  return outcome >= 500 ? "transient" : "refused";
}

// Retrying earlier than Retry-After would only be rejected again.
function isRetryable(error: unknown): boolean {
  return (
    error instanceof VendorError && error.kind !== "permanent" && (error.retryAfterMs ?? 0) <= DELAY_MS_MAX
  );
}

// Both APIs return errors with status 200; partial errors are left to the parser.
function rejectError(payload: unknown, endpoint: RemoteEndpoint): unknown {
  const error = isJsonObject(payload) ? payload.error : undefined;
  if (error === undefined || error === null) return payload;
  if (isJsonObject(error) && Array.isArray(error.partialErrors)) return payload;
  const { code, message } = isJsonObject(error) ? error : { code: undefined, message: error };
  const reason = typeof message === "string" ? endpoint.redact(message) : "no reason";
  throw new VendorError(classifyCode(code), `The response is an error: ${reason}.`);
}

function classifyCode(code: unknown): VendorError["kind"] {
  if (code === "429" || code === "-32005") return "rate-limited";
  // JSON-RPC codes for an invalid request.
  return code === "-32600" || code === "-32601" || code === "-32602" ? "permanent" : "transient";
}

/** A chain that Alchemy serves, with Alchemy's name for it. */
export type AlchemyNetwork = { readonly chainId: number; readonly name: string };
