// Details that an event leaves out, read from the call that caused it or from the record in the contract.
import type { Abi, ContractFunctionArgs, ContractFunctionName, ContractFunctionReturnType } from "viem";
import {
  createArgumentsDecoder,
  createEventCodec,
  createFunctionCodec,
  findAbiEvent,
  findAbiFunction,
} from "../lib/abi/codec.ts";
import type { Hex } from "../lib/hex.ts";
import type { EmittedEvent } from "./chain-log.ts";

export type DetailsReader<T> = {
  /** The selector of the call that causes the event. */
  readonly selector: Hex;
  /** Details from the input of a call to the contract; null for another call. */
  readonly decodeCall: (input: Hex) => T | null;
  /** Whether the call agrees with the event; input that the contract could not decode never does. */
  readonly callMatches: (input: Hex, event: EmittedEvent<never>) => boolean;
  /** The view call that returns the record of the event. */
  readonly encodeStateCall: (event: EmittedEvent<never>) => Hex;
  readonly decodeState: (output: Hex) => T;
  /** The record as stored with the log; null if the output is not the record of this event. */
  readonly normalizeRecord: (output: Hex, event: EmittedEvent<never>) => Hex | null;
  /** Details that may change after the event; null if none do, so that any later block has them. */
  readonly mutable: {
    /** The event that reports a change. */
    readonly eventName: string;
    /** The topics of that event for the record of this one. */
    readonly encodeTopics: (event: EmittedEvent<never>) => readonly (Hex | null)[];
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

type DetailsDeclaration<
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
  /** The record with mutable fields reset to their values at the event, so that every block gives the same. */
  readonly asEmitted?: (result: ViewResult<A, View>) => ViewResult<A, View>;
  readonly mutable?: {
    readonly fields: readonly (keyof T & string)[];
    readonly eventName: string;
    /** The indexed argument that identifies the record in both events. */
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
  const { mutable } = declared;
  const { selector } = createFunctionCodec(abi, declared.call);
  const decodeArguments = createArgumentsDecoder(findAbiFunction(abi, declared.call).inputs);
  const view = createFunctionCodec(abi, declared.view as string);
  const changeEvent = mutable ? createEventCodec(findAbiEvent(abi, mutable.eventName)) : null;
  // The casts below cross from the untyped results of a generic ABI to the types that the declaration infers from it.
  const argsOf = (input: Hex) => decodeArguments(input) as CallArgs<A, Call>;
  const resultOf = (output: Hex) => view.decodeResult(output) as ViewResult<A, View>;
  const decodeCall = (input: Hex) => (input.startsWith(selector) ? declared.fromCall(argsOf(input)) : null);
  const decodeState = (output: Hex) => declared.fromView(resultOf(output));
  return {
    selector,
    decodeCall,
    callMatches(input, event) {
      const args = input.startsWith(selector) ? unlessMalformed(() => argsOf(input)) : null;
      return args !== null && declared.callMatches(args, event.args as Args);
    },
    encodeStateCall: (event) => view.encodeCall(declared.viewArgs(event.args as Args) as readonly unknown[]),
    decodeState,
    normalizeRecord(output, event) {
      const result = unlessMalformed(() => resultOf(output));
      if (result === null || !declared.viewMatches(result, event.args as Args)) return null;
      if (!declared.asEmitted) return output;
      return view.encodeResult(declared.asEmitted(result));
    },
    mutable:
      mutable && changeEvent
        ? {
            eventName: mutable.eventName,
            encodeTopics: (event) =>
              changeEvent.encodeTopics({ [mutable.key]: (event.args as Args)[mutable.key] }),
            agrees: (input, record, scope) => {
              const skipped: readonly string[] = scope === "all" ? [] : mutable.fields;
              const [called, stored] = [decodeCall(input), decodeState(record)];
              return called !== null && sameFields(Object(called), Object(stored), skipped);
            },
          }
        : null,
  };
}

/** Null for bytes that are not ABI-encoded: nodes without the state return empty ones, and calldata may be anything. */
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
