// JSON Schemas as trees of fields that open and close; a record inside a record is a link to its own place.

import { escapeHtml } from "../../../lib/html.ts";
import type { JsonSchema } from "../../../schema/json-schema.ts";
import { formatSchemaType } from "../schema-text.ts";

/** An id for a part of the page: of what a URL and a selector take as it is. */
export function idOf(name: string): string {
  return name.replace(/[^A-Za-z0-9]+/g, "-");
}

export function recordId(name: string): string {
  return `record-${idOf(name)}`;
}

/** A text of the document, of whose Markdown we use only the marks of code. */
export function renderProse(text: unknown): string {
  return escapeHtml(text).replace(/`([^`]+)`/g, "<code>$1</code>");
}

/** What a value looks like inside: its fields, or its type where it has none. */
export function renderSchema(schema: JsonSchema): string {
  const fields = Object.entries(propertiesOf(schema));
  if (fields.length > 0) {
    const required = new Set((schema.required ?? []) as readonly string[]);
    const items = fields.map(([name, field]) => renderField(name, field, required.has(name)));
    return `<ul class="fields">${items.join("")}</ul>`;
  }
  const nested = renderNested(schema);
  return nested === "" ? `<p>${renderType(schema)}${renderNotes(schema)}</p>` : nested;
}

function renderField(name: string, schema: JsonSchema, isRequired: boolean): string {
  const optional = isRequired ? "" : ' <span class="soft">optional</span>';
  const head = `<code>${escapeHtml(name)}</code> ${renderType(schema)}${optional}${renderNotes(schema)}`;
  const description =
    typeof schema.description === "string" ? `<p>${renderProse(schema.description)}</p>` : "";
  return `<li data-part="${escapeHtml(name)}">${head}${description}${renderNested(schema)}</li>`;
}

/** The records and objects within a schema, closed. */
function renderNested(schema: JsonSchema): string {
  return alternativesOf(schema)
    .map((part) => {
      if (typeof part.$ref === "string") return renderReference(String(part.$ref.split("/").at(-1)));
      const count = Object.keys(propertiesOf(part)).length;
      if (count === 0) return "";
      return `<details class="more"><summary>${count === 1 ? "1 field" : `${count} fields`}</summary>${renderSchema(part)}</details>`;
    })
    .join("");
}

function renderReference(name: string): string {
  const id = recordId(name);
  const label = escapeHtml(name);
  return `<details class="more" data-record="${id}"><summary>${label}</summary><p class="soft">The record <a href="#${id}">${label}</a>.</p></details>`;
}

/** What a value may be, without null and without the arrays around it. */
function alternativesOf(schema: JsonSchema): readonly JsonSchema[] {
  const choices = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(choices)) return choices.flatMap((each: JsonSchema) => alternativesOf(each));
  if (isSchema(schema.items)) return alternativesOf(schema.items);
  if (isSchema(schema.additionalProperties) && !schema.properties) {
    return alternativesOf(schema.additionalProperties);
  }
  return [schema];
}

function propertiesOf({ properties }: JsonSchema): Readonly<Record<string, JsonSchema>> {
  return (properties ?? {}) as Readonly<Record<string, JsonSchema>>;
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Objects are shown by their fields, so their type is only that. */
export function renderType(schema: JsonSchema): string {
  return `<span class="type">${escapeHtml(formatSchemaType(withoutFields(schema)).replaceAll("@", ""))}</span>`;
}

function withoutFields(schema: JsonSchema): JsonSchema {
  const { properties, ...rest } = schema;
  const mapped = Object.entries(rest).map(([key, value]) => {
    if (key === "items" && isSchema(value)) return [key, withoutFields(value)];
    if ((key === "anyOf" || key === "oneOf") && Array.isArray(value)) return [key, value.map(withoutFields)];
    return [key, value];
  });
  return { ...(properties === undefined ? {} : { type: "object" }), ...Object.fromEntries(mapped) };
}

/** What the type leaves out: the form of a text, limits, the default and an example. */
export function renderNotes(schema: JsonSchema): string {
  const [first = schema] = alternativesOf(schema);
  const [example] = Array.isArray(schema.examples) ? schema.examples : [];
  const notes = [
    ...describeForm(first),
    ...describeLimits(first),
    ...(schema.default === undefined ? [] : [`default ${formatValue(schema.default)}`]),
    ...(example === undefined || example === schema.default ? [] : [`such as ${formatValue(example)}`]),
  ];
  return notes.map((note) => ` <span class="soft">· ${escapeHtml(note)}</span>`).join("");
}

function formatValue(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Patterns in words where they are of our usual forms. */
function describeForm({ pattern, format }: JsonSchema): readonly string[] {
  if (typeof format === "string") return [format];
  if (typeof pattern !== "string") return [];
  const digits = /^\^0x\[[0-9a-fA-F-]+\]\{(\d+)\}\$$/.exec(pattern)?.[1];
  if (digits !== undefined) return [`0x and ${digits} hex digits`];
  if (/^\^0x\(\[[0-9a-fA-F-]+\]\{2\}\)[*+]\$$/.test(pattern)) return ["0x and whole bytes in hex"];
  return [PATTERNS[pattern] ?? `pattern ${pattern}`];
}

const PATTERNS: Readonly<Record<string, string>> = {
  "^(0|[1-9][0-9]*)$": "whole number",
  "^[0-9]+$": "whole number",
  "^-?[0-9]+$": "whole number",
  "^(0|[1-9][0-9]*)(\\.[0-9]*[1-9])?$": "decimal number",
  "^-?(0|[1-9][0-9]*)(\\.[0-9]{0,5}[1-9])?$": "decimal number, at most 6 decimals",
  "^-?[0-9]+(\\.[0-9]{1,6})?$": "decimal number, at most 6 decimals",
  "^(0|[1-9][0-9]{0,17})(\\.[0-9]{1,18})?$": "decimal number, at most 18 decimals",
  "^(0x[0-9a-fA-F]{40}|0|[1-9][0-9]*)$": "address or whole number",
  "^eip155:[1-9][0-9]*$": "eip155: and a chain id",
  "^[0-9a-f]{64}$": "64 hex digits",
  "^[A-Za-z0-9]+(,[A-Za-z0-9]+)*$": "names, separated by commas",
  "^[A-Za-z0-9]+(\\.[A-Za-z0-9]+)*(,[A-Za-z0-9]+(\\.[A-Za-z0-9]+)*)*$": "names, separated by commas",
};

function describeLimits(schema: JsonSchema): readonly string[] {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems } = schema;
  return [
    ...describeRange(minimum, maximum, ""),
    ...describeRange(minLength, maxLength, " characters"),
    ...describeRange(minItems, maxItems, " items"),
  ];
}

function describeRange(min: unknown, max: unknown, unit: string): readonly string[] {
  if (min === undefined && max === undefined) return [];
  if (max === undefined) return [`at least ${String(min)}${unit}`];
  return [min === undefined ? `at most ${String(max)}${unit}` : `${String(min)} to ${String(max)}${unit}`];
}
