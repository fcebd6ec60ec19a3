// Encodes the header of a block, so that a reader can hash it: null if the node's fields do not lead to the block's hash.
import type { Hex } from "../../lib/hex.ts";
import type { JsonObject } from "../../lib/json.ts";
import { encodeRlp, hashRlp } from "./rlp.ts";

type FieldForm = "bytes" | "number";

/** The fields that every header has, in the order of their encoding. */
const REQUIRED: readonly (readonly [name: string, form: FieldForm])[] = [
  ["parentHash", "bytes"],
  ["sha3Uncles", "bytes"],
  ["miner", "bytes"],
  ["stateRoot", "bytes"],
  ["transactionsRoot", "bytes"],
  ["receiptsRoot", "bytes"],
  ["logsBloom", "bytes"],
  ["difficulty", "number"],
  ["number", "number"],
  ["gasLimit", "number"],
  ["gasUsed", "number"],
  ["timestamp", "number"],
  ["extraData", "bytes"],
  ["mixHash", "bytes"],
  ["nonce", "bytes"],
];

/** Fields that forks have appended. A header ends before the first one that it lacks. */
const APPENDED: typeof REQUIRED = [
  ["baseFeePerGas", "number"],
  ["withdrawalsRoot", "bytes"],
  ["blobGasUsed", "number"],
  ["excessBlobGas", "number"],
  ["parentBeaconBlockRoot", "bytes"],
  ["requestsHash", "bytes"],
  ["blockAccessListHash", "bytes"],
  ["slotNumber", "number"],
];

// The bloom takes 256 bytes; no chain puts more than a few hundred into `extraData`.
const FIELD_LENGTH_MAX = 2 + 2 * 4_096;
const HEX = /^0x[0-9a-fA-F]*$/;

type CheckedHeader = { readonly rlp: Hex; readonly stateRoot: Hex; readonly receiptsRoot: Hex };

/** Null for a chain that computes its hashes from other fields, and for a node that changed one of them. */
export function encodeCheckedHeader(block: JsonObject, hash: Hex): CheckedHeader | null {
  const fields: Hex[] = [];
  for (const [name, form] of REQUIRED) {
    const field = encodeField(block[name], form);
    if (field === null) return null;
    fields.push(field);
  }
  for (const [name, form] of APPENDED) {
    if (block[name] === undefined || block[name] === null) break;
    const field = encodeField(block[name], form);
    if (field === null) return null;
    fields.push(field);
  }
  const rlp = encodeRlp(fields);
  const [, , , stateRoot, , receiptsRoot] = fields;
  if (hashRlp(rlp) !== hash || stateRoot === undefined || receiptsRoot === undefined) return null;
  return { rlp, stateRoot, receiptsRoot };
}

/** Numbers have no leading zeros, and zero has no byte at all. */
function encodeField(value: unknown, form: FieldForm): Hex | null {
  if (typeof value !== "string" || value.length > FIELD_LENGTH_MAX || !HEX.test(value)) return null;
  const digits = form === "number" ? value.slice(2).replace(/^0+/, "") : value.slice(2);
  if (form === "bytes" && digits.length % 2 === 1) return null;
  return `0x${digits.length % 2 === 1 ? "0" : ""}${digits.toLowerCase()}`;
}
