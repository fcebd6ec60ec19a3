// Reads the members of one record from the proven storage of its contract.
import type { Hex } from "viem";
import { concat, hexToBytes, keccak256, numberToHex } from "viem/utils";
import type { MemberReader, RecordLayout, StorageType } from "./record-layouts.ts";
import { Rejection } from "./rejection.ts";
import { readWord } from "./state.ts";
import type { TrieNodes } from "./trie.ts";

type Storage = {
  readonly trie: TrieNodes;
  readonly storageRoot: Hex;
  readonly layout: RecordLayout;
  /** The key of the record, as a word. */
  readonly key: Hex;
  readonly timestamp: bigint;
};

/** More than a service proves. */
const BYTES_MAX = 4_096;

/** A reader that remembers the first slot that it read, which a claim must name. */
export class RecordReader implements MemberReader {
  readonly timestamp: bigint;
  readonly #storage: Storage;
  readonly #start: bigint;
  #firstSlot: Hex | null = null;

  constructor(storage: Storage) {
    this.#storage = storage;
    this.timestamp = storage.timestamp;
    this.#start = BigInt(slotOf(storage.key, storage.layout.position));
  }

  get firstSlot(): Hex | null {
    return this.#firstSlot;
  }

  readonly member: MemberReader["member"] = (slot, type, offset = 0) =>
    this.#read(toSlot(this.#start + BigInt(slot)), type, offset);

  readonly other: MemberReader["other"] = (position, type) =>
    this.#read(slotOf(this.#storage.key, position), type, 0);

  #read(slot: Hex, type: StorageType, offset: number): string | boolean {
    this.#firstSlot ??= slot;
    const word = this.#word(slot);
    if (type === "text" || type === "bytes") return this.#readLong(slot, word, type);
    return decodeWord(word >> BigInt(offset * 8), type);
  }

  #word(slot: Hex): bigint {
    return readWord(this.#storage.trie, this.#storage.storageRoot, slot);
  }

  /** Up to 31 bytes are in the word itself, with twice their number in its lowest byte. */
  #readLong(slot: Hex, word: bigint, type: "text" | "bytes"): string {
    const isShort = (word & 1n) === 0n;
    const length = isShort ? (word & 0xffn) >> 1n : word >> 1n;
    if (isShort ? length > 31n : length < 32n || length > BYTES_MAX) {
      throw new Rejection("The storage holds no text of a length that can be proven.");
    }
    const start = BigInt(keccak256(slot));
    const count = isShort ? 0 : Math.ceil(Number(length) / 32);
    const further = Array.from({ length: count }, (_, index) => this.#word(toSlot(start + BigInt(index))));
    const bytes = concat((isShort ? [word] : further).map((each) => numberToHex(each, { size: 32 })));
    const content = bytes.slice(0, 2 + Number(length) * 2) as Hex;
    return type === "bytes" ? content : decodeText(content);
  }
}

function decodeText(content: Hex): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(hexToBytes(content));
  } catch {
    throw new Rejection("The storage holds a text that is not UTF-8.");
  }
}

/** The value in the low bytes of a word, as responses write it. */
export function decodeWord(word: bigint, type: StorageType): string | boolean {
  if (type === "bool") return (word & 0xffn) !== 0n;
  if (type === "address") return numberToHex(BigInt.asUintN(160, word), { size: 20 });
  if (type === "bytes32") return numberToHex(word, { size: 32 });
  return BigInt.asUintN(Number(type.slice("uint".length)), word).toString();
}

function slotOf(key: Hex, position: number): Hex {
  return keccak256(concat([key, numberToHex(position, { size: 32 })]));
}

function toSlot(slot: bigint): Hex {
  return numberToHex(BigInt.asUintN(256, slot), { size: 32 });
}

const UINT = /^(?:0|[1-9][0-9]{0,77})$/;

/** The id of a record as the key of its mapping. */
export function keyOf(id: unknown, { idType }: RecordLayout): Hex {
  if (idType === "bytes32") {
    if (typeof id !== "string" || !/^0x[0-9a-f]{64}$/.test(id)) throw new Rejection("The id is malformed.");
    return id as Hex;
  }
  if (typeof id !== "string" || !UINT.test(id)) throw new Rejection("The id is malformed.");
  const number = BigInt(id);
  if (number >= 2n ** 256n) throw new Rejection("The id is malformed.");
  return numberToHex(number, { size: 32 });
}
