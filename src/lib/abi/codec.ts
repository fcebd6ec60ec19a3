// The ABI codec: functions, events and parameter lists, each compiled once and used many times.
// It takes a fifth to a fiftieth of the time of viem's general codec (codec.bench.ts); an index of millions of logs and
// a wallet of thousands of tokens need that.
import {
  type Abi,
  type AbiEvent,
  type AbiFunction,
  type AbiParameter,
  type AbiStateMutability,
  type ContractFunctionArgs,
  type ContractFunctionName,
  type ContractFunctionReturnType,
  decodeAbiParameters,
  encodeFunctionData,
  type ParseAbi,
  parseAbi,
  toEventSelector,
  toFunctionSelector,
} from "viem";
import type { Hex } from "../hex.ts";
import {
  compileParameter,
  compileSequence,
  MalformedAbiError,
  type TextDecoding,
  type ValueCodec,
} from "./words.ts";

// Offsets count from the start of a list of values, so hex text is decoded without a copy, behind its prefix.
const HEX_PREFIX_LENGTH = 2;
/** `0x` and four bytes. */
const SELECTOR_LENGTH = 10;

type ParametersCodec = {
  encode(values: readonly unknown[]): Hex;
  /** Throws MalformedAbiError for data that is not in canonical form. Addresses are lower case. */
  decode(data: Hex): readonly unknown[];
};

export function createParametersCodec(parameters: readonly AbiParameter[]): ParametersCodec {
  const sequence = compileSequence(parameters.map((parameter) => compileParameter(parameter, "utf8")));
  return {
    encode: (values) => `0x${sequence.encode(values)}`,
    decode: (data) => sequence.decode(data, HEX_PREFIX_LENGTH),
  };
}

export type FunctionCodec<Args = readonly unknown[], Result = unknown> = {
  readonly selector: Hex;
  encodeCall(args: Args): Hex;
  /** The result, a list of several results, or undefined for none. */
  decodeResult(data: Hex): Result;
  encodeResult(result: Result): Hex;
};

/** The first function of that name. */
export function findAbiFunction(abi: Abi, name: string): AbiFunction {
  const item = abi.find((each): each is AbiFunction => each.type === "function" && each.name === name);
  if (!item) throw new Error(`${name} is not a function of the ABI`);
  return item;
}

export function findAbiEvent(abi: Abi, name: string): AbiEvent {
  const item = abi.find((each): each is AbiEvent => each.type === "event" && each.name === name);
  if (!item) throw new Error(`${name} is not an event of the ABI`);
  return item;
}

/** The codec of the first function of that name. */
export function createFunctionCodec<const A extends Abi, Name extends ContractFunctionName<A>>(
  abi: A,
  name: Name,
  text: TextDecoding = "utf8",
): FunctionCodec<
  ContractFunctionArgs<A, AbiStateMutability, Name>,
  ContractFunctionReturnType<A, AbiStateMutability, Name>
> {
  const item = findAbiFunction(abi, name);
  const compile = (parameters: readonly AbiParameter[]) =>
    compileSequence(parameters.map((parameter) => compileParameter(parameter, text)));
  const selector = toFunctionSelector(item);
  const inputs = compile(item.inputs);
  const outputs = compile(item.outputs);
  const codec: FunctionCodec = {
    selector,
    encodeCall: (args) => `${selector}${inputs.encode(args)}`,
    decodeResult: (data) => {
      const values = outputs.decode(data.toLowerCase(), HEX_PREFIX_LENGTH);
      return item.outputs.length === 1 ? values[0] : item.outputs.length === 0 ? undefined : values;
    },
    encodeResult: (result) => {
      const values = item.outputs.length === 1 ? [result] : item.outputs.length === 0 ? [] : result;
      return `0x${outputs.encode(values as readonly unknown[])}`;
    },
  };
  // The types of the ABI describe exactly what the codec takes and returns.
  return codec as FunctionCodec<never, never>;
}

type SignatureAbi<S extends string> = ParseAbi<readonly [S]> extends infer A extends Abi ? A : never;

/** For a function that no ABI of ours has: `function balanceOf(address) view returns (uint256)`. */
export function createSignatureCodec<const S extends string>(
  signature: S,
): FunctionCodec<
  ContractFunctionArgs<SignatureAbi<S>, AbiStateMutability, ContractFunctionName<SignatureAbi<S>>>,
  ContractFunctionReturnType<SignatureAbi<S>, AbiStateMutability, ContractFunctionName<SignatureAbi<S>>>
> {
  const abi = parseAbi([signature] as readonly string[]) as Abi;
  const [item] = abi;
  if (item?.type !== "function") throw new Error(`not a function: ${signature}`);
  return createFunctionCodec(abi, item.name) as FunctionCodec<never, never>;
}

/** Reads the arguments behind the selector of calldata. */
type ArgumentsDecoder = (calldata: Hex) => readonly unknown[];

/**
 * Calldata is whatever a sender made: data that is not in canonical form (dirty padding, odd offsets) is left to viem,
 * which is more tolerant, so that the same calldata always gives the same stored values.
 */
export function createArgumentsDecoder(inputs: readonly AbiParameter[]): ArgumentsDecoder {
  const sequence = compileSequence(inputs.map((input) => compileParameter(input, "utf8")));
  return (calldata) => {
    try {
      return sequence.decode(calldata, SELECTOR_LENGTH);
    } catch (error) {
      if (!(error instanceof MalformedAbiError)) throw error;
      return decodeAbiParameters(inputs, `0x${calldata.slice(SELECTOR_LENGTH)}`);
    }
  };
}

type EventArguments = Readonly<Record<string, unknown>>;

export type EventCodec = {
  readonly name: string;
  readonly topic0: Hex;
  /** The arguments in the order of the declaration; throws MalformedAbiError if the log breaks the ABI. */
  decode(topics: readonly Hex[], data: Hex): Record<string, unknown>;
  encode(args: EventArguments): { readonly topics: readonly Hex[]; readonly data: Hex };
  /** A filter for logs with these indexed arguments; null for an argument that is not given. */
  encodeTopics(args: EventArguments): readonly (Hex | null)[];
};

/** The first topic of an event: `hashEvent("Transfer(address,address,uint256)")`. */
export function hashEvent(event: AbiEvent | string): Hex {
  return toEventSelector(event);
}

type EventStep = {
  readonly name: string;
  readonly isIndexed: boolean;
  readonly codec: ValueCodec;
  /** The index of the topic, or among the values of the data. */
  readonly at: number;
};

/** Text is decoded storable: the index writes it as it is. */
export function createEventCodec(event: AbiEvent): EventCodec {
  const topic0 = hashEvent(event);
  const steps = compileEvent(event);
  const topicCount = 1 + steps.filter(({ isIndexed }) => isIndexed).length;
  const plain = steps.filter(({ isIndexed }) => !isIndexed);
  const indexed = steps.filter(({ isIndexed }) => isIndexed);
  const data = compileSequence(plain.map(({ codec }) => codec));
  return {
    name: event.name,
    topic0,
    decode(topics, payload) {
      if (topics.length !== topicCount) throw new MalformedAbiError(`expected ${topicCount} topics`);
      const values = data.decode(payload, HEX_PREFIX_LENGTH);
      const args: Record<string, unknown> = {};
      for (const { name, isIndexed, codec, at } of steps) {
        args[name] = isIndexed ? codec.decode(topics[at] ?? "", HEX_PREFIX_LENGTH) : values[at];
      }
      return args;
    },
    encode: (args) => ({
      topics: [topic0, ...indexed.map(({ name, codec }): Hex => `0x${codec.encode(args[name])}`)],
      data: `0x${data.encode(plain.map(({ name }) => args[name]))}`,
    }),
    encodeTopics: (args) => [
      topic0,
      ...indexed.map(({ name, codec }): Hex | null =>
        name in args ? `0x${codec.encode(args[name])}` : null,
      ),
    ],
  };
}

function compileEvent(event: AbiEvent): readonly EventStep[] {
  let topics = 0;
  let values = -1;
  return event.inputs.map((input) => {
    const codec = compileParameter(input, "storable");
    const isIndexed = input.indexed === true;
    if (isIndexed && (codec.isDynamic || codec.words > 1)) {
      throw new Error(`the indexed type ${input.type} is only a hash in the log`);
    }
    if (isIndexed) topics += 1;
    else values += 1;
    return { name: input.name ?? "", isIndexed, codec, at: isIndexed ? topics : values };
  });
}

/** A call by an ABI that a library hands over: viem chooses between overloads, which our own ABIs never need. */
export function encodeForeignCall(call: {
  readonly abi: Abi;
  readonly functionName: string;
  readonly args: readonly unknown[];
}): Hex {
  return encodeFunctionData(call);
}
