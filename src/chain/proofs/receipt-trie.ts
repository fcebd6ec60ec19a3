// Builds the trie of a block's receipts from what a node says of them, and the nodes that show one: only its root is believed.
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Hex } from "../../lib/hex.ts";
import { isJsonObject, type JsonObject } from "../../lib/json.ts";
import { encodeRlp, hashRlp, type RlpItem } from "./rlp.ts";

// A few milliseconds: a block of hundreds of receipts takes longer, and other requests wait meanwhile.
const CHARS_PER_TURN = 64 * 1024;
// A mebibyte, twice what a full block of a large chain has. Anyone can fill a block with logs, and requests are free.
const CHARS_MAX = 2 * 1024 * 1024;

/** Lets others run after each part of long work. */
class Turns {
  #chars = 0;

  async after(chars: number): Promise<void> {
    this.#chars += chars;
    if (this.#chars < CHARS_PER_TURN) return;
    this.#chars = 0;
    await nextTurn();
  }
}

/** Encoded receipts in the order of their transactions; null if a receipt lacks a member. */
export async function encodeReceipts(
  receipts: readonly unknown[],
): Promise<readonly Hex[] | "too_long" | null> {
  const turns = new Turns();
  const encoded: Hex[] = [];
  let chars = 0;
  for (const receipt of receipts) {
    if (!isJsonObject(receipt)) return null;
    chars += countChars(receipt);
    if (chars > CHARS_MAX) return "too_long";
    const each = encodeReceipt(receipt);
    if (each === null) return null;
    encoded.push(each);
    await turns.after(each.length);
  }
  return encoded;
}

/** Before it is encoded: of a receipt that is too long, nothing else is read. */
function countChars({ logs, logsBloom }: JsonObject): number {
  const lists: readonly unknown[] = Array.isArray(logs) ? logs : [];
  return lists.reduce(
    (sum: number, log) => sum + LOG_CHARS + lengthOf(isJsonObject(log) ? log.data : ""),
    lengthOf(logsBloom),
  );
}

const lengthOf = (value: unknown) => (typeof value === "string" ? value.length : 0);
/** An address and four topics. */
const LOG_CHARS = 300;

const LEGACY = 0;
/** Receipts of deposits of the OP stack have a nonce and a version behind the logs. */
const DEPOSIT = 0x7e;

function encodeReceipt(receipt: JsonObject): Hex | null {
  const type = receipt.type === undefined ? LEGACY : Number(receipt.type);
  const { status, root, cumulativeGasUsed, logsBloom, logs } = receipt;
  const state = status === undefined || status === null ? root : toMinimal(status);
  const encodedLogs = Array.isArray(logs) ? logs.map(encodeLog) : [null];
  const gas = toMinimal(cumulativeGasUsed);
  if (!isBytes(state) || gas === null || !isBytes(logsBloom) || encodedLogs.includes(null)) return null;
  const further =
    type === DEPOSIT ? [receipt.depositNonce, receipt.depositReceiptVersion].map(toMinimal) : [];
  const items = [state, gas, logsBloom, encodedLogs, ...further.filter((each) => each !== null)];
  const list = encodeRlp(items as readonly RlpItem[]);
  if (type === LEGACY) return list;
  if (!Number.isInteger(type) || type < 0 || type > 0x7f) return null;
  return `0x${type.toString(16).padStart(2, "0")}${list.slice(2)}`;
}

function encodeLog(log: unknown): RlpItem | null {
  if (!isJsonObject(log)) return null;
  const { address, topics, data } = log;
  const isWhole = isBytes(address) && Array.isArray(topics) && topics.every(isBytes) && isBytes(data);
  return isWhole ? [address, topics as readonly Hex[], data] : null;
}

function isBytes(value: unknown): value is Hex {
  return typeof value === "string" && /^0x(?:[0-9a-fA-F]{2})*$/.test(value);
}

/** Numbers have no leading zeros, and zero has no byte at all. */
function toMinimal(value: unknown): Hex | null {
  if (typeof value !== "string" || !/^0x[0-9a-fA-F]{1,64}$/.test(value)) return null;
  const digits = value.slice(2).replace(/^0+/, "");
  return `0x${digits.length % 2 === 1 ? "0" : ""}${digits}`;
}

type Entry = { readonly path: string; readonly value: Hex; readonly isWanted: boolean };

type ListItemProof = { readonly root: Hex; readonly nodes: readonly Hex[] };

/** The root of a trie of a list, and its nodes on the way to one position. */
export async function proveListItem(values: readonly Hex[], wanted: number): Promise<ListItemProof> {
  const entries = values.map((value, index): Entry => {
    const key = encodeRlp(index === 0 ? "0x" : (toMinimal(`0x${index.toString(16)}`) ?? "0x"));
    return { path: key.slice(2), value, isWanted: index === wanted };
  });
  const builder = new TrieBuilder();
  const root = encodeRlp(await builder.build(entries));
  return { root: hashRlp(root), nodes: [root, ...builder.nodes.reverse()] };
}

const NIBBLES = Array.from({ length: 16 }, (_, nibble) => nibble.toString(16));
const EMBEDDED_LENGTH_MAX = 2 + 2 * 31;

class TrieBuilder {
  /** On the way to the wanted entry, the lowest first, without the root. */
  readonly nodes: Hex[] = [];
  readonly #turns = new Turns();

  /** Keys are never the beginning of others, so that no branch has a value. */
  async build(entries: readonly Entry[]): Promise<readonly RlpItem[]> {
    const [first] = entries;
    if (first === undefined) return [];
    if (entries.length === 1) return [encodePath(first.path, true), first.value];
    const shared = sharedLength(entries);
    if (shared > 0) {
      const rest = entries.map((entry) => ({ ...entry, path: entry.path.slice(shared) }));
      return [encodePath(first.path.slice(0, shared), false), await this.#refer(rest)];
    }
    const children: RlpItem[] = [];
    for (const nibble of NIBBLES) {
      const below = entries.filter(({ path }) => path.startsWith(nibble));
      const rest = below.map((entry) => ({ ...entry, path: entry.path.slice(1) }));
      children.push(rest.length === 0 ? "0x" : await this.#refer(rest));
    }
    return [...children, "0x"];
  }

  /** The hash of a node, or the node itself if it is short. */
  async #refer(entries: readonly Entry[]): Promise<RlpItem> {
    const node = await this.build(entries);
    const encoded = encodeRlp(node);
    if (encoded.length <= EMBEDDED_LENGTH_MAX) return node;
    if (entries.some(({ isWanted }) => isWanted)) this.nodes.push(encoded);
    await this.#turns.after(encoded.length);
    return hashRlp(encoded);
  }
}

function sharedLength(entries: readonly Entry[]): number {
  const [first = "", ...others] = entries.map(({ path }) => path);
  let length = 0;
  while (length < first.length && others.every((path) => path[length] === first[length])) length += 1;
  return length;
}

/** Flags in the first nibble: 2 for a leaf, 1 for an odd length. */
function encodePath(path: string, isLeaf: boolean): Hex {
  const flags = (isLeaf ? 2 : 0) + (path.length % 2);
  return `0x${flags.toString(16)}${path.length % 2 === 1 ? "" : "0"}${path}`;
}
