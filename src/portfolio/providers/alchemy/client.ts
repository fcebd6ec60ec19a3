// Questions to Alchemy: the key goes into the address and nowhere else, and what may work again is asked again.
import type { Clock } from "../../../lib/clock.ts";
import { isJsonObject } from "../../../lib/json.ts";
import { retry } from "../../../lib/retry.ts";
import type { Secret } from "../../../lib/secret.ts";
import { type FetchFunction, redactSecrets, sendVendorRequest, VendorError } from "../../vendor-request.ts";

export type AlchemyOptions = {
  readonly key: Secret<string>;
  readonly fetch: FetchFunction;
  /** Where the data interface is; `/data/v1/` and the key follow. */
  readonly dataUrl?: string;
  /** Where the JSON-RPC nodes are; `{network}` stands for the chain, `/v2/` and the key follow. */
  readonly rpcUrl?: string;
  readonly timeoutMs?: number;
  readonly clock?: Clock;
};

/** Reads an answer with its numbers as text; throws a VendorError for one that is not what was promised. */
type ReadAnswer<T> = (answer: unknown) => T;

export type AlchemyClient = {
  callDataApi<T>(path: string, body: unknown, read: ReadAnswer<T>, signal: AbortSignal): Promise<T>;
  callRpc<T>(
    network: string,
    method: string,
    params: unknown,
    read: ReadAnswer<T>,
    signal: AbortSignal,
  ): Promise<T>;
};

const DATA_URL = "https://api.g.alchemy.com";
const RPC_URL = "https://{network}.g.alchemy.com";
// Pages of a large wallet take the vendor a few seconds.
const TIMEOUT_MS = 10_000;
// A page holds about a hundred tokens of a few hundred bytes; names and logos are strangers' texts.
const ANSWER_BYTES_MAX = 4 * 1024 * 1024;
// Three tries within some seconds: longer than that nobody waits for an answer.
const ATTEMPTS_MAX = 3;
const DELAY_MS_BASE = 250;
const DELAY_MS_MAX = 5_000;

export function createAlchemyClient(options: AlchemyOptions): AlchemyClient {
  const { fetch, timeoutMs = TIMEOUT_MS } = options;
  const secrets = [options.key.reveal()];
  const keyPath = encodeURIComponent(options.key.reveal());

  function ask<T>(url: string, body: unknown, read: ReadAnswer<T>, signal: AbortSignal): Promise<T> {
    const question = { fetch, url, body, timeoutMs, responseBytesMax: ANSWER_BYTES_MAX, secrets };
    return retry(async () => read(refuseError(await sendVendorRequest(question, signal), secrets)), {
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
      ask(`${options.dataUrl ?? DATA_URL}/data/v1/${keyPath}/${path}`, body, read, signal),
    callRpc: (network, method, params, read, signal) => {
      const url = `${(options.rpcUrl ?? RPC_URL).replaceAll("{network}", network)}/v2/${keyPath}`;
      const body = { jsonrpc: "2.0", id: 1, method, params };
      return ask(url, body, (answer) => read(isJsonObject(answer) ? answer.result : undefined), signal);
    },
  };
}

// Coming back earlier than asked would only be refused again.
function isRetryable(error: unknown): boolean {
  return (
    error instanceof VendorError && error.kind !== "refused" && (error.retryAfterMs ?? 0) <= DELAY_MS_MAX
  );
}

// Both interfaces put errors into answers with status 200; what only concerns a part has no message of its own.
function refuseError(answer: unknown, secrets: readonly string[]): unknown {
  const error = isJsonObject(answer) ? answer.error : undefined;
  if (error === undefined || error === null) return answer;
  if (isJsonObject(error) && Array.isArray(error.partialErrors)) return answer;
  const { code, message } = isJsonObject(error) ? error : { code: undefined, message: error };
  const said = typeof message === "string" ? redactSecrets(message, secrets) : "no reason";
  throw new VendorError(failureOf(code), `The answer is an error: ${said}.`);
}

function failureOf(code: unknown): VendorError["kind"] {
  if (code === "429" || code === "-32005") return "limited";
  // What JSON-RPC reserves for a question that is wrong in itself.
  return code === "-32600" || code === "-32601" || code === "-32602" ? "refused" : "unreliable";
}
