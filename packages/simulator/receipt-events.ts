// Decodes the events of a transaction receipt.

import type { TransactionReceipt } from "@sextant/contracts/deploy/transaction";
import {
  type Abi,
  type AbiEvent,
  type Address,
  type ContractEventName,
  type DecodeEventLogReturnType,
  decodeEventLog,
  type Hex,
  toEventSelector,
} from "viem";

type EventArgs<abi extends Abi, name extends ContractEventName<abi>> = Extract<
  DecodeEventLogReturnType<abi, name>,
  { eventName: name }
>["args"];

type Known = { readonly item: AbiEvent; readonly topic: Hex };

// Hashing the signatures of a whole interface for each receipt would cost more than mining the transaction.
const knownEvents = new WeakMap<Abi, Map<string, Known>>();

/** The arguments of every such event that the contract emitted, in order. */
export function decodeReceiptEvents<const abi extends Abi, name extends ContractEventName<abi>>(
  receipt: TransactionReceipt,
  address: Address,
  abi: abi,
  name: name,
): EventArgs<abi, name>[] {
  const { item, topic } = lookUp(abi, name);
  return receipt.logs
    .filter((log) => log.topics[0] === topic && log.address === address)
    .map(({ topics, data }) => {
      const decoded = decodeEventLog({ abi: [item], topics: topics as [Hex, ...Hex[]], data });
      return decoded.args as EventArgs<abi, name>;
    });
}

/** The arguments of the one event that a successful call must have emitted. */
export function decodeReceiptEvent<const abi extends Abi, name extends ContractEventName<abi>>(
  receipt: TransactionReceipt,
  address: Address,
  abi: abi,
  name: name,
): EventArgs<abi, name> {
  const [args] = decodeReceiptEvents(receipt, address, abi, name);
  if (args === undefined) throw new Error(`Transaction ${receipt.transactionHash} emitted no ${name}`);
  return args;
}

function lookUp(abi: Abi, name: string): Known {
  let known = knownEvents.get(abi);
  if (known === undefined) {
    const items = abi.filter((item) => item.type === "event");
    known = new Map(items.map((item) => [item.name, { item, topic: toEventSelector(item) }]));
    knownEvents.set(abi, known);
  }
  const event = known.get(name);
  if (event === undefined) throw new Error(`The interface has no event ${name}`);
  return event;
}
