// Compiles a decoder per event: topics and data in, named arguments out.
import { type AbiEvent, type AbiParameter, toEventSelector } from "viem";
import type { Hex } from "../../lib/hex.ts";
import {
  addHexPrefix,
  createWordReader,
  decodeStorableText,
  MalformedAbiError,
  readDynamicBytes,
  readWord,
} from "./words.ts";

export type EventDecoder = {
  readonly name: string;
  readonly topic0: Hex;
  /** The arguments in the order of the declaration; throws MalformedAbiError where the log breaks the ABI. */
  readonly decode: (topics: readonly Hex[], data: Hex) => Record<string, unknown>;
};

type Step = (topics: readonly Hex[], payload: string) => unknown;

export function createEventDecoder(event: AbiEvent): EventDecoder {
  const topicCount = 1 + event.inputs.filter((input) => input.indexed).length;
  const steps = stepsOf(event);
  return {
    name: event.name,
    topic0: toEventSelector(event),
    decode(topics, data) {
      if (topics.length !== topicCount) throw new MalformedAbiError(`expected ${topicCount} topics`);
      const payload = data.slice(2);
      const args: Record<string, unknown> = {};
      for (const { name, read } of steps) args[name] = read(topics, payload);
      return args;
    },
  };
}

function stepsOf(event: AbiEvent): { name: string; read: Step }[] {
  let topic = 0;
  let digit = 0;
  return event.inputs.map((input) => {
    const name = input.name ?? "";
    if (input.indexed) {
      topic += 1;
      return { name, read: topicStep(input, topic) };
    }
    const read = dataStep(input, digit);
    digit += 64;
    return { name, read };
  });
}

function topicStep(input: AbiParameter, index: number): Step {
  const read = createWordReader(input.type);
  if (!read) throw new Error(`the indexed type ${input.type} is only a hash in the log`);
  return (topics) => read(readWord(topics[index] ?? "", 2));
}

function dataStep(input: AbiParameter, digit: number): Step {
  const read = createWordReader(input.type);
  if (read) return (_topics, payload) => read(readWord(payload, digit));
  if (input.type === "string")
    return (_topics, payload) => decodeStorableText(readDynamicBytes(payload, readWord(payload, digit)));
  if (input.type === "bytes")
    return (_topics, payload) => addHexPrefix(readDynamicBytes(payload, readWord(payload, digit)));
  throw new Error(`events with ${input.type} are not supported`);
}
