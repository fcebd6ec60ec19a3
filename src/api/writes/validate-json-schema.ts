// Validates an untrusted JSON Schema (2020-12) without compiling or running it.
import { Ajv2020 } from "ajv/dist/2020.js";
import { Fault } from "../../lib/fault.ts";
import { isJsonObject, type JsonObject } from "../../lib/json.ts";

type Subschema = { readonly pointer: string; readonly schema: JsonObject };

// Keywords whose value is one schema, a list of schemas, or schemas by name; all other values are data.
const SCHEMA_KEYWORDS = new Set([
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
const SCHEMA_LIST_KEYWORDS = new Set(["allOf", "anyOf", "oneOf", "prefixItems"]);
const SCHEMA_MAP_KEYWORDS = new Set([
  "$defs",
  "definitions",
  "dependencies",
  "dependentSchemas",
  "patternProperties",
  "properties",
]);

/** Yields every subschema, the root first. Boolean schemas count as empty ones. */
function* walkSubschemas(schema: unknown, pointer = ""): Generator<Subschema> {
  if (typeof schema === "boolean") yield { pointer, schema: {} };
  if (!isJsonObject(schema)) return;
  yield { pointer, schema };
  for (const [keyword, value] of Object.entries(schema)) {
    const below = `${pointer}/${escapePointer(keyword)}`;
    if (SCHEMA_KEYWORDS.has(keyword)) yield* walkSubschemas(value, below);
    if (SCHEMA_LIST_KEYWORDS.has(keyword) && Array.isArray(value)) {
      for (const [index, each] of value.entries()) yield* walkSubschemas(each, `${below}/${index}`);
    }
    if (SCHEMA_MAP_KEYWORDS.has(keyword) && isJsonObject(value)) {
      for (const [name, each] of Object.entries(value))
        yield* walkSubschemas(each, `${below}/${escapePointer(name)}`);
    }
  }
}

function escapePointer(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}

const DIALECT = "https://json-schema.org/draft/2020-12/schema";
// Attestations are small records.
const SUBSCHEMAS_MAX = 1_000;
// Far longer than a path that a reference would use. Every subschema has one, made of the keys above it.
const SUBSCHEMA_PATH_LENGTH_MAX = 2_048;
// Patterns are only parsed here, but users of the schema run them.
const PATTERN_LENGTH_MAX = 512;
// JSON Schema has seven simple types. Ajv compares a list pair by pair, so bound it first.
const TYPES_MAX = 7;

let metaSchema: Ajv2020 | null = null;

/**
 * Compiling would run untrusted input: generated code, remote references, catastrophic patterns. Validate the schema
 * against the meta-schema as data instead, and check here what the meta-schema cannot: references point inside the
 * schema, patterns parse, and the dialect is 2020-12.
 */
export function assertJsonSchema(schema: JsonObject): void {
  const subschemas = collectSubschemas(schema);
  const anchors = new Set(subschemas.flatMap(({ schema: each }) => anchorsOf(each)));
  const pointers = new Set(subschemas.map(({ pointer }) => pointer));
  for (const subschema of subschemas) assertSupported(subschema, anchors, pointers);
  // Created on first use: few processes need it.
  metaSchema ??= new Ajv2020({ strict: false, validateFormats: false, logger: false });
  if (metaSchema.validate(DIALECT, schema)) return;
  const [error] = metaSchema.errors ?? [];
  throw invalidSchema(error?.instancePath ?? "", `${error?.message ?? "it does not follow the meta-schema"}`);
}

function collectSubschemas(schema: JsonObject): readonly Subschema[] {
  const subschemas: Subschema[] = [];
  for (const subschema of walkSubschemas(schema)) {
    subschemas.push(subschema);
    if (subschemas.length > SUBSCHEMAS_MAX) {
      throw new Fault("INPUT_INVALID", `json_schema must have at most ${SUBSCHEMAS_MAX} subschemas.`);
    }
    if (subschema.pointer.length > SUBSCHEMA_PATH_LENGTH_MAX) {
      throw invalidSchema(
        subschema.pointer,
        `the path to a subschema must have at most ${SUBSCHEMA_PATH_LENGTH_MAX} characters`,
      );
    }
  }
  return subschemas;
}

function assertSupported({ pointer, schema }: Subschema, anchors: Set<string>, pointers: Set<string>): void {
  const { $schema, $id, type, pattern, patternProperties } = schema;
  if ($schema !== undefined && (typeof $schema !== "string" || $schema.replace(/#$/, "") !== DIALECT)) {
    throw invalidSchema(pointer, `$schema must be ${DIALECT} or absent`);
  }
  // A nested $id would change the base that references below it resolve against.
  if (pointer !== "" && $id !== undefined)
    throw invalidSchema(pointer, "only the root schema may have an $id");
  if (Array.isArray(type) && type.length > TYPES_MAX) throw invalidSchema(pointer, "type has too many types");
  for (const reference of [schema.$ref, schema.$dynamicRef]) {
    if (reference !== undefined && !pointsInside(reference, anchors, pointers)) {
      throw invalidSchema(
        pointer,
        "a reference must point to a subschema of the same schema, such as #/$defs/name",
      );
    }
  }
  const named = isJsonObject(patternProperties) ? Object.keys(patternProperties) : [];
  for (const each of [...(pattern === undefined ? [] : [pattern]), ...named]) {
    if (!isPattern(each)) {
      throw invalidSchema(
        pointer,
        `a pattern must be a regular expression of at most ${PATTERN_LENGTH_MAX} characters`,
      );
    }
  }
}

function pointsInside(reference: unknown, anchors: Set<string>, pointers: Set<string>): boolean {
  if (typeof reference !== "string" || !reference.startsWith("#")) return false;
  try {
    const fragment = decodeURIComponent(reference.slice(1));
    return pointers.has(fragment) || anchors.has(fragment);
  } catch {
    // Malformed percent-encoding.
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
    return false;
  }
}

// Pointers contain untrusted keys: show only enough to find the subschema.
const POINTER_LENGTH_MAX = 100;

function invalidSchema(pointer: string, problem: string): Fault {
  const where = pointer === "" ? "" : ` at ${pointer.slice(0, POINTER_LENGTH_MAX)}`;
  return new Fault("INPUT_INVALID", `json_schema is not valid JSON Schema 2020-12${where}: ${problem}.`);
}
