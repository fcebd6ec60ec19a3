// Compares the records in the specification's tables with the described schemas and with actual responses.
import { expect } from "vitest";
import type { JsonSchema } from "../../src/schema/json-schema.ts";
import type { Specification } from "../api/specification.ts";
import type { DescribedSchemas } from "../support/http/described-schemas.ts";

export function readSpecifiedRecords(specification: Specification) {
  /** "string|null", "integer, string or null", "array of TopHolding", "PortfolioSummary", "string (not nullable)". */
  function specifiedTypes(text: string): string[] {
    const [word = ""] = text.split(/[\s,.(]/);
    if (text === "integer, string or null") return ["integer", "null", "string"];
    return (word in specification.records ? "object" : word).split("|").sort();
  }

  /** Checks every field of a record and, if a type names another record, of that one too. Returns the records seen. */
  function expectRecord(
    schemas: DescribedSchemas,
    name: string,
    schema: JsonSchema,
    additions: Record<string, string[]> = {},
    /** Additions that a response may lack. */
    optional: Record<string, string[]> = {},
  ): string[] {
    const specified = specification.records[name] ?? {};
    const fields = schemas.fieldsOf(schema);
    const wanted = [...Object.keys(specified), ...(additions[name] ?? [])].sort();
    const allowed = [...wanted, ...(optional[name] ?? [])].sort();
    expect([name, ...Object.keys(fields).sort()]).toEqual([name, ...allowed]);
    expect([name, ...[schemas.followed(schema).required].flat().sort()]).toEqual([name, ...wanted]);
    const seen = Object.entries(specified).flatMap(([key, text]) => {
      const field = fields[key];
      expect([name, key, schemas.typesOf(field)]).toEqual([name, key, specifiedTypes(text)]);
      const [, inner] = /^(?:array of )?([A-Z]\w+)/.exec(text) ?? [];
      if (inner === undefined) return [];
      const part = text.startsWith("array") ? (schemas.followed(field).items as JsonSchema) : field;
      return expectRecord(schemas, inner, part ?? {}, additions);
    });
    return [name, ...seen];
  }

  function jsonType(value: unknown): string {
    if (value === null) return "null";
    if (Array.isArray(value)) return "array";
    return Number.isInteger(value) ? "integer" : typeof value;
  }

  /** The same for an actual response, independent of its schema. */
  function expectValue(name: string, value: unknown): void {
    for (const [key, text] of Object.entries(specification.records[name] ?? {})) {
      const given = (value as Record<string, unknown>)[key];
      expect([name, key, specifiedTypes(text)]).toEqual([
        name,
        key,
        expect.arrayContaining([jsonType(given)]),
      ]);
      const [, inner] = /^(?:array of )?([A-Z]\w+)/.exec(text) ?? [];
      if (inner !== undefined) for (const part of [given].flat()) expectValue(inner, part);
      if (text === "array of string (chain slugs)")
        for (const each of given as unknown[]) expect(each).toBeTypeOf("string");
    }
  }

  return { expectRecord, expectValue };
}
