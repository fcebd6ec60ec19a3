// Decodes the header of a block from its RLP: the hash commits to the state root.
import type { Hex } from "viem";
import { bytesToHex, hexToBytes, keccak256 } from "viem/utils";
import { Rejection } from "./rejection.ts";
import { decodeRlp, type RlpItem, requireBytes, requireInteger, requireSized } from "./strict-rlp.ts";

export type BlockHeader = {
  readonly hash: Hex;
  readonly stateRoot: Hex;
  readonly receiptsRoot: Hex;
  readonly number: bigint;
  readonly timestamp: bigint;
};

type Field = readonly [name: string, size: number | "integer" | "bytes"];

/** In the order of the hash. Later forks append fields. */
const FIELDS: readonly Field[] = [
  ["parentHash", 32],
  ["sha3Uncles", 32],
  ["miner", 20],
  ["stateRoot", 32],
  ["transactionsRoot", 32],
  ["receiptsRoot", 32],
  ["logsBloom", 256],
  ["difficulty", "integer"],
  ["number", "integer"],
  ["gasLimit", "integer"],
  ["gasUsed", "integer"],
  ["timestamp", "integer"],
  ["extraData", "bytes"],
  ["mixHash", 32],
  ["nonce", 8],
  // London
  ["baseFeePerGas", "integer"],
  // Shanghai
  ["withdrawalsRoot", 32],
  // Cancun
  ["blobGasUsed", "integer"],
  ["excessBlobGas", "integer"],
  ["parentBeaconBlockRoot", 32],
  // Prague
  ["requestsHash", 32],
  // Amsterdam
  ["blockAccessListHash", 32],
  ["slotNumber", "integer"],
];

/** Fields of a header before London, and as of London, Shanghai, Cancun, Prague and Amsterdam. */
const COUNTS = [15, 16, 17, 20, 21, 23];

const STATE_ROOT = 3;
const RECEIPTS_ROOT = 5;
const NUMBER = 8;
const TIMESTAMP = 11;

export function readHeader(encoded: Hex): BlockHeader {
  const header = decodeRlp(hexToBytes(encoded));
  if (header.kind !== "list" || !COUNTS.includes(header.items.length)) {
    throw new Rejection("The header has a number of fields that no known fork has.");
  }
  const { items } = header;
  for (const [index, item] of items.entries()) checkField(item, FIELDS[index]);
  return {
    hash: keccak256(encoded),
    stateRoot: bytesToHex(requireSized(items[STATE_ROOT], "stateRoot", 32)),
    receiptsRoot: bytesToHex(requireSized(items[RECEIPTS_ROOT], "receiptsRoot", 32)),
    number: requireInteger(items[NUMBER], "number"),
    timestamp: requireInteger(items[TIMESTAMP], "timestamp"),
  };
}

function checkField(item: RlpItem, field: Field | undefined): void {
  const [name, size] = field ?? ["field", "bytes"];
  if (size === "integer") requireInteger(item, `${name} of the header`);
  else if (size === "bytes") requireBytes(item, `${name} of the header`);
  else requireSized(item, `${name} of the header`, size);
}

/** As responses write it; null if a date cannot hold it. */
export function formatTime(seconds: bigint): string | null {
  return seconds > 8_640_000_000_000n ? null : new Date(Number(seconds) * 1000).toISOString();
}
