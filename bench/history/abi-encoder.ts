// Values to ABI words: events as a node logs them and the arguments of calls, made for speed.
import {
  type Abi,
  type AbiEvent,
  type AbiParameter,
  type ContractEventArgsFromTopics,
  type ContractEventName,
  toEventSelector,
} from "viem";
import type { Hex } from "../../src/lib/hex.ts";

export type EncodedLog = { readonly address: Hex; readonly topics: readonly Hex[]; readonly data: Hex };

type Values = Readonly<Record<string, unknown>>;

/** Logs of a contract's events, typed by its ABI. */
export function eventEncoder<const A extends Abi>(
  abi: A,
): <Name extends ContractEventName<A>>(
  address: Hex,
  name: Name,
  args: ContractEventArgsFromTopics<A, Name>,
) => EncodedLog {
  const encoders = new Map(
    (abi as Abi)
      .filter((item): item is AbiEvent => item.type === "event")
      .map((event) => [event.name, encoderOf(event)]),
  );
  return (address, name, args) => {
    const encode = encoders.get(name);
    if (!encode) throw new Error(`there is no event ${name}`);
    return encode(address, args as Values);
  };
}

function encoderOf(event: AbiEvent): (address: Hex, args: Values) => EncodedLog {
  const topic0 = toEventSelector(event);
  const indexed = event.inputs.filter((input) => input.indexed);
  const rest = event.inputs.filter((input) => !input.indexed);
  return (address, args) => ({
    address,
    topics: [topic0, ...indexed.map((input): Hex => `0x${word(input.type, args[input.name ?? ""])}`)],
    data: `0x${encodeArguments(
      rest,
      rest.map((input) => args[input.name ?? ""]),
    )}`,
  });
}

/** The arguments of a call or the data of an event, without 0x. Tuples must be static and given flat. */
export function encodeArguments(
  inputs: readonly Pick<AbiParameter, "type">[],
  values: readonly unknown[],
): string {
  let head = "";
  let tail = "";
  for (const [index, { type }] of inputs.entries()) {
    const value = values[index];
    if (type !== "string" && type !== "bytes") {
      head += word(type, value);
      continue;
    }
    head += wordOf(BigInt(inputs.length * 32 + tail.length / 2));
    const digits =
      type === "bytes" ? String(value).slice(2) : Buffer.from(String(value), "utf8").toString("hex");
    tail += `${wordOf(BigInt(digits.length / 2))}${digits}${"0".repeat((64 - (digits.length % 64)) % 64)}`;
  }
  return head + tail;
}

function word(type: string, value: unknown): string {
  if (typeof value === "boolean") return wordOf(value ? 1n : 0n);
  if (typeof value === "bigint") return wordOf(value);
  if (typeof value === "number") return wordOf(BigInt(value));
  if (typeof value !== "string") throw new Error(`a ${type} is missing`);
  const digits = value.slice(2);
  return type === "address" ? digits.padStart(64, "0") : digits.padEnd(64, "0");
}

function wordOf(value: bigint): string {
  return value.toString(16).padStart(64, "0");
}
