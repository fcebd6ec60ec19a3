// What an event leaves out and how to learn it: from the call that caused it, or from the record the contract keeps.
import {
  type Abi,
  type ContractFunctionArgs,
  type ContractFunctionName,
  type ContractFunctionReturnType,
  decodeFunctionResult,
  encodeEventTopics,
  encodeFunctionData,
  encodeFunctionResult,
  getAbiItem,
  toFunctionSelector,
} from "viem";
import { createArgumentsDecoder } from "../lib/abi/codec.ts";
import type { Hex } from "../lib/hex.ts";
import type { EventRecord } from "./event.ts";

export type DetailsReader<T> = {
  /** The first four bytes of the call that causes the event. */
  readonly selector: Hex;
  /** From the input of a call to the contract; null where it is another call. */
  readonly decodeCall: (input: Hex) => T | null;
  /** Whether the call says what the event says; input that the contract could not read never does. */
  readonly callMatches: (input: Hex, event: EventRecord<never>) => boolean;
  /** The view call that returns the record the event is about. */
  readonly encodeStateCall: (event: EventRecord<never>) => Hex;
  readonly decodeState: (output: Hex) => T;
  /** The record as it is stored with the log; null where the output is not the record of this event. */
  readonly normalizeRecord: (output: Hex, event: EventRecord<never>) => Hex | null;
  /** What of the details may change after the event; null where nothing does, and any later block tells them. */
  readonly mutable: {
    /** The event that tells of a change. */
    readonly eventName: string;
    /** The topics of that event for the record of this one. */
    readonly encodeTopics: (event: EventRecord<never>) => readonly Hex[];
    /** Whether call and record agree: in all details, or in those that never change. */
    readonly agrees: (input: Hex, record: Hex, scope: "all" | "lasting") => boolean;
  } | null;
};

type CallArgs<
  A extends Abi,
  Call extends ContractFunctionName<A, "nonpayable" | "payable">,
> = ContractFunctionArgs<A, "nonpayable" | "payable", Call>;
type ViewResult<
  A extends Abi,
  View extends ContractFunctionName<A, "view" | "pure">,
> = ContractFunctionReturnType<A, "view" | "pure", View>;

export type DetailsDeclaration<
  A extends Abi,
  Call extends ContractFunctionName<A, "nonpayable" | "payable">,
  View extends ContractFunctionName<A, "view" | "pure">,
  Args,
  T,
> = {
  readonly abi: A;
  readonly call: Call;
  readonly fromCall: (args: CallArgs<A, Call>) => T;
  readonly callMatches: (args: CallArgs<A, Call>, event: Args) => boolean;
  readonly view: View;
  readonly viewArgs: (event: Args) => ContractFunctionArgs<A, "view" | "pure", View>;
  readonly fromView: (result: ViewResult<A, View>) => T;
  readonly viewMatches: (result: ViewResult<A, View>, event: Args) => boolean;
  /** The record with everything that may change later as it was at the event, so that every block gives the same. */
  readonly asEmitted?: (result: ViewResult<A, View>) => ViewResult<A, View>;
  readonly mutable?: {
    readonly fields: readonly (keyof T & string)[];
    readonly eventName: string;
    /** The indexed argument that names the record in both events. */
    readonly key: keyof Args & string;
  };
};

export function defineDetails<
  const A extends Abi,
  Call extends ContractFunctionName<A, "nonpayable" | "payable">,
  View extends ContractFunctionName<A, "view" | "pure">,
  Args,
  T,
>(declared: DetailsDeclaration<A, Call, View, Args, T>): DetailsReader<T> {
  const abi: Abi = declared.abi;
  const { mutable: changing } = declared;
  const functionName = declared.view as string;
  const item = getAbiItem({ abi, name: declared.call as string });
  if (item?.type !== "function") throw new Error(`${String(declared.call)} is not a function`);
  const selector = toFunctionSelector(item);
  const readArguments = createArgumentsDecoder(item.inputs);
  const argsOf = (input: Hex) => readArguments(input) as CallArgs<A, Call>;
  const resultOf = (output: Hex) =>
    decodeFunctionResult({ abi, functionName, data: output }) as ViewResult<A, View>;
  const fromCall = (input: Hex) => (input.startsWith(selector) ? declared.fromCall(argsOf(input)) : null);
  const fromState = (output: Hex) => declared.fromView(resultOf(output));
  return {
    selector,
    decodeCall: fromCall,
    callMatches(input, event) {
      const args = input.startsWith(selector) ? unlessMalformed(() => argsOf(input)) : null;
      return args !== null && declared.callMatches(args, event.args as Args);
    },
    encodeStateCall: (event) =>
      encodeFunctionData({
        abi,
        functionName,
        args: declared.viewArgs(event.args as Args) as readonly unknown[],
      }),
    decodeState: fromState,
    normalizeRecord(output, event) {
      const result = unlessMalformed(() => resultOf(output));
      if (result === null || !declared.viewMatches(result, event.args as Args)) return null;
      if (!declared.asEmitted) return output;
      return encodeFunctionResult({ abi, functionName, result: declared.asEmitted(result) as never });
    },
    mutable: changing
      ? {
          eventName: changing.eventName,
          encodeTopics: (event) => {
            const args = { [changing.key]: (event.args as Args)[changing.key] };
            return encodeEventTopics({ abi, eventName: changing.eventName, args }) as readonly Hex[];
          },
          agrees: (input, record, scope) => {
            const skipped: readonly string[] = scope === "all" ? [] : changing.fields;
            const [called, kept] = [fromCall(input), fromState(record)];
            return called !== null && sameFields(Object(called), Object(kept), skipped);
          },
        }
      : null,
  };
}

/** Null for bytes that are no ABI encoding: nodes that dropped a state return empty ones, and calldata is anything. */
function unlessMalformed<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}

function sameFields(left: object, right: object, skipped: readonly string[]): boolean {
  const rightFields = new Map(Object.entries(right));
  return Object.entries(left).every(
    ([name, value]) => skipped.includes(name) || String(value) === String(rightFields.get(name)),
  );
}
