// The way to the nodes for the library's client: one try at each, and no address of theirs in any error.
import {
  createPublicClient,
  custom,
  defineChain,
  isHex,
  type PublicClient,
  RpcRequestError,
  type Transport,
} from "viem";
import { isJsonObject, type JsonObject } from "../../../lib/json.ts";
import { createRemoteEndpoint, type RemoteEndpoint } from "../../../lib/remote-endpoint.ts";
import type { Secret } from "../../../lib/secret.ts";
import { exchangeJson } from "../http-exchange.ts";

// The library's client over our own connection to the nodes.

const REQUEST_MS = 8_000;

export function createViemClient(
  chainId: number,
  urls: readonly Secret<string>[],
  options: { readonly pollMs: number; readonly onUnheard?: (error: unknown) => void },
): PublicClient {
  const { pollMs, onUnheard } = options;
  return createPublicClient({
    chain: defineChain({
      id: chainId,
      name: `chain ${chainId}`,
      nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
      rpcUrls: { default: { http: [] } },
    }),
    transport: createViemTransport(urls, {
      timeoutMs: REQUEST_MS,
      ...(onUnheard ? { onNoResponse: onUnheard } : {}),
    }),
    pollingInterval: pollMs,
    cacheTime: 0,
  });
}

// What JSON-RPC says where somebody has said nothing in particular.
const INTERNAL_ERROR = -32_603;

/** No node answered: nothing can be concluded from it, not even that the request did not arrive. */
export class NoResponseError extends Error {
  constructor(what: string, options: { cause?: unknown } = {}) {
    super(`No node was heard: ${what}`, options);
    this.name = "NodeUnheard";
  }
}

export type ViemTransportOptions = {
  readonly timeoutMs: number;
  /** Told when nobody was heard, also where the client makes something else of it. */
  readonly onNoResponse?: (error: NoResponseError) => void;
};

const SEND = "eth_sendRawTransaction";

/**
 * In order of preference. What a node says is final; where one says nothing, the next is asked. A transaction is the
 * exception: a node that gave no response may have taken it, and no other node can refuse it on its behalf.
 */
export function createViemTransport(
  urls: readonly Secret<string>[],
  options: ViemTransportOptions,
): Transport {
  const endpoints = urls.map((url) => createRemoteEndpoint(url));
  const request = async ({ method, params }: { method: string; params?: unknown }): Promise<unknown> => {
    let unheard: NoResponseError | null = null;
    for (const endpoint of endpoints) {
      try {
        return await ask(endpoint, method, params, options.timeoutMs);
      } catch (error) {
        if (error instanceof NoResponseError) unheard = error;
        else if (unheard === null || method !== SEND) throw error;
        else unheard = new NoResponseError("one gave no response, another refused", { cause: error });
      }
    }
    const silence = unheard ?? new NoResponseError("none is configured");
    options.onNoResponse?.(silence);
    throw silence;
  };
  // No second try behind our back: a refusal is heard at once, and whoever asked decides what to do about silence.
  return custom({ request }, { retryCount: 0 });
}

async function ask(
  endpoint: RemoteEndpoint,
  method: string,
  params: unknown,
  timeoutMs: number,
): Promise<unknown> {
  const { host } = endpoint;
  const body = { jsonrpc: "2.0", id: 1, method, params: params ?? [] };
  const { status, payload } = await exchangeJson({ endpoint, body, timeoutMs }).catch((cause: unknown) => {
    throw new NoResponseError(`${host} did not answer ${method}`, { cause });
  });
  // Also refusals come as JSON from some nodes, with any status; only who sends too much is not heard at all.
  if (status !== 429 && isJsonObject(payload)) {
    if (isJsonObject(payload.error)) {
      throw new RpcRequestError({ body: { method }, error: refusalIn(payload.error, endpoint), url: host });
    }
    if ("result" in payload && isPlausible(method, payload.result)) return payload.result;
  }
  throw new NoResponseError(`${host} answered ${method} with status ${status} and something else`);
}

const HEX_METHODS: ReadonlySet<string> = new Set([
  "eth_blockNumber",
  "eth_call",
  "eth_chainId",
  "eth_estimateGas",
  "eth_gasPrice",
  "eth_getBalance",
  "eth_getCode",
  "eth_getTransactionCount",
  "eth_maxPriorityFeePerGas",
  SEND,
]);

const OBJECT_METHODS: ReadonlySet<string> = new Set([
  "eth_getBlockByHash",
  "eth_getBlockByNumber",
  "eth_getTransactionByHash",
  "eth_getTransactionReceipt",
]);

const STATUSES: readonly unknown[] = ["0x0", "0x1"];

/** Nonsense is no answer: read as one, it would turn into a verdict about the payment. */
function isPlausible(method: string, result: unknown): boolean {
  if (HEX_METHODS.has(method)) return isHex(result);
  // Null is one that the node does not have.
  if (!OBJECT_METHODS.has(method) || result === null) return true;
  if (!isJsonObject(result)) return false;
  return method !== "eth_getTransactionReceipt" || STATUSES.includes(result.status);
}

// Its words go into errors and with them into the log; what a contract reverted with is no words.
function refusalIn({ code, message, data }: JsonObject, { redact: scrub }: RemoteEndpoint) {
  const reverted = isJsonObject(data) ? data.data : data;
  return {
    code: typeof code === "number" ? code : INTERNAL_ERROR,
    message: scrub(String(message)),
    ...(isHex(reverted) ? { data: reverted } : {}),
  };
}
