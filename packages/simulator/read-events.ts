// Reads the protocol's events from the chain, decoded and in order, and counts them.

import type { ProtocolDeployment } from "@sextant/contracts/deploy/deployment";
import type { RpcRequestFunction } from "@sextant/contracts/deploy/rpc-request";
import { type EventSource, NEVER_EMITTED, PROTOCOL_ABIS } from "@sextant/contracts/interface/protocol-abis";
import {
  type AbiEvent,
  type Address,
  decodeEventLog,
  type Hex,
  numberToHex,
  type RpcLog,
  toEventSelector,
} from "viem";

export type DecodedProtocolEvent = {
  readonly block: number;
  readonly logIndex: number;
  readonly transactionHash: Hex;
  readonly address: Address;
  readonly contract: EventSource;
  readonly event: string;
  readonly args: Readonly<Record<string, unknown>>;
};

export type EventCount = {
  readonly contract: EventSource;
  readonly event: string;
  readonly count: number;
  /** Why no transaction can emit it, if so. */
  readonly never?: string;
};

/** A dense block has twenty events of half a kilobyte: some ten megabytes at a time. */
const BLOCKS_PER_REQUEST = 1_000;

const EVENTS: readonly { readonly contract: EventSource; readonly item: AbiEvent; readonly topic: Hex }[] =
  Object.entries(PROTOCOL_ABIS).flatMap(([contract, abi]) =>
    abi
      .filter((item) => item.type === "event")
      .map((item) => ({ contract: contract as EventSource, item, topic: toEventSelector(item) })),
  );

/** First topics of everything the protocol emits. */
export const PROTOCOL_TOPICS: ReadonlySet<Hex> = new Set(EVENTS.map(({ topic }) => topic));

const BY_SOURCE_AND_TOPIC = new Map<string, AbiEvent>(
  EVENTS.map((entry) => [`${entry.contract} ${entry.topic}`, entry.item] as const),
);

/** Reads from a block on, by default the first one of the deployment. */
export async function readEvents(
  request: RpcRequestFunction,
  deployment: ProtocolDeployment,
  fromBlock = deployment.startBlock,
): Promise<DecodedProtocolEvent[]> {
  const head = Number((await request("eth_blockNumber")) as Hex);
  const sources = new Map(
    Object.entries(deployment.contracts).map(([name, address]) => [address, name as EventSource]),
  );
  const events: DecodedProtocolEvent[] = [];
  for (let from = fromBlock; from <= head; from += BLOCKS_PER_REQUEST) {
    const to = Math.min(head, from + BLOCKS_PER_REQUEST - 1);
    const filter = { fromBlock: numberToHex(from), toBlock: numberToHex(to), topics: [[...PROTOCOL_TOPICS]] };
    for (const log of (await request("eth_getLogs", [filter])) as RpcLog[]) {
      const event = decode(log, sources.get(log.address) ?? "PolicyAccount");
      if (event !== undefined) events.push(event);
    }
  }
  return events;
}

/** One row per event of every interface, also for those that did not occur. */
export function countEvents(
  events: readonly Pick<DecodedProtocolEvent, "contract" | "event">[],
): EventCount[] {
  const counts = new Map<string, number>();
  for (const { contract, event } of events) {
    const name = `${contract}.${event}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return EVENTS.map(({ contract, item }) => {
    const name = `${contract}.${item.name}`;
    const never = NEVER_EMITTED[name];
    const count = counts.get(name) ?? 0;
    return { contract, event: item.name, count, ...(never === undefined ? {} : { never }) };
  });
}

/** Possible events that did not occur. */
export function missingEvents(counts: readonly EventCount[]): string[] {
  return counts
    .filter(({ count, never }) => count === 0 && never === undefined)
    .map(({ contract, event }) => `${contract}.${event}`);
}

// Unrelated contracts may emit events of the same name; only policy accounts may have any address.
function decode(log: RpcLog, contract: EventSource): DecodedProtocolEvent | undefined {
  const item = BY_SOURCE_AND_TOPIC.get(`${contract} ${log.topics[0]}`);
  if (item === undefined) return undefined;
  const { args } = decodeEventLog({ abi: [item], topics: log.topics, data: log.data });
  return {
    block: Number(log.blockNumber),
    logIndex: Number(log.logIndex),
    transactionHash: log.transactionHash as Hex,
    address: log.address,
    contract,
    event: item.name,
    args: (args ?? {}) as Readonly<Record<string, unknown>>,
  };
}
