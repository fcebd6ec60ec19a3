// Validates bodies against JSON Schemas, compiled once at start, with error messages that name the field.
import { Ajv2020, type ErrorObject } from "ajv/dist/2020.js";
import { Fault } from "../../lib/fault.ts";
import type { JsonSchema } from "../../schema/column.ts";

export type BodyValidator = (body: unknown) => void;

/** Throws if the schema itself is wrong: at start, not at the first request. */
export function compileBodySchema(schema: JsonSchema): BodyValidator {
  // The first error suffices, and stopping there limits the work that a hostile body can cause.
  const ajv = new Ajv2020({ strict: true, strictRequired: false, allErrors: false, verbose: true });
  const validate = ajv.compile(schema);
  return (body) => {
    if (validate(body)) return;
    const [error] = validate.errors ?? [];
    throw new Fault(
      "INPUT_INVALID",
      error ? errorMessage(error) : "The body does not have the expected form.",
    );
  };
}

// Explanations of the patterns that our bodies use.
const PATTERNS: Readonly<Record<string, string>> = {
  "^0x[0-9a-fA-F]{40}$": "an address: 0x followed by 40 hex digits",
  "^0x[0-9a-fA-F]{64}$": "32 bytes: 0x followed by 64 hex digits",
  "^0x[0-9a-fA-F]{8}$": "4 bytes: 0x followed by 8 hex digits",
  "^0x([0-9a-fA-F]{2})*$": "0x-prefixed hex with whole bytes",
  "^0x(?:[0-9a-fA-F]{2})*$": "0x-prefixed hex with whole bytes",
  "^(0|[1-9][0-9]*)$": "a whole number in decimal digits, as a string",
  "^[0-9]+$": "a whole number in decimal digits, as a string",
};

type Message = (params: Readonly<Record<string, unknown>>, field: string) => string;

const MESSAGES: Readonly<Record<string, Message>> = {
  required: ({ missingProperty }, field) =>
    `${field === "The body" ? "" : `${field}.`}${missingProperty} is required.`,
  type: ({ type }, field) => `${field} must be ${[type].flat().map(withArticle).join(" or ")}.`,
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
  // The key is the client's own text and is not echoed.
  additionalProperties: (_params, field) => `${field} has an unknown key.`,
};

function errorMessage({ keyword, params, instancePath }: ErrorObject): string {
  const field = fieldName(instancePath);
  return MESSAGES[keyword]?.(params as Readonly<Record<string, unknown>>, field) ?? `${field} is invalid.`;
}

// Keys chosen by the client could make the path long.
const FIELD_LENGTH_MAX = 80;

function fieldName(instancePath: string): string {
  const path = instancePath.slice(1).replaceAll("/", ".").replaceAll("~1", "/").replaceAll("~0", "~");
  return path === "" ? "The body" : path.slice(0, FIELD_LENGTH_MAX);
}

function withArticle(type: unknown): string {
  const name = String(type);
  if (name === "null") return "null";
  return `${/^[aeio]/.test(name) ? "an" : "a"} ${name}`;
}
