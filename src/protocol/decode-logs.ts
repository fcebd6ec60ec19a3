// Decodes logs of a deployment into events of the protocol, and explains them: arguments as JSON, and one sentence.
import type { AbiEvent } from "viem";
import { createEventCodec, type EventCodec } from "../lib/abi/codec.ts";
import { MalformedAbiError } from "../lib/abi/words.ts";
import { assertDefined } from "../lib/assert-defined.ts";
import type { Hex } from "../lib/hex.ts";
import type { ChainLog, EmittedEvent, LogWithDetails } from "../schema/chain-log.ts";
import type { EventRule } from "../schema/domain.ts";
import { joinSentence, type Sentence } from "../schema/sentence.ts";
import type { Deployment } from "./deployment.ts";
import { domains } from "./domains.ts";
import type { FilteredEvent } from "./event-filter.ts";

export type DecodedEvent = EmittedEvent<never> & {
  readonly contract: string;
  readonly name: string;
  readonly rule: EventRule<never>;
};

/** A log of the protocol with its event, as folds take it. */
export type DecodedLog = LogWithDetails & { readonly event: DecodedEvent };

export type LogDecoder = {
  /** Null if the log is not an event of the protocol. */
  readonly decode: (log: ChainLog, timestamp: bigint) => DecodedEvent | null;
  /** The contracts of the deployment. */
  readonly addresses: readonly Hex[];
  readonly topics0: readonly Hex[];
  /** The events of each of these contracts. */
  readonly topics0ByAddress: Readonly<Record<Hex, readonly Hex[]>>;
  /** Events that count from any emitter. */
  readonly anyEmitterTopics0: readonly Hex[];
};

type Entry = { contract: string; address: Hex | null; decoder: EventCodec; rule: EventRule<never> };

type Contracts = Pick<Deployment, "contracts">;

export function createLogDecoder(deployment: Contracts): LogDecoder {
  const entries = entriesOf(deployment);
  const byTopic = new Map<Hex, readonly Entry[]>();
  for (const entry of entries)
    byTopic.set(entry.decoder.topic0, [...(byTopic.get(entry.decoder.topic0) ?? []), entry]);
  const topicsOf = (chosen: readonly Entry[]) => [...new Set(chosen.map(({ decoder }) => decoder.topic0))];
  const addresses = [...new Set(entries.flatMap(({ address }) => (address ? [address] : [])))];
  const eventsOf = (emitter: Hex) => topicsOf(entries.filter(({ address }) => address === emitter));
  return {
    addresses,
    topics0: topicsOf(entries.filter(({ address }) => address !== null)),
    topics0ByAddress: Object.fromEntries(addresses.map((address) => [address, eventsOf(address)])),
    anyEmitterTopics0: topicsOf(entries.filter(({ address }) => address === null)),
    decode(log, timestamp) {
      const candidates = byTopic.get(log.topics[0] ?? "0x");
      const entry = candidates?.find(({ address }) => address === log.address || address === null);
      return entry ? eventOf(entry, log, timestamp) : null;
    },
  };
}

function entriesOf(deployment: Contracts): Entry[] {
  const addresses: Readonly<Record<string, Hex>> = deployment.contracts;
  return domains.flatMap((domain) =>
    domain.abi
      .filter((item): item is AbiEvent => item.type === "event" && item.name in domain.events)
      .map((item) => ({
        contract: domain.contract,
        address: domain.anyEmitter ? null : (addresses[domain.contract] ?? null),
        decoder: createEventCodec(item),
        rule: assertDefined(domain.events[item.name], `the rule of ${item.name}`),
      })),
  );
}

function eventOf(entry: Entry, log: ChainLog, timestamp: bigint): DecodedEvent | null {
  try {
    return {
      contract: entry.contract,
      name: entry.decoder.name,
      rule: entry.rule,
      args: entry.decoder.decode(log.topics, log.data) as never,
      address: log.address,
      blockNumber: BigInt(log.blockNumber),
      timestamp,
      txHash: log.transactionHash,
      logIndex: log.logIndex,
    };
  } catch (cause) {
    // Anyone can emit a malformed imitation of an account's event: ignore it. A contract of the deployment never
    // breaks its own ABI, so that is a bug and must stop the index.
    if (cause instanceof MalformedAbiError && entry.address === null) return null;
    throw new Error(`log ${log.logIndex} of block ${log.blockNumber} is not a valid ${entry.decoder.name}`, {
      cause,
    });
  }
}

export type ExplainedEvent = {
  readonly eventName: string;
  readonly args: Readonly<Record<string, string | boolean>>;
  readonly description: string;
};

type LinkedEvent = DecodedEvent & Pick<FilteredEvent, "linked">;

export function explainEvent(event: LinkedEvent): ExplainedEvent {
  return {
    eventName: event.name,
    args: formatArguments(event.args),
    description: joinSentence(explainParts(event)),
  };
}

/** The sentence in parts. Events of an intent have its id alone: its tokens and limits are in linked rows. */
export function explainParts(event: LinkedEvent): Sentence {
  const [input_token = null] = event.linked?.input_token ?? [];
  const [output_token = null] = event.linked?.output_token ?? [];
  const [amount_in_max = null] = event.linked?.amount_in_max ?? [];
  const [amount_out_min = null] = event.linked?.amount_out_min ?? [];
  return event.rule.explain(event, { input_token, output_token, amount_in_max, amount_out_min });
}

// Integers of any width as text, so that clients need not know which ones fit a number.
function formatArguments(args: Readonly<Record<string, unknown>>): Record<string, string | boolean> {
  const formatted: Record<string, string | boolean> = {};
  for (const name of Object.keys(args)) {
    const value = args[name];
    formatted[name] = typeof value === "boolean" ? value : String(value);
  }
  return formatted;
}
