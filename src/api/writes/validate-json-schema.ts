// Whether a stranger's JSON Schema is one of 2020-12, found out without ever turning it into code or running it.

import { Ajv2020 } from "ajv/dist/2020.js";
import { Fault } from "../../lib/fault.ts";
import { isJsonObject, type JsonObject } from "../../lib/json.ts";

// Every schema inside a JSON Schema, with its place: keywords say where schemas are, the rest is data.

export type Subschema = { readonly pointer: string; readonly schema: JsonObject };

const ONE = new Set([
  "additionalProperties",
  "contains",
  "contentSchema",
  "else",
  "if",
  "items",
  "not",
  "propertyNames",
  "then",
  "unevaluatedItems",
  "unevaluatedProperties",
]);
const MANY = new Set(["allOf", "anyOf", "oneOf", "prefixItems"]);
const NAMED = new Set([
  "$defs",
  "definitions",
  "dependencies",
  "dependentSchemas",
  "patternProperties",
  "properties",
]);

/** The schema itself first; `true` and `false` are schemas too and count as empty ones. */
export function* walkSubschemas(schema: unknown, pointer = ""): Generator<Subschema> {
  if (typeof schema === "boolean") yield { pointer, schema: {} };
  if (!isJsonObject(schema)) return;
  yield { pointer, schema };
  for (const [keyword, value] of Object.entries(schema)) {
    const below = `${pointer}/${escaped(keyword)}`;
    if (ONE.has(keyword)) yield* walkSubschemas(value, below);
    if (MANY.has(keyword) && Array.isArray(value)) {
      for (const [index, each] of value.entries()) yield* walkSubschemas(each, `${below}/${index}`);
    }
    if (NAMED.has(keyword) && isJsonObject(value)) {
      for (const [name, each] of Object.entries(value))
        yield* walkSubschemas(each, `${below}/${escaped(name)}`);
    }
  }
}

function escaped(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}

const DIALECT = "https://json-schema.org/draft/2020-12/schema";
// Attestations are small records; a schema beyond this describes something else.
const SUBSCHEMAS_MAX = 1_000;
// Far beyond any path to a part that somebody would refer to; each part has one, made of the keys above it.
const PLACE_LENGTH_MAX = 2_048;
// Patterns are only parsed here, but whoever uses the schema will run them.
const PATTERN_LENGTH_MAX = 512;
// The simple types there are; a longer list is compared pair by pair before it is refused.
const TYPES_MAX = 7;

let metaSchema: Ajv2020 | null = null;

/**
 * Compiling would run what a stranger wrote: generated code, remote references, patterns that never end. So the schema
 * is held against the meta-schema as data, and what that can not tell is checked here: references lead to a place
 * inside, patterns are patterns, and there is only one dialect.
 */
export function assertJsonSchema(schema: JsonObject): void {
  const places = readPlaces(schema);
  const anchors = new Set(places.flatMap(({ schema: each }) => anchorsOf(each)));
  const pointers = new Set(places.map(({ pointer }) => pointer));
  for (const place of places) refuseUnfit(place, anchors, pointers);
  // Made on first use: few processes ever need it.
  metaSchema ??= new Ajv2020({ strict: false, validateFormats: false, logger: false });
  if (metaSchema.validate(DIALECT, schema)) return;
  const [error] = metaSchema.errors ?? [];
  throw refusal(error?.instancePath ?? "", `${error?.message ?? "it does not follow the meta-schema"}`);
}

function readPlaces(schema: JsonObject): readonly Subschema[] {
  const places: Subschema[] = [];
  for (const place of walkSubschemas(schema)) {
    places.push(place);
    if (places.length > SUBSCHEMAS_MAX) {
      throw new Fault("INPUT_INVALID", `json_schema must have at most ${SUBSCHEMAS_MAX} subschemas.`);
    }
    if (place.pointer.length > PLACE_LENGTH_MAX) {
      throw refusal(
        place.pointer,
        `the path to a subschema must have at most ${PLACE_LENGTH_MAX} characters`,
      );
    }
  }
  return places;
}

function refuseUnfit({ pointer, schema }: Subschema, anchors: Set<string>, pointers: Set<string>): void {
  const { $schema, $id, type, pattern, patternProperties } = schema;
  if ($schema !== undefined && (typeof $schema !== "string" || $schema.replace(/#$/, "") !== DIALECT)) {
    throw refusal(pointer, `$schema must be ${DIALECT} or be left out`);
  }
  // A base of its own would change where the references below it lead to.
  if (pointer !== "" && $id !== undefined) throw refusal(pointer, "only the whole schema may have an $id");
  if (Array.isArray(type) && type.length > TYPES_MAX) throw refusal(pointer, "type has too many types");
  for (const reference of [schema.$ref, schema.$dynamicRef]) {
    if (reference !== undefined && !leadsInside(reference, anchors, pointers)) {
      throw refusal(pointer, "a reference must lead to a subschema of the same schema, such as #/$defs/name");
    }
  }
  const named = isJsonObject(patternProperties) ? Object.keys(patternProperties) : [];
  for (const each of [...(pattern === undefined ? [] : [pattern]), ...named]) {
    if (!isPattern(each)) {
      throw refusal(
        pointer,
        `a pattern must be a regular expression of at most ${PATTERN_LENGTH_MAX} characters`,
      );
    }
  }
}

function leadsInside(reference: unknown, anchors: Set<string>, pointers: Set<string>): boolean {
  if (typeof reference !== "string" || !reference.startsWith("#")) return false;
  try {
    const fragment = decodeURIComponent(reference.slice(1));
    return pointers.has(fragment) || anchors.has(fragment);
  } catch {
    // Broken percent-encoding leads nowhere.
    return false;
  }
}

function anchorsOf({ $anchor, $dynamicAnchor }: JsonObject): string[] {
  return [$anchor, $dynamicAnchor].filter((each) => typeof each === "string");
}

function isPattern(pattern: unknown): boolean {
  if (typeof pattern !== "string" || pattern.length > PATTERN_LENGTH_MAX) return false;
  try {
    return new RegExp(pattern, "u") instanceof RegExp;
  } catch {
    // Told by whoever asked.
    return false;
  }
}

// A place is made of a stranger's keys: shown only as far as it helps to find it.
const POINTER_LENGTH_MAX = 100;

function refusal(pointer: string, problem: string): Fault {
  const where = pointer === "" ? "" : ` at ${pointer.slice(0, POINTER_LENGTH_MAX)}`;
  return new Fault("INPUT_INVALID", `json_schema is not JSON Schema 2020-12${where}: ${problem}.`);
}
