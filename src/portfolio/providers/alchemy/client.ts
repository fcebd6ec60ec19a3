// Requests to Alchemy: the key goes into the address and nowhere else, and temporary failures are retried.
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
  /** Where the data interface is; `/data/v1/` and the key follow. */
  readonly dataUrl?: string;
  /** Where the JSON-RPC nodes are; `{network}` stands for the chain, `/v2/` and the key follow. */
  readonly rpcUrl?: string;
  readonly timeoutMs?: number;
  readonly clock?: Clock;
};

/** Reads a response with its numbers as text; throws a VendorError for one of another shape. */
type ReadResponse<T> = (response: unknown) => T;
type AlchemyRequest = Pick<
  Parameters<typeof sendVendorRequest>[0],
  "endpoint" | "path" | "body" | "onExchange"
>;

export type AlchemyClient = {
  callDataApi<T>(path: string, body: unknown, read: ReadResponse<T>, signal: AbortSignal): Promise<T>;
  callRpc<T>(
    network: string,
    method: string,
    params: readonly unknown[],
    read: ReadResponse<T>,
    signal: AbortSignal,
  ): Promise<T>;
};

const DATA_URL = "https://api.g.alchemy.com";
const RPC_URL = "https://{network}.g.alchemy.com";
// Pages of a large wallet take the vendor a few seconds.
const TIMEOUT_MS = 10_000;
// A page holds about a hundred tokens of a few hundred bytes; names and logos are strangers' texts.
const RESPONSE_BYTES_MAX = 4 * 1024 * 1024;
// Three attempts within a few seconds: clients do not wait longer for a snapshot.
const ATTEMPTS_MAX = 3;
const DELAY_MS_BASE = 250;
const DELAY_MS_MAX = 5_000;

export function createAlchemyClient(options: AlchemyOptions): AlchemyClient {
  const { timeoutMs = TIMEOUT_MS, onCall } = options;
  const key = encodeURIComponent(options.key.reveal());
  const endpointAt = (url: string) => createRemoteEndpoint(new Secret(url), { secrets: [options.key] });
  const dataApi = endpointAt(`${options.dataUrl ?? DATA_URL}/data/v1/${key}`);

  function send<T>(request: AlchemyRequest, read: ReadResponse<T>, signal: AbortSignal): Promise<T> {
    const limits = { timeoutMs, responseBytesMax: RESPONSE_BYTES_MAX };
    const attempt = async () => {
      const response = await sendVendorRequest({ ...request, ...limits }, signal);
      return read(rejectError(response, request.endpoint));
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
    callDataApi: (path, body, read, signal) =>
      send({ endpoint: dataApi, path: `/${path}`, body }, read, signal),
    callRpc: (network, method, params, read, signal) => {
      const url = (options.rpcUrl ?? RPC_URL).replaceAll("{network}", network);
      const endpoint = endpointAt(`${url}/v2/${key}`);
      const body = createJsonRpcRequest(method, params);
      const onExchange = ({ host, outcome, ms }: HttpExchange) =>
        onCall?.({ provider: host, method, outcome: callOutcome(outcome), ms });
      const readResult = (response: unknown) => read(isJsonObject(response) ? response.result : undefined);
      return send({ endpoint, body, onExchange }, readResult, signal);
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

// A retry before the requested time would only be rejected again.
function isRetryable(error: unknown): boolean {
  return (
    error instanceof VendorError && error.kind !== "refused" && (error.retryAfterMs ?? 0) <= DELAY_MS_MAX
  );
}

// Both interfaces put errors into responses with status 200; an error about a part of the response has no message.
function rejectError(response: unknown, endpoint: RemoteEndpoint): unknown {
  const error = isJsonObject(response) ? response.error : undefined;
  if (error === undefined || error === null) return response;
  if (isJsonObject(error) && Array.isArray(error.partialErrors)) return response;
  const { code, message } = isJsonObject(error) ? error : { code: undefined, message: error };
  const reason = typeof message === "string" ? endpoint.redact(message) : "no reason";
  throw new VendorError(failureOf(code), `The response is an error: ${reason}.`);
}

function failureOf(code: unknown): VendorError["kind"] {
  if (code === "429" || code === "-32005") return "limited";
  // What JSON-RPC reserves for a request that is wrong in itself.
  return code === "-32600" || code === "-32601" || code === "-32602" ? "refused" : "unreliable";
}
