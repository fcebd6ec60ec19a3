// Explains a revert: repeats the transaction as a call and decodes the error with every known interface.

import type { RpcRequestFunction } from "@sextant/contracts/deploy/rpc-request";
import type { TransactionCall, TransactionReceipt } from "@sextant/contracts/deploy/transaction";
import { multicall3Abi } from "@sextant/contracts/generated/multicall3";
import { usdCoinAbi } from "@sextant/contracts/generated/usd-coin";
import { PROTOCOL_ABIS } from "@sextant/contracts/interface/protocol-abis";
import { type Address, BaseError, decodeErrorResult, type Hex, isHex, numberToHex } from "viem";

/** Several contracts declare the same errors; which one reverted does not matter here. */
const ERRORS = [...Object.values(PROTOCOL_ABIS), multicall3Abi, usdCoinAbi]
  .flat()
  .filter((item) => item.type === "error");

/** Bound for errors that wrap the revert data of an inner call. */
const WRAPPING_DEPTH_MAX = 3;

export async function explainRevert(
  request: RpcRequestFunction,
  from: Address,
  call: TransactionCall,
  receipt: TransactionReceipt,
): Promise<string> {
  const transaction = {
    from,
    ...(call.to === undefined ? {} : { to: call.to }),
    ...(call.data === undefined ? {} : { data: call.data }),
    ...(call.value === undefined ? {} : { value: numberToHex(call.value) }),
  };
  try {
    await request("eth_call", [transaction, numberToHex(BigInt(receipt.blockNumber) - 1n)]);
  } catch (error) {
    return describe(error);
  }
  return "it would have succeeded at the start of its block";
}

function describe(error: unknown): string {
  const data = error instanceof Error && "data" in error ? error.data : undefined;
  if (isHex(data) && data.length >= 10) return decodeError(data, WRAPPING_DEPTH_MAX);
  return error instanceof Error ? error.message : String(error);
}

function decodeError(data: Hex, depth: number): string {
  try {
    const { errorName, args = [], abiItem } = decodeErrorResult({ abi: ERRORS, data });
    const inner: unknown = args.at(-1);
    const wraps = depth > 0 && "inputs" in abiItem && abiItem.inputs.at(-1)?.type === "bytes";
    if (wraps && isHex(inner) && inner.length >= 10) return `${errorName}: ${decodeError(inner, depth - 1)}`;
    return `${errorName}(${args.map(String).join(", ")})`;
  } catch (error) {
    // The error of an unknown contract: show its bytes.
    if (error instanceof BaseError) return data;
    throw error;
  }
}
