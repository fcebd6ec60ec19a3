// A body against its JSON Schema: compiled once at the start, refused in a sentence that names the field.
import { Ajv2020, type ErrorObject } from "ajv/dist/2020.js";
import { Fault } from "../../lib/fault.ts";
import type { JsonSchema } from "../../schema/column.ts";

export type BodyValidator = (body: unknown) => void;

/** Throws when the schema itself is wrong: at the start, not at the first request. */
export function compileBodySchema(schema: JsonSchema): BodyValidator {
  // One error is enough to answer with, and stops the work at the first wrong field of a hostile body.
  const ajv = new Ajv2020({ strict: true, strictRequired: false, allErrors: false, verbose: true });
  const validate = ajv.compile(schema);
  return (body) => {
    if (validate(body)) return;
    const [error] = validate.errors ?? [];
    throw new Fault("INPUT_INVALID", error ? sentence(error) : "The body does not have the expected form.");
  };
}

// The patterns our bodies use, in words.
const PATTERNS: Readonly<Record<string, string>> = {
  "^0x[0-9a-fA-F]{40}$": "an address: 0x followed by 40 hex digits",
  "^0x[0-9a-fA-F]{64}$": "32 bytes: 0x followed by 64 hex digits",
  "^0x[0-9a-fA-F]{8}$": "4 bytes: 0x followed by 8 hex digits",
  "^0x([0-9a-fA-F]{2})*$": "0x-prefixed hex with whole bytes",
  "^0x(?:[0-9a-fA-F]{2})*$": "0x-prefixed hex with whole bytes",
  "^(0|[1-9][0-9]*)$": "a whole number in decimal digits, as a string",
  "^[0-9]+$": "a whole number in decimal digits, as a string",
};

type Words = (params: Readonly<Record<string, unknown>>, field: string) => string;

const WORDS: Readonly<Record<string, Words>> = {
  required: ({ missingProperty }, field) =>
    `${field === "The body" ? "" : `${field}.`}${missingProperty} is required.`,
  type: ({ type }, field) => `${field} must be ${[type].flat().map(article).join(" or ")}.`,
  pattern: ({ pattern }, field) =>
    `${field} must be ${PATTERNS[String(pattern)] ?? `text of the form ${pattern}`}.`,
  enum: ({ allowedValues }, field) => `${field} must be one of ${[allowedValues].flat().join(", ")}.`,
  const: ({ allowedValue }, field) => `${field} must be ${String(allowedValue)}.`,
  maxLength: ({ limit }, field) => `${field} must have at most ${limit} characters.`,
  minLength: ({ limit }, field) => `${field} must have at least ${limit} characters.`,
  maxItems: ({ limit }, field) => `${field} must have at most ${limit} elements.`,
  minItems: ({ limit }, field) => `${field} must have at least ${limit} elements.`,
  maxProperties: ({ limit }, field) => `${field} must have at most ${limit} keys.`,
  maximum: ({ limit }, field) => `${field} must be at most ${limit}.`,
  minimum: ({ limit }, field) => `${field} must be at least ${limit}.`,
  // The key is the client's text and is not repeated.
  additionalProperties: (_params, field) => `${field} has a key that is not known.`,
};

function sentence({ keyword, params, instancePath }: ErrorObject): string {
  const field = fieldName(instancePath);
  return (
    WORDS[keyword]?.(params as Readonly<Record<string, unknown>>, field) ?? `${field} is not as expected.`
  );
}

// Paths below a key of the client's own choosing could be long; a name is for reading.
const FIELD_LENGTH_MAX = 80;

function fieldName(instancePath: string): string {
  const path = instancePath.slice(1).replaceAll("/", ".").replaceAll("~1", "/").replaceAll("~0", "~");
  return path === "" ? "The body" : path.slice(0, FIELD_LENGTH_MAX);
}

function article(type: unknown): string {
  const name = String(type);
  if (name === "null") return "null";
  return `${/^[aeio]/.test(name) ? "an" : "a"} ${name}`;
}
