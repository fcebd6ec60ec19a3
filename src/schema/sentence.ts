// Sentences about events as parts: plain text, and the amounts, addresses, records and times that readers show as values.
import { closedObject, listOf, nullable, schemaOf, type TypeOf, wordOf } from "./json-schema.ts";

/** The records that sentences name. */
const RECORD_KINDS = [
  ...["agent", "attestation", "attestor", "dispute", "facilitator", "intent"],
  ...["merchant", "quote", "receipt", "service", "solver"],
] as const;
type SentenceRecord = (typeof RECORD_KINDS)[number];

const text = { type: "string" } as const;

const TEXT_PART = closedObject({
  // A quoted text is of someone else; a token is an address of which zero is the coin of the chain; a time is in seconds.
  kind: wordOf(["text", "quoted", "address", "token", "hash", "time"]),
  text,
});
const RECORD_PART = closedObject({ kind: wordOf(["record"]), text, record: wordOf(RECORD_KINDS), id: text });
const AMOUNT_PART = closedObject({ kind: wordOf(["amount"]), text, amount: text, token: nullable(text) });

export type SentencePart = TypeOf<typeof TEXT_PART> | TypeOf<typeof RECORD_PART> | TypeOf<typeof AMOUNT_PART>;
/** The texts of the parts, joined, are the sentence. */
export type Sentence = readonly SentencePart[];

const PART = schemaOf<SentencePart>({ title: "SentencePart", oneOf: [TEXT_PART, RECORD_PART, AMOUNT_PART] });

/** `of` names the text that the parts make. */
export const sentenceSchema = (of: string) =>
  listOf(PART, {
    description: `With include=parts: the ${of} in parts, whose texts joined are the ${of}. An amount is in the smallest unit, with its token (zero is the coin of the chain), or null if that is not known.`,
  });

/** A template whose values are parts; strings among them are ours. */
export function sentence(
  strings: TemplateStringsArray,
  ...values: readonly (SentencePart | string)[]
): Sentence {
  const parts: SentencePart[] = [];
  let own = strings[0] ?? "";
  for (const [at, value] of values.entries()) {
    const after = strings[at + 1] ?? "";
    if (typeof value === "string") {
      own += value + after;
      continue;
    }
    if (own !== "") parts.push({ kind: "text", text: own });
    parts.push(value);
    own = after;
  }
  if (own !== "") parts.push({ kind: "text", text: own });
  return parts;
}

export function joinSentence(parts: Sentence): string {
  return parts.map((part) => part.text).join("");
}

/** An id that is a hash stands as it is, and a number after a hash sign. */
export function recordPart(record: SentenceRecord, id: string | bigint): SentencePart {
  return { kind: "record", text: typeof id === "bigint" ? `#${id}` : id, record, id: String(id) };
}

/** The text may name the token. */
export function amountPart(amount: bigint, token: string | null, text = String(amount)): SentencePart {
  return { kind: "amount", text, amount: String(amount), token };
}

/** An amount whose text names the token. */
export const amountOfToken = (amount: bigint, token: string): SentencePart =>
  amountPart(amount, token, `${amount} of ${token}`);

export const addressPart = (address: string): SentencePart => ({ kind: "address", text: address });
export const tokenPart = (token: string): SentencePart => ({ kind: "token", text: token });
export const hashPart = (hash: string): SentencePart => ({ kind: "hash", text: hash });
export const timePart = (seconds: bigint | number): SentencePart => ({ kind: "time", text: String(seconds) });
export const quotedPart = (quoted: string): SentencePart => ({ kind: "quoted", text: quoted });
