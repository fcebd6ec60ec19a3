// What a publisher may say about a document beside its text; every label is optional and none is its identity.
import { Fault } from "../../lib/fault.ts";
import { parseAddress, parseHash } from "../../lib/hex.ts";
import { parseUint } from "../../lib/uint.ts";
import type { JsonSchema } from "../../schema/column.ts";

export type DocumentLabel = {
  /** How a client gives it. */
  readonly json: JsonSchema;
  /** The stored form, or a Fault that names the label. */
  readonly parse: (value: unknown, name: string) => string;
};

// Names people give to things; longer ones are no names.
const NAME_LENGTH_MAX = 256;

const hash: DocumentLabel = { json: { type: "string", pattern: "^0x[0-9a-fA-F]{64}$" }, parse: parseHash };

const address: DocumentLabel = {
  json: { type: "string", pattern: "^0x[0-9a-fA-F]{40}$" },
  parse: parseAddress,
};

const number: DocumentLabel = {
  json: { type: "string", pattern: "^(0|[1-9][0-9]*)$" },
  parse: (value, name) => parseUint(value, name).toString(),
};

const text: DocumentLabel = {
  json: { type: "string", maxLength: NAME_LENGTH_MAX },
  parse: (value, name) => {
    if (typeof value === "string" && value.length <= NAME_LENGTH_MAX && isStorableText(value)) return value;
    throw new Fault("INPUT_INVALID", `${name} must be text of at most ${NAME_LENGTH_MAX} characters.`);
  },
};

/** Named as the columns of the documents table are. */
export const DOCUMENT_LABELS = {
  request_hash: hash,
  request_id: text,
  merchant_id: number,
  service_numeric_id: number,
  service_id: text,
  agent: address,
} as const satisfies Record<string, DocumentLabel>;

export type DocumentLabelName = keyof typeof DOCUMENT_LABELS;

export const expectedHashField = hash;

/** Whether a text has a UTF-8 form that PostgreSQL keeps: no NUL, and no half of a surrogate pair. */
export function isStorableText(value: string): boolean {
  return !value.includes("\0") && !/\p{Surrogate}/u.test(value);
}
