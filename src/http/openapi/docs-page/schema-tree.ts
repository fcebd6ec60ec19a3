// JSON Schemas as trees of fields that open and close; a record inside a record is a link to its own place.
import { type Html, html } from "../../../lib/html.ts";
import type { JsonSchema } from "../../../schema/json-schema.ts";
import { formatSchemaType } from "../schema-types.ts";

/** An id for a part of the page: of what a URL and a selector take as it is. */
export function idOf(name: string): string {
  return name.replace(/[^A-Za-z0-9]+/g, "-");
}

export function recordId(name: string): string {
  return `record-${idOf(name)}`;
}

/** A text of the document, of whose Markdown we use only the marks of code. */
export function renderProse(text: unknown): Html {
  const parts = String(text).split(/`([^`]+)`/);
  return html`${parts.map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}`;
}

/** The inside of a value: its fields, or its type if it has none. */
export function renderSchema(schema: JsonSchema): Html {
  const { properties = {}, required = [] } = schema;
  const fields = Object.entries(properties);
  if (fields.length > 0) {
    const items = fields.map(([name, field]) => renderField(name, field, required.includes(name)));
    return html`<ul class="fields">${items}</ul>`;
  }
  const nested = renderNested(schema);
  return nested.length > 0 ? html`${nested}` : html`<p>${renderType(schema)}${renderSchemaNotes(schema)}</p>`;
}

function renderField(name: string, schema: JsonSchema, isRequired: boolean): Html {
  const optional = !isRequired && html` <span class="soft">optional</span>`;
  const head = html`<code>${name}</code> ${renderType(schema)}${optional}${renderSchemaNotes(schema)}`;
  const description =
    typeof schema.description === "string" && html`<p>${renderProse(schema.description)}</p>`;
  return html`<li data-part="${name}">${head}${description}${renderNested(schema)}</li>`;
}

/** The records and objects within a schema, closed. */
function renderNested(schema: JsonSchema): readonly Html[] {
  return alternativesOf(schema).flatMap((part) => {
    if (typeof part.$ref === "string") return [renderReference(String(part.$ref.split("/").at(-1)))];
    const count = Object.keys(part.properties ?? {}).length;
    if (count === 0) return [];
    const size = count === 1 ? "1 field" : `${count} fields`;
    return [html`<details class="more"><summary>${size}</summary>${renderSchema(part)}</details>`];
  });
}

function renderReference(name: string): Html {
  const id = recordId(name);
  return html`<details class="more" data-record="${id}"><summary>${name}</summary><p class="soft">The record <a href="#${id}">${name}</a>.</p></details>`;
}

/** The schema of a value, without null and without the arrays around it. */
function alternativesOf(schema: JsonSchema): readonly JsonSchema[] {
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return choices.flatMap(alternativesOf);
  if (schema.items) return alternativesOf(schema.items);
  if (isSchema(schema.additionalProperties) && !schema.properties) {
    return alternativesOf(schema.additionalProperties);
  }
  return [schema];
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Objects are shown by their fields, so their type is only that. */
export function renderType(schema: JsonSchema): Html {
  return html`<span class="type">${formatSchemaType(withoutFields(schema))}</span>`;
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

/** Details besides the type: the form of a text, limits, the default and an example. */
export function renderSchemaNotes(schema: JsonSchema): readonly Html[] {
  const [first = schema] = alternativesOf(schema);
  const [example] = Array.isArray(schema.examples) ? schema.examples : [];
  const notes = [
    ...describeForm(first),
    ...describeLimits(first),
    ...(schema.default === undefined ? [] : [`default ${formatValue(schema.default)}`]),
    ...(example === undefined || example === schema.default ? [] : [`such as ${formatValue(example)}`]),
  ];
  return notes.map((note) => html` <span class="soft">· ${note}</span>`);
}

function formatValue(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Patterns in words if they are of our usual forms. */
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
