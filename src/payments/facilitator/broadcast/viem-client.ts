// The x402 library's client over our JSON-RPC client: one attempt per node, no hidden retries, errors classified.
import {
  BaseError,
  createPublicClient,
  custom,
  defineChain,
  isHex,
  LimitExceededRpcError,
  type PublicClient,
  RpcRequestError,
  type Transport,
} from "viem";
import { createRpc, type RpcOptions } from "../../../chain/rpc/client.ts";
import { malformedResponse, RpcError } from "../../../chain/rpc/errors.ts";
import type { Rpc, RpcCall } from "../../../chain/rpc/types.ts";
import type { FunctionCodec } from "../../../lib/abi/codec.ts";
import type { Hex } from "../../../lib/hex.ts";
import { isJsonObject } from "../../../lib/json.ts";

/**
 * The limits of the facilitator's nodes. No pauses: the broadcast queue decides when to try again, and a node that failed
 * once is tried with every request. A block with its transactions, the largest response, has a few megabytes.
 */
const FACILITATOR_LIMITS = {
  requestTimeoutMs: 8_000,
  responseBytesMax: 16 * 1024 * 1024,
  inFlightMax: 256,
  pauseMsBase: 0,
  pauseMsMax: 0,
  retryAfterMsMax: 0,
  waitMsMax: 0,
};

export function createFacilitatorRpc(options: Pick<RpcOptions, "urls" | "log" | "onCall" | "chainId">): Rpc {
  return createRpc({ ...options, limits: FACILITATOR_LIMITS });
}

type ViemClientOptions = {
  readonly pollMs: number;
  /** The index of the only node to use; all of them by default. */
  readonly only?: number;
  /** Called when no node responded, also if the library turns that into something else. */
  readonly onNoResponse?: (error: NoResponseError) => void;
};

export function createViemClient(chainId: number, rpc: Rpc, options: ViemClientOptions): PublicClient {
  return createPublicClient({
    chain: defineChain({
      id: chainId,
      name: `chain ${chainId}`,
      nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
      rpcUrls: { default: { http: [] } },
    }),
    transport: createViemTransport(rpc, options),
    pollingInterval: options.pollMs,
    cacheTime: 0,
  });
}

/** Calls a view function, by default at the latest block. An account without code returns nothing, which is malformed. */
export async function readFunction<Args, Result>(
  client: PublicClient,
  codec: FunctionCodec<Args, Result>,
  { to, args, blockNumber }: { readonly to: Hex; readonly args: Args; readonly blockNumber?: bigint },
): Promise<Result> {
  const at = blockNumber === undefined ? {} : { blockNumber };
  const { data = "0x" } = await client.call({ to, data: codec.encodeCall(args), ...at });
  return codec.decodeResult(data);
}

/** No node responded. This proves nothing, not even that the request did not arrive. */
export class NoResponseError extends Error {
  override readonly name = "NoResponseError";

  constructor(what: string, options: { cause?: unknown } = {}) {
    super(`No node responded: ${what}`, options);
  }
}

const SEND = "eth_sendRawTransaction";

/**
 * Nodes in order of preference. The response of a node is final; if one does not respond, the next is tried. A
 * transaction is the exception: a node that did not respond may have accepted it, and no other node can reject it on
 * its behalf.
 */
function createViemTransport(
  rpc: Rpc,
  { only, onNoResponse }: Pick<ViemClientOptions, "only" | "onNoResponse">,
): Transport {
  const nodes = only === undefined ? [...rpc.providers().keys()] : [only];
  const request = async ({ method, params }: { method: string; params?: unknown }): Promise<unknown> => {
    const call = checkedCall(method, Array.isArray(params) ? params : []);
    let noResponse: NoResponseError | null = null;
    for (const node of nodes) {
      try {
        return await requestFrom(rpc, node, call);
      } catch (error) {
        if (error instanceof NoResponseError) noResponse = error;
        else if (noResponse === null || method !== SEND) throw error;
        else noResponse = new NoResponseError("one gave no response, another rejected", { cause: error });
      }
    }
    const failure = noResponse ?? new NoResponseError("none is configured");
    onNoResponse?.(failure);
    throw failure;
  };
  // The caller decides what a missing response means, so the library must not retry.
  return custom({ request }, { retryCount: 0 });
}

async function requestFrom(rpc: Rpc, only: number, call: RpcCall): Promise<unknown> {
  try {
    return await rpc.pinned((node) => node.request(call), { only, attemptsMax: 1 });
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    throw nodeErrorIn(error) ?? new NoResponseError(`${error.host} failed ${call.method}`, { cause: error });
  }
}

// The code that JSON-RPC prescribes if nothing more specific is known.
const INTERNAL_ERROR = -32_603;

/** The error that the node sent; null if it sent none. A rate limit with status 429 says nothing about the request. */
function nodeErrorIn({ nodeError, httpStatus, host, method }: RpcError): RpcRequestError | null {
  if (nodeError === null || httpStatus === 429) return null;
  const { code, message, data } = nodeError;
  return new RpcRequestError({
    body: { method },
    error: { code: code ?? INTERNAL_ERROR, message, ...(data === null ? {} : { data }) },
    url: host,
  });
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

/** An implausible result counts as no response: otherwise it would turn into a verdict about the payment. */
function checkedCall(method: string, params: readonly unknown[]): RpcCall {
  return {
    method,
    params,
    parse: (result) => {
      if (!isPlausible(method, result)) throw malformedResponse("the result is implausible");
      return result;
    },
  };
}

function isPlausible(method: string, result: unknown): boolean {
  if (HEX_METHODS.has(method)) return isHex(result);
  // Null: the node does not have it.
  if (!OBJECT_METHODS.has(method) || result === null) return true;
  if (!isJsonObject(result)) return false;
  return method !== "eth_getTransactionReceipt" || STATUSES.includes(result.status);
}

/** The meaning of a node's error about a transaction; each implementation has its own messages. */
export type SendErrorKind =
  /** The node has it already. */
  | "known"
  /** The account nonce is used, or too far ahead. */
  | "nonce"
  | "underpriced"
  /** It may have been accepted. */
  | "no-response"
  /** Not accepted, for any other reason. */
  | "rejected";

const ERROR_PATTERNS: readonly (readonly [RegExp, SendErrorKind])[] = [
  [/already known|known transaction|already imported|already exists/i, "known"],
  [/underpriced|fee too low|replacement/i, "underpriced"],
  [/nonce/i, "nonce"],
];

export function classifySendError(error: unknown): SendErrorKind {
  const message = error instanceof BaseError ? `${error.message} ${error.details}` : String(error);
  const match = ERROR_PATTERNS.find(([pattern]) => pattern.test(message));
  if (match) return match[1];
  return hasNoResponse(error) ? "no-response" : "rejected";
}

/** Whether the node gave no response: nothing can be concluded from it. */
function hasNoResponse(error: unknown): boolean {
  if (!(error instanceof BaseError)) return error instanceof NoResponseError;
  return (
    error.walk((each) => each instanceof NoResponseError || each instanceof LimitExceededRpcError) !== null
  );
}

// Code 3 is a revert by definition; many nodes use other codes, and messages.
const REVERTED = 3;
const EXECUTION_FAILED =
  /revert|out of gas|gas required exceeds|invalid opcode|invalid jump|stack (?:over|under)flow/i;

/** Whether a contract reverted: the only failure of a read that says something about the payment. */
export function isContractRevert(error: unknown): boolean {
  if (!(error instanceof BaseError)) return false;
  const isRevert = (each: unknown) =>
    each instanceof RpcRequestError &&
    (each.code === REVERTED || each.data !== undefined || EXECUTION_FAILED.test(each.details));
  return error.walk(isRevert) !== null;
}
