// Logs as they are stored: rows of them, and their packed form, which leaves out zeros: most bytes of ABI words are.
//
// `topics` has the first topic, then two or three bytes: the number of other topics with the length of the details
// modulo 32, the words of the data, and the words of the details unless those are null. Topics of a plain log have a
// multiple of 32 bytes, which this never is. `data` has the words of the other topics and of the data, then the details:
// the bytes before their first whole word, and their words. SQL reads it by plain_log, TypeScript by `unpackLog`.
//
// A byte before each word tells its form:
//   0 to 32      that many bytes follow, the last of the word
//   33 to 63     32 fewer bytes follow, the first of the word
//   64 to 127    none follow: the word equals the one that is 63 fewer words before it
//   128 to 255   none follow: the word is a number, 128 less
import type { Hex } from "../lib/hex.ts";
import type { ChainLog, LogWithDetails } from "./chain-log.ts";

/** A stored log, plain or packed, with the hash and the time of its block; bytes are hex without a prefix. */
export type LogRow = Readonly<
  Record<"address" | "topics" | "data" | "block_number" | "hash" | "timestamp" | "tx_hash", string> &
    Record<"tx_index" | "log_index", number>
>;

export function decodeLogRow(row: LogRow): ChainLog {
  return toChainLog(row, unpackLog(row) ?? row);
}

function toChainLog(row: LogRow, { topics, data }: Pick<LogRow, "topics" | "data">): ChainLog {
  return {
    address: `0x${row.address}`,
    topics: splitTopics(topics),
    data: `0x${data}`,
    blockNumber: Number(row.block_number),
    blockHash: `0x${row.hash}`,
    blockTimestamp: Number(row.timestamp),
    transactionHash: `0x${row.tx_hash}`,
    transactionIndex: row.tx_index,
    logIndex: row.log_index,
  };
}

function splitTopics(digits: string): readonly Hex[] {
  const topics: Hex[] = [];
  for (let at = 0; at + 64 <= digits.length; at += 64) topics.push(`0x${digits.slice(at, at + 64)}`);
  return topics;
}

/** A stored log with the details of its event. */
export type DetailedLogRow = LogRow & { readonly details: string | null };

export function decodeDetailedLogRow(row: DetailedLogRow): LogWithDetails {
  const plain = unpackLog(row) ?? row;
  return { log: toChainLog(row, plain), details: plain.details === null ? null : `0x${plain.details}` };
}

const WORD_BYTES = 32;
const WORD_DIGITS = 64;
const TOPICS_MAX = 4;
// As many as one byte counts. Larger logs stay plain: PostgreSQL compresses those itself.
const WORDS_MAX = 255;
const EQUAL = 63;
const DISTANCE_MAX = 64;
const NUMBER = 128;

const plain = Buffer.allocUnsafeSlow(WORD_BYTES * (TOPICS_MAX + 2 * WORDS_MAX));
/** The same bytes, four at a time. */
const quads = new Int32Array(plain.buffer, plain.byteOffset, plain.length / 4);
const packed = Buffer.allocUnsafeSlow((WORD_BYTES + 1) * (TOPICS_MAX + 2 * WORDS_MAX));
const forms = new Uint8Array(TOPICS_MAX + 2 * WORDS_MAX);

/** Valid until the next log is packed. */
type PackedLog = { readonly topics: Uint8Array; readonly data: Uint8Array };

/** Null for a log without a packed form: it has no topic, is too large, or its data is not whole words. */
export function packLog(topics: readonly Hex[], data: Hex, details: Hex | null): PackedLog | null {
  const dataWords = (data.length - 2) / WORD_DIGITS;
  const detailsBytes = details === null ? 0 : (details.length - 2) / 2;
  const detailsWords = Math.floor(detailsBytes / WORD_BYTES);
  if (topics.length === 0 || topics.length > TOPICS_MAX || Math.max(dataWords, detailsWords) > WORDS_MAX)
    return null;
  // One text, because a call of the hex decoder costs as much as two hundred digits.
  let digits = "";
  for (let i = 1; i < topics.length; i += 1) {
    const topic = topics[i] as Hex;
    if (topic.length !== 2 + WORD_DIGITS) return null;
    digits += topic.slice(2);
  }
  digits += data.slice(2);
  if (details !== null) digits += details.slice(2);
  const words = topics.length + dataWords;
  if (!Number.isInteger(dataWords) || !Number.isInteger(detailsBytes)) return null;
  // The writer of plain logs rejects what is not hex, at which the decoder stops.
  const bytes = digits.length / 2;
  if (plain.write(digits, WORD_BYTES, "hex") !== bytes || !writeFirstTopic(topics[0] as Hex)) return null;
  const odd = detailsBytes % WORD_BYTES;
  packedTopics[WORD_BYTES] = (topics.length - 1) | (odd << 2);
  packedTopics[WORD_BYTES + 1] = dataWords;
  packedTopics[WORD_BYTES + 2] = detailsWords;
  return {
    topics: details === null ? topicsWithoutDetails : packedTopics,
    data: packed.subarray(0, packWords(words, odd, detailsWords)),
  };
}

const packedTopics = Buffer.allocUnsafeSlow(WORD_BYTES + 3);
const topicsWithoutDetails = packedTopics.subarray(0, WORD_BYTES + 2);
// The one in `packedTopics`: most logs have the first topic of the one before.
let firstTopic: Hex | null = null;

function writeFirstTopic(topic: Hex): boolean {
  if (topic === firstTopic) return true;
  firstTopic = null;
  const isHash = topic.length === 2 + WORD_DIGITS && packedTopics.write(topic.slice(2), "hex") === WORD_BYTES;
  if (isHash) firstTopic = topic;
  return isHash;
}

const HEX_BYTES = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** From `plain` to `packed`, without the first topic; returns the number of packed bytes. */
function packWords(words: number, odd: number, detailsWords: number): number {
  let at = 0;
  for (let index = 1; index < words; index += 1) at = packWord(at, index * WORD_BYTES, findForm(index, 0));
  for (let i = 0; i < odd; i += 1) packed[at + i] = plain[words * WORD_BYTES + i] as number;
  at += odd;
  for (let index = words; index < words + detailsWords; index += 1) {
    const form = findForm(index, odd);
    // Only here: details repeat arguments of their event, which seldom repeat each other.
    const distance = form === 0 || form >= NUMBER ? 0 : findEqualWord(index, words, odd);
    at = packWord(at, index * WORD_BYTES + odd, distance === 0 ? form : EQUAL + distance);
  }
  return at;
}

function findForm(index: number, odd: number): number {
  const start = index * WORD_BYTES + odd;
  const end = start + WORD_BYTES;
  let first = start;
  if (odd === 0) while (first < end && quads[first >> 2] === 0) first += 4;
  while (first < end && plain[first] === 0) first += 1;
  let form = end - first;
  if (form === 1 && (plain[first] as number) < NUMBER) form = NUMBER + (plain[first] as number);
  else if (form === WORD_BYTES) {
    let last = end;
    while (plain[last - 1] === 0) last -= 1;
    if (last < end) form = WORD_BYTES + last - start;
  }
  forms[index] = form;
  return form;
}

function packWord(at: number, start: number, form: number): number {
  packed[at] = form;
  const length = form <= WORD_BYTES ? form : form <= EQUAL ? form - WORD_BYTES : 0;
  const from = form <= WORD_BYTES ? start + WORD_BYTES - form : start;
  for (let i = 0; i < length; i += 1) packed[at + 1 + i] = plain[from + i] as number;
  return at + 1 + length;
}

/** How many words before it an equal one is; 0 if there is none. */
function findEqualWord(index: number, words: number, odd: number): number {
  const start = index * WORD_BYTES + odd;
  const distanceMax = Math.min(index - 1, DISTANCE_MAX);
  for (let distance = 1; distance <= distanceMax; distance += 1) {
    const other = index - distance;
    if (forms[other] !== forms[index]) continue;
    const otherStart = other * WORD_BYTES + (other < words ? 0 : odd);
    let i = WORD_BYTES - 1;
    while (i >= 0 && plain[start + i] === plain[otherStart + i]) i -= 1;
    if (i < 0) return distance;
  }
  return 0;
}

/** Columns of a stored log, as hex without a prefix. */
type LogColumns = { readonly topics: string; readonly data: string };

/** Null for a log that is stored plainly. Of a damaged one it returns the words before the damage. */
export function unpackLog(log: LogColumns): (LogColumns & { readonly details: string | null }) | null {
  if (log.topics.length % WORD_DIGITS === 0) return null;
  const shape = byteAt(log.topics, WORD_DIGITS);
  const topicWords = shape & 3;
  const words = topicWords + byteAt(log.topics, WORD_DIGITS + 2);
  const hasDetails = log.topics.length > WORD_DIGITS + 4;
  const wordsMax = words + (hasDetails ? byteAt(log.topics, WORD_DIGITS + 4) : 0);
  const found: string[] = [];
  const parts = [log.topics.slice(0, WORD_DIGITS), "", ""] as [string, string, string];
  let at = 0;
  for (let index = 0; index <= wordsMax; index += 1) {
    if (index === words) {
      const odd = (shape >> 2) * 2;
      parts[2] = log.data.slice(at, at + odd);
      at += odd;
    }
    if (index === wordsMax || at >= log.data.length) break;
    const form = byteAt(log.data, at);
    const digits = form <= EQUAL ? 2 * (form <= WORD_BYTES ? form : form - WORD_BYTES) : 0;
    const word = unpackWord(form, log.data.slice(at + 2, at + 2 + digits), found);
    found.push(word);
    parts[index < topicWords ? 0 : index < words ? 1 : 2] += word;
    at += 2 + digits;
  }
  const [topics, data, details] = parts;
  return { topics, data, details: hasDetails ? details : null };
}

// Faster than padStart and padEnd.
const ZEROS = Array.from({ length: WORD_DIGITS + 1 }, (_, digits) => "0".repeat(digits));
const NUMBERS = HEX_BYTES.map((byte) => byte.padStart(WORD_DIGITS, "0"));

function unpackWord(form: number, digits: string, before: readonly string[]): string {
  if (form <= WORD_BYTES) return ZEROS[WORD_DIGITS - digits.length] + digits;
  if (form <= EQUAL) return digits + ZEROS[WORD_DIGITS - digits.length];
  if (form < NUMBER) return before[before.length - (form - EQUAL)] ?? "";
  return NUMBERS[form - NUMBER] as string;
}

const byteAt = (hex: string, at: number) => digitAt(hex, at) * 16 + digitAt(hex, at + 1);

function digitAt(hex: string, at: number): number {
  const code = hex.charCodeAt(at);
  return code < 58 ? code - 48 : code - 87;
}

/** The bytes that columns of a log have in plain form, whatever the stored form is. */
export function plainBytesSql(log: string, columns: readonly ("topics" | "data" | "details")[]): string {
  const inPlain = columns.map((column) => `coalesce(octet_length(${log}.${column}), 0)`);
  const shape = `get_byte(${log}.topics, 32)`;
  const inPacked = {
    topics: `32 * (1 + (${shape} & 3))`,
    data: `32 * get_byte(${log}.topics, 33)`,
    details: `case octet_length(${log}.topics) when 35 then 32 * get_byte(${log}.topics, 34) + (${shape} >> 2) else 0 end`,
  };
  return `case when octet_length(${log}.topics) % 32 = 0 then ${inPlain.join(" + ")}
    else ${columns.map((column) => inPacked[column]).join(" + ")} end`;
}
