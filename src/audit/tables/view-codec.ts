// Encodes view calls and decodes their results, with text and addresses exactly as the index stores them.
import {
  type Abi,
  type AbiEvent,
  type AbiFunction,
  type AbiParameter,
  type ContractFunctionName,
  type ContractFunctionReturnType,
  decodeAbiParameters,
  encodeFunctionData,
} from "viem";
import type { Hex } from "../../lib/hex.ts";
import { decodeStorableText } from "../../protocol/decode/words.ts";

export type ViewName<A extends Abi> = ContractFunctionName<A, "view" | "pure">;
export type ViewResult<A extends Abi, V extends ViewName<A>> = ContractFunctionReturnType<
  A,
  "view" | "pure",
  V
>;

type ViewCodec = {
  readonly encode: (args: readonly unknown[]) => Hex;
  /** The result, or a tuple of several; throws where the output is too short or out of range. */
  readonly decode: (output: Hex) => unknown;
};

export function createViewCodec(abi: Abi, name: string): ViewCodec {
  const item = abi.find((each): each is AbiFunction => each.type === "function" && each.name === name);
  if (!item) throw new Error(`${name} is not a function of the ABI`);
  const outputs = item.outputs.map(asBytes);
  return {
    encode: (args) => encodeFunctionData({ abi: [item], args }),
    decode(output) {
      const values: readonly unknown[] = decodeAbiParameters(outputs, output);
      const results = item.outputs.map((parameter, index) => normalize(parameter, values[index]));
      return item.outputs.length === 1 ? results[0] : results;
    },
  };
}

export function findAbiEvent(abi: Abi, name: string): AbiEvent {
  const item = abi.find((each): each is AbiEvent => each.type === "event" && each.name === name);
  if (!item) throw new Error(`${name} is not an event of the ABI`);
  return item;
}

type Components = { readonly components?: readonly AbiParameter[] };

// Decodes text as bytes first: a text decoder would drop a byte order mark that the index stores.
function asBytes(parameter: AbiParameter): AbiParameter {
  const { components } = parameter as Components;
  if (components) return { ...parameter, components: components.map(asBytes) };
  return parameter.type === "string" ? { ...parameter, type: "bytes" } : parameter;
}

function normalize(parameter: AbiParameter, value: unknown): unknown {
  const { components } = parameter as Components;
  if (components) {
    const fields = value as Readonly<Record<string, unknown>>;
    return Object.fromEntries(
      components.map((each) => [each.name, normalize(each, fields[each.name ?? ""])]),
    );
  }
  if (parameter.type === "string") return decodeStorableText((value as Hex).slice(2));
  return parameter.type === "address" ? (value as Hex).toLowerCase() : value;
}
