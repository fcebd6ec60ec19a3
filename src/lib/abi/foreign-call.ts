// Calls by an ABI that a library hands over: viem chooses between overloads, which the codec of our own ABIs never has to.
import { type Abi, encodeFunctionData } from "viem";
import type { Hex } from "../hex.ts";

export function encodeForeignCall(call: {
  readonly abi: Abi;
  readonly functionName: string;
  readonly args: readonly unknown[];
}): Hex {
  return encodeFunctionData(call);
}
