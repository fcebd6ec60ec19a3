// One encoded contract call from a readable signature.
import { type AbiFunction, concatHex, encodeAbiParameters, parseAbi, toFunctionSelector } from "viem";
import type { Hex } from "../lib/hex.ts";
import type { ContractRead } from "./types.ts";

type CallEncoder = (to: Hex, args?: readonly unknown[], gasMax?: number) => ContractRead;

/** The signature is parsed and hashed once, at the first call: a wallet costs hundreds of calls of a few functions. */
export function createCallEncoder(signature: string): CallEncoder {
  let prepared: { readonly selector: Hex; readonly inputs: AbiFunction["inputs"] } | undefined;
  const prepare = () => {
    const [item] = parseAbi([signature] as readonly string[]) as readonly AbiFunction[];
    if (!item) throw new Error(`Not a function: ${signature}`);
    return { selector: toFunctionSelector(item), inputs: item.inputs };
  };
  return (to, args = [], gasMax) => {
    prepared ??= prepare();
    const { selector, inputs } = prepared;
    const data = args.length === 0 ? selector : concatHex([selector, encodeAbiParameters(inputs, args)]);
    return gasMax === undefined ? { to, data } : { to, data, gasMax };
  };
}
