// Checks events of a record: the receipt in the trie of its block's receipts, and the log in it by contract, event and id.
import type { Hex } from "viem";
import { bytesToHex, keccak256, stringToBytes } from "viem/utils";
import type { BlockHeader } from "./header.ts";
import type { EventLayout, EventValue, RecordLayout } from "./record-layouts.ts";
import { decodeWord } from "./record-storage.ts";
import { Rejection } from "./rejection.ts";
import { readStatedHeader } from "./stated-header.ts";
import { memberOf, requireClosed, requireCount, requireHex, requireList } from "./strict-json.ts";
import { decodeRlp, type RlpItem, requireBytes, requireSized } from "./strict-rlp.ts";
import { readListTrie, TrieNodes } from "./trie.ts";

/** An event that the receipts of its block show. */
export type RecordLog = {
  /** The JSON pointer of the entry. */
  readonly path: string;
  readonly event: string;
  readonly header: BlockHeader;
  /** Members of the record, as the event or its block has them. */
  readonly values: Readonly<Record<string, unknown>>;
};

type LogContext = {
  readonly layout: RecordLayout;
  /** The id of the record, which is the first topic after that of the event. */
  readonly key: Hex;
  readonly contract: Hex;
  readonly head: BlockHeader;
};

const MEMBERS = ["event", "block", "header", "nodes", "transaction", "log"];
const NODES_MAX = 16;
/** A receipt with all its logs, which may be many. */
const NODE = /^0x(?:[0-9a-f]{2}){1,131072}$/;
const TRANSACTIONS_MAX = 65_535;

export function checkRecordLogs(entries: readonly unknown[], context: LogContext): readonly RecordLog[] {
  const logs = entries.map((entry, index) => checkLog(entry, `/proofs/logs/${index}`, context));
  if (new Set(logs.map(({ event }) => event)).size !== logs.length) {
    throw new Rejection("An event is in the proofs twice.");
  }
  return logs;
}

function checkLog(value: unknown, path: string, { layout, key, contract, head }: LogContext): RecordLog {
  const entry = requireClosed(value, path, MEMBERS);
  const event = memberOf(entry, "event");
  const declared =
    typeof event === "string" && Object.hasOwn(layout.events, event) ? layout.events[event] : undefined;
  if (typeof event !== "string" || declared === undefined) {
    throw new Rejection(`${path}/event is not an event of such a record.`);
  }
  const header = readStatedHeader(entry, path);
  const isLater = header.number > head.number || (header.number === head.number && header.hash !== head.hash);
  if (isLater) throw new Rejection(`${path}/block is later than the block of the record.`);
  const nodes = requireList(memberOf(entry, "nodes"), `${path}/nodes`, NODES_MAX);
  const trie = new TrieNodes(nodes.map((node, index) => requireHex(node, `${path}/nodes/${index}`, NODE)));
  const transaction = requireCount(memberOf(entry, "transaction"), `${path}/transaction`);
  if (transaction > TRANSACTIONS_MAX) throw new Rejection(`${path}/transaction is malformed.`);
  const receipt = readListTrie(trie, header.receiptsRoot, transaction);
  if (receipt === null) throw new Rejection("The block has no receipt at this position.");
  if (trie.unusedCount > 0) throw new Rejection(`${path} has nodes that do not lead to the receipt.`);
  const log = readLog(receipt, requireCount(memberOf(entry, "log"), `${path}/log`));
  const isOfRecord =
    log.address === contract &&
    log.topics[0] === keccak256(stringToBytes(declared.signature)) &&
    log.topics[1] === key;
  if (!isOfRecord) throw new Rejection(`${path} is an event of another contract or record.`);
  return { path, event, header, values: readValues(declared, log, header) };
}

type Log = { readonly address: Hex; readonly topics: readonly Hex[]; readonly data: Uint8Array };

const LOGS = 3;
const RECEIPT_ITEMS = [4, 5, 6];
const LIST = 0xc0;
const TOPICS_MAX = 4;

/** Receipts of newer transactions begin with the number of their type. Those of deposits have more items behind. */
function readLog(encoded: Uint8Array, index: number): Log {
  const receipt = decodeRlp((encoded[0] ?? 0) >= LIST ? encoded : encoded.subarray(1));
  if (receipt.kind !== "list" || !RECEIPT_ITEMS.includes(receipt.items.length)) {
    throw new Rejection("The receipt does not have the members of one.");
  }
  const log = itemsOf(receipt.items[LOGS])[index];
  if (log === undefined) throw new Rejection("The receipt has no event at this position.");
  const [address, topics, data, ...others] = itemsOf(log);
  if (others.length > 0) throw new Rejection("The event does not have the members of one.");
  return {
    address: bytesToHex(requireSized(address, "contract of an event", 20)),
    topics: itemsOf(topics)
      .slice(0, TOPICS_MAX)
      .map((topic) => bytesToHex(requireSized(topic, "topic of an event", 32))),
    data: requireBytes(data, "data of an event"),
  };
}

function itemsOf(item: RlpItem | undefined): readonly RlpItem[] {
  if (item?.kind !== "list") throw new Rejection("A receipt has bytes in place of a list.");
  return item.items;
}

function readValues({ fields }: EventLayout, log: Log, header: BlockHeader): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([path, place]) => [path, readValue(place, log, header)]),
  );
}

function readValue(place: EventValue, { topics, data }: Log, header: BlockHeader): unknown {
  if ("block" in place) return place.block === "hash" ? header.hash : header[place.block].toString();
  const word =
    "topic" in place ? topics[place.topic] : bytesToHex(data.subarray(place.word * 32, place.word * 32 + 32));
  if (word?.length !== 66) throw new Rejection("The event lacks a value.");
  return decodeWord(BigInt(word), place.type);
}
