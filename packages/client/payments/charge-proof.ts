// Proof by a node of the payment network that a signature was not charged and never will be.
import { encodeFunctionData } from "viem/utils";
import { SextantError } from "../errors.ts";
import { parseJson, type Transport } from "../http/transport.ts";
import type { PaymentEntry } from "../journal/payment-book.ts";

/** Of EIP-3009: whether the authorization was used or cancelled. */
const AUTHORIZATION_STATE = [
  {
    type: "function",
    name: "authorizationState",
    stateMutability: "view",
    inputs: [
      { name: "authorizer", type: "address" },
      { name: "nonce", type: "bytes32" },
    ],
    outputs: [{ name: "", type: "bool" }],
  },
] as const;
const QUANTITY = /^0x[0-9a-f]{1,16}$/;
const FALSE_WORD = /^0x0{64}$/;

type Hex = `0x${string}`;

/**
 * True only if a final block, in which the signature has already expired, has it unused: neither a transfer nor a reorg can
 * change that. The node is the caller's own choice and is trusted; anything that is no clear response is an error.
 */
export async function isProvenUncharged(
  transport: Transport,
  source: { readonly node: string; readonly signal: AbortSignal | undefined },
  { id, payer, requirements, validBefore }: PaymentEntry,
): Promise<boolean> {
  const call = (method: string, params: readonly unknown[]) => callNode(transport, source, method, params);
  const network = `eip155:${readQuantity(await call("eth_chainId", []))}`;
  if (network !== requirements.network) {
    throw new SextantError(
      "NOT_CONFIGURED",
      `guard.node is of ${network}, the payment of ${requirements.network}.`,
    );
  }
  const block = ((await call("eth_getBlockByNumber", ["finalized", false])) ?? {}) as Record<string, unknown>;
  if (readQuantity(block.timestamp) < BigInt(validBefore)) return false;
  const data = encodeFunctionData({
    abi: AUTHORIZATION_STATE,
    functionName: "authorizationState",
    args: [payer as Hex, id as Hex],
  });
  readQuantity(block.number);
  const state = await call("eth_call", [{ to: requirements.asset, data }, block.number]);
  return typeof state === "string" && FALSE_WORD.test(state);
}

async function callNode(
  transport: Transport,
  { node: url, signal }: Parameters<typeof isProvenUncharged>[1],
  method: string,
  params: readonly unknown[],
): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const headers = { "content-type": "application/json" };
  const { status, text } = await transport.send({ method: "POST", url, headers, body, signal });
  const { result } = (status === 200 ? (parseJson(text) ?? {}) : {}) as { result?: unknown };
  if (result !== undefined) return result;
  throw new SextantError("RESPONSE_INVALID", `guard.node did not respond to ${method}.`, { status });
}

function readQuantity(value: unknown): bigint {
  if (typeof value === "string" && QUANTITY.test(value)) return BigInt(value);
  throw new SextantError("RESPONSE_INVALID", "guard.node sent something that is no number.");
}
