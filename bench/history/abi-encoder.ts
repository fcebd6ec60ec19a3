// Logs as a node sends them, typed by the ABI of the contract that emits them.
import type { Abi, AbiEvent, ContractEventArgsFromTopics, ContractEventName } from "viem";
import { createEventCodec } from "../../src/lib/abi/codec.ts";
import type { Hex } from "../../src/lib/hex.ts";

export type EncodedLog = { readonly address: Hex; readonly topics: readonly Hex[]; readonly data: Hex };

export function eventEncoder<const A extends Abi>(
  abi: A,
): <Name extends ContractEventName<A>>(
  address: Hex,
  name: Name,
  args: ContractEventArgsFromTopics<A, Name>,
) => EncodedLog {
  const codecs = new Map(
    (abi as Abi)
      .filter((item): item is AbiEvent => item.type === "event")
      .map((event) => [event.name, createEventCodec(event)]),
  );
  return (address, name, args) => {
    const codec = codecs.get(name);
    if (!codec) throw new Error(`there is no event ${name}`);
    return { address, ...codec.encode(args as Readonly<Record<string, unknown>>) };
  };
}
