// Proves by a node of the payment network that a signature was charged, or that it never will be.
import { encodeFunctionData } from "viem/utils";
import { SextantError } from "../errors.ts";
import { parseJson, type Transport } from "../http/transport.ts";
import type { SignedRecord } from "../journal/records.ts";

/**
 * `charged`: used at a final block. `used`: used at the newest block, which a reorg may still undo. `released`: unused at
 * a final block past its end, so never charged. `expired`: unused at a block well past its end. `open`: anything else.
 */
export type ChargeProof = "charged" | "used" | "released" | "expired" | "open";

/** A view of EIP-3009: whether the authorization was used, or cancelled by its payer. */
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
const BOOLEAN_WORD = /^0x0{63}([01])$/;

/**
 * How long a signature counts as valid after its end. Covers a clock that is ahead, blocks that an L2 makes up for after
 * an outage with the times that they should have had, and a reorg of the newest blocks.
 */
const EXPIRY_MARGIN_SECONDS = 300;

type Hex = `0x${string}`;
type Authorization = Pick<SignedRecord, "id" | "payer" | "validBefore"> & {
  readonly requirements: Pick<SignedRecord["requirements"], "network" | "asset">;
};
export type Source = { readonly node: string; readonly signal: AbortSignal | undefined };
type CallNode = (method: string, params: readonly unknown[]) => Promise<unknown>;

/** Unix seconds from which a signature counts as over, if nothing better than a clock is known. */
export function expiryOf({ validBefore }: Pick<SignedRecord, "validBefore">): number {
  return validBefore + EXPIRY_MARGIN_SECONDS;
}

/** The node is the caller's own choice and is trusted; a response that is not clear is an error. */
export async function proveCharge(
  transport: Transport,
  source: Source,
  entry: Authorization,
): Promise<ChargeProof> {
  const { requirements, validBefore } = entry;
  const call: CallNode = (method, params) => callNode(transport, source, method, params);
  const network = `eip155:${readQuantity(await call("eth_chainId", []))}`;
  if (network !== requirements.network) {
    throw new SextantError(
      "NOT_CONFIGURED",
      `guard.node is of ${network}, the payment of ${requirements.network}.`,
    );
  }
  const newest = await readBlock(call, "latest");
  const isUsed = await readIsUsed(call, entry, newest);
  if (!isUsed && newest.time < BigInt(validBefore)) return "open";
  const final = await readBlock(call, "finalized");
  if (isUsed) return (await readIsUsed(call, entry, final, "no token yet")) ? "charged" : "used";
  // Neither a transfer nor a reorg can change that.
  if (final.time >= BigInt(validBefore) && !(await readIsUsed(call, entry, final))) return "released";
  return newest.time >= BigInt(expiryOf(entry)) ? "expired" : "open";
}

type Block = { readonly number: string; readonly time: bigint };

export async function readBlock(call: CallNode, tag: "finalized" | "latest"): Promise<Block> {
  const block = ((await call("eth_getBlockByNumber", [tag, false])) ?? {}) as Record<string, unknown>;
  readQuantity(block.number);
  return { number: String(block.number), time: readQuantity(block.timestamp) };
}

/** Names the block by number: state and time must be of one block. */
async function readIsUsed(
  call: CallNode,
  { id, payer, requirements }: Authorization,
  { number }: Block,
  allowed?: "no token yet",
): Promise<boolean> {
  const data = encodeFunctionData({
    abi: AUTHORIZATION_STATE,
    functionName: "authorizationState",
    args: [payer as Hex, id as Hex],
  });
  const state = await call("eth_call", [{ to: requirements.asset, data }, number]);
  // The final block of a young chain may be older than the token.
  if (state === "0x" && allowed !== undefined) return false;
  const [, digit] = BOOLEAN_WORD.exec(String(state)) ?? [];
  if (digit !== undefined) return digit === "1";
  throw new SextantError("RESPONSE_INVALID", "guard.node sent no authorizationState of the payment.");
}

export async function callNode(
  transport: Transport,
  { node: url, signal }: Source,
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

export function readQuantity(value: unknown): bigint {
  if (typeof value === "string" && QUANTITY.test(value)) return BigInt(value);
  throw new SextantError("RESPONSE_INVALID", "guard.node sent something that is not a number.");
}
