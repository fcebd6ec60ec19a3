// What an event leaves out and how to learn it: from the call that caused it, else from the contract's state.
import {
  type Abi,
  type ContractFunctionArgs,
  type ContractFunctionName,
  type ContractFunctionReturnType,
  decodeFunctionResult,
  encodeFunctionData,
  getAbiItem,
  toFunctionSelector,
} from "viem";
import type { Hex } from "../kit/hex.ts";
import { argumentsReader } from "./call-arguments.ts";
import type { EventRecord } from "./event.ts";

export type DetailsReader<T> = {
  /** From the input of a transaction sent straight to the contract; null where it is another call. */
  readonly fromCall: (input: Hex) => T | null;
  /** The view call that tells the same, to be made at the event's block. */
  readonly stateCall: (event: EventRecord<never>) => Hex;
  readonly fromState: (output: Hex) => T;
};

export function details<
  const A extends Abi,
  Call extends ContractFunctionName<A, "nonpayable" | "payable">,
  View extends ContractFunctionName<A, "view" | "pure">,
  Args,
  T,
>(declared: {
  abi: A;
  call: Call;
  fromCall: (args: ContractFunctionArgs<A, "nonpayable" | "payable", Call>) => T;
  view: View;
  viewArgs: (args: Args) => ContractFunctionArgs<A, "view" | "pure", View>;
  fromView: (result: ContractFunctionReturnType<A, "view" | "pure", View>) => T;
}): DetailsReader<T> {
  const abi: Abi = declared.abi;
  const item = getAbiItem({ abi, name: declared.call as string });
  if (item?.type !== "function") throw new Error(`${String(declared.call)} is not a function`);
  const selector = toFunctionSelector(item);
  const readArguments = argumentsReader(item.inputs);
  return {
    fromCall(input) {
      if (!input.startsWith(selector)) return null;
      const args = readArguments(input.slice(10));
      return declared.fromCall(args as ContractFunctionArgs<A, "nonpayable" | "payable", Call>);
    },
    stateCall: (event) =>
      encodeFunctionData({
        abi,
        functionName: declared.view as string,
        args: declared.viewArgs(event.args as Args) as readonly unknown[],
      }),
    fromState: (output) =>
      declared.fromView(
        decodeFunctionResult({
          abi,
          functionName: declared.view as string,
          data: output,
        }) as ContractFunctionReturnType<A, "view" | "pure", View>,
      ),
  };
}
