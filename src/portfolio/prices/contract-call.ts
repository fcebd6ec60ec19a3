// One question to a contract: how it is asked, and how its answer is read; what can not be read is null.
import {
  type Abi,
  type ContractFunctionArgs,
  type ContractFunctionName,
  type ContractFunctionReturnType,
  decodeFunctionResult,
  encodeFunctionData,
} from "viem";
import type { Hex } from "../../kit/hex.ts";
import type { ContractRead } from "../ports.ts";

type View = "view" | "pure";

export type ContractCall<T> = {
  readonly read: ContractRead;
  /** Null for no answer, and for one that is not of the promised shape: an address without code, or another contract. */
  decode(answer: Hex | null | undefined): T | null;
};

export function contractCall<
  const TAbi extends Abi,
  TName extends ContractFunctionName<TAbi, View>,
  const TArgs extends ContractFunctionArgs<TAbi, View, TName>,
>(question: {
  readonly to: Hex;
  readonly abi: TAbi;
  readonly name: TName;
  readonly args: TArgs;
  readonly gasMax?: number;
}): ContractCall<ContractFunctionReturnType<TAbi, View, TName, TArgs>> {
  // The generic types of the library do not follow a name that is itself generic; the signature above is the promise.
  const abi: Abi = question.abi;
  const functionName: string = question.name;
  const args = question.args as readonly unknown[];
  const read = { to: question.to, data: encodeFunctionData({ abi, functionName, args }) };
  return {
    read: question.gasMax === undefined ? read : { ...read, gasMax: question.gasMax },
    decode(answer) {
      if (answer === null || answer === undefined) return null;
      try {
        return decodeFunctionResult({ abi, functionName, args, data: answer }) as never;
      } catch {
        // Whoever asked knows what a missing answer means; the bytes themselves tell nobody anything.
        return null;
      }
    },
  };
}
