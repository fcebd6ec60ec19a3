// Renders the generated files of packages/client: records, the table of operations, and the typed actions.
import type { OpenApiParameter } from "../../src/http/openapi/route-description.ts";
import { formatType } from "../../src/http/openapi/schema-types.ts";
import type { FAULTS } from "../../src/lib/fault.ts";
import type { JsonSchema } from "../../src/schema/json-schema.ts";
import type { ClientOperation } from "./operations.ts";

type Schemas = Readonly<Record<string, JsonSchema>>;

const NOTE = "Written by `npm run client:actions`; do not edit.";
const CELL_KINDS = new Set(["string", "integer", "number", "boolean", "choice", "null"]);
const UINT = "^(0|[1-9][0-9]*)$";

/** A type per record that an operation takes or returns. */
export function renderRecords(operations: readonly ClientOperation[], schemas: Schemas): string {
  const names = new Set<string>();
  const visit = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    const { $ref } = value as { $ref?: unknown };
    const name = typeof $ref === "string" ? String($ref.split("/").at(-1)) : null;
    if (name !== null && !names.has(name)) {
      names.add(name);
      visit(schemas[name]);
    }
    for (const each of Object.values(value)) visit(each);
  };
  for (const { response, body } of operations) visit([response, body?.schema]);
  const types = [...names].sort().map((name) => {
    const schema = schemas[name];
    if (schema === undefined) throw new Error(`there is no record ${name}`);
    return `export type ${name} = ${formatType(schema)};\n`;
  });
  return [`// Records of both services, from their OpenAPI documents. ${NOTE}\n`, ...types].join("\n");
}

/** The descriptions that the client needs to send each operation. */
export function renderOperations(operations: readonly ClientOperation[]): string {
  const rows = operations.map((each) => {
    const { id, service, method, path, kind, list, takesBlock, takesMinBlock } = each;
    const query = each.parameters.filter((parameter) => parameter.in === "query").map(({ name }) => name);
    const hasParameters = each.parameters.length > 0;
    const row = { service, method, path, kind, query, list, hasParameters, hasBody: each.body !== null };
    return `  ${id}: ${JSON.stringify({ ...row, takesBlock, takesMinBlock })},`;
  });
  return [
    `// How each operation is sent, from the OpenAPI documents. ${NOTE}`,
    'import type { Operation } from "../operation.ts";',
    "",
    "export const OPERATIONS = {",
    ...rows,
    "} as const satisfies Readonly<Record<string, Operation>>;",
    "",
  ].join("\n");
}

/**
 * The descriptions of reads and of what is sold for the command line: their options, and the columns of their tables.
 */
export function renderDescriptions(operations: readonly ClientOperation[], schemas: Schemas): string {
  const described = operations.filter(({ kind }) => kind !== "write" && kind !== "signed");
  const rows = described.map((operation) => {
    const { id, path, kind, summary, description, takesBlock, takesMinBlock } = operation;
    const parameters = [
      ...operation.parameters.map((each) => ({ ...describeParameter(each), in: each.in })),
      ...describeBody(operation).map((each) => ({ ...each, in: "body" })),
    ];
    const row = { id, path, kind, summary, description, takesBlock, takesMinBlock, parameters };
    return `  ${JSON.stringify({ ...row, columns: columnsOf(operation, schemas) })},`;
  });
  return [
    `// What the operations of both services are called, take and return, from the OpenAPI documents. ${NOTE}`,
    'import type { ApiOperation } from "../api-operation.ts";',
    "",
    "export const API_OPERATIONS: readonly ApiOperation[] = [",
    ...rows,
    "];",
    "",
  ].join("\n");
}

function describeParameter({ name, required, description, schema, example }: Omit<OpenApiParameter, "in">) {
  const type = [schema.type].flat().find((each) => each !== "null") ?? "string";
  return { name, required, description, type, values: valuesOf(schema), example: example ?? null };
}

function describeBody({ body }: ClientOperation) {
  if (body === null) return [];
  const { properties = {}, required = [] } = body.schema;
  const examples = (body.example ?? {}) as Readonly<Record<string, unknown>>;
  return Object.entries(properties).map(([name, schema]) =>
    describeParameter({
      name,
      schema,
      required: required.includes(name),
      example: examples[name],
      description: String(schema.description ?? ""),
    }),
  );
}

/** The allowed texts, if only some are. */
function valuesOf(schema: JsonSchema): readonly string[] | null {
  if (Array.isArray(schema.enum)) return schema.enum.filter((each) => each !== null).map(String);
  return schema.type === "boolean" ? ["true", "false"] : null;
}

/** Fields of a record that fit a cell, without those that only `include` adds. */
function columnsOf(operation: ClientOperation, schemas: Schemas) {
  const { response, list } = operation;
  if (list === null) return [];
  const records = response.properties?.[list]?.items ?? {};
  const columns = new Map<string, { name: string; isState: boolean }>();
  for (const { properties = {}, required = [] } of alternativesOf(records, schemas)) {
    for (const [name, schema] of Object.entries(properties)) {
      const kinds = alternativesOf(schema, schemas).flatMap(kindsOf);
      if (!kinds.every((kind) => CELL_KINDS.has(kind)) || !required.includes(name)) continue;
      const isState = kinds.some((kind) => kind === "choice" || kind === "boolean");
      columns.set(name, { name, isState });
    }
  }
  return [...columns.values()];
}

/** Types of JSON, and `choice` if only some values are allowed. */
function kindsOf(schema: JsonSchema): readonly string[] {
  if (Array.isArray(schema.enum) || schema.const !== undefined) return ["choice"];
  return [schema.type].flat().map(String);
}

function alternativesOf(schema: JsonSchema, schemas: Schemas): readonly JsonSchema[] {
  if (typeof schema.$ref === "string") {
    return alternativesOf(schemas[String(schema.$ref.split("/").at(-1))] ?? {}, schemas);
  }
  const choices = schema.anyOf ?? schema.oneOf;
  return choices === undefined ? [schema] : choices.flatMap((each) => alternativesOf(each, schemas));
}

/** Codes of the error table, and whether the same request can succeed later. */
export function renderFaultCodes(faults: typeof FAULTS): string {
  return [
    `// Codes that the services respond with, and whether the same request can succeed later. ${NOTE}`,
    "export const SERVICE_CODES = {",
    ...Object.entries(faults).map(([code, { retry }]) => `  ${code}: ${retry},`),
    "} as const satisfies Readonly<Record<string, boolean>>;",
    "",
  ].join("\n");
}

/** One method per operation, with its documentation. */
export function renderActions(operations: readonly ClientOperation[]): string {
  const indexed = operations.filter(({ takesBlock }) => takesBlock);
  const others = operations.filter(({ takesBlock }) => !takesBlock);
  const used = operations.flatMap((each) => [
    ...resultRecord(each).split(" | "),
    each.body === null ? "" : formatType(each.body.schema),
  ]);
  const imported = [...new Set(used.filter((name) => /^[A-Z]\w*$/.test(name)))].sort();
  return [
    `// The actions of the client, one per operation. ${NOTE}`,
    'import type { List, Paid, PaidOptions, PublishedDocument, ReadOptions, RequestOptions } from "../operation.ts";',
    `import type { ${imported.join(", ")} } from "./records.ts";`,
    "",
    "/** Reads of the index, which `at(block)` offers as of a block. */",
    "export interface IndexedActions {",
    indexed.map(renderAction).join("\n\n"),
    "}",
    "",
    "/** Everything else: documents, schemas, writes, and what is sold. */",
    "export interface OtherActions {",
    others.map(renderAction).join("\n\n"),
    "}",
    "",
  ].join("\n");
}

function renderAction(operation: ClientOperation): string {
  const { id, summary, description, method, path } = operation;
  const parameters = [
    ...(operation.parameters.length > 0 ? [renderParameters(operation)] : []),
    ...(operation.body === null ? [] : [`body: ${formatType(operation.body.schema, "  ")}`]),
    `options?: ${optionsOf(operation)}`,
  ];
  return [
    "  /**",
    `   * ${withPeriod(summary)}${description === "" ? "" : ` ${description}`} (${method} ${path})`,
    "   *",
    "   * @example",
    "   * ```ts",
    ...renderExample(operation).map((line) => `   * ${line}`),
    "   * ```",
    "   */",
    `  ${id}${typeParametersOf(operation)}(${parameters.join(", ")}): ${resultOf(operation)};`,
  ].join("\n");
}

function renderParameters({ parameters }: ClientOperation): string {
  const isOptional = parameters.every(({ required }) => !required);
  const fields = parameters.flatMap(({ name, required, schema, description }) => [
    `    /** ${description} */`,
    `    ${name}${required ? "" : "?"}: ${parameterType(schema)};`,
  ]);
  return `parameters${isOptional ? "?" : ""}: {\n${fields.join("\n")}\n  }`;
}

/** Ids and amounts may be given as bigint, times as Date. */
function parameterType(schema: JsonSchema): string {
  if (schema["x-time"] === true) return "Date | string";
  return schema.pattern === UINT ? "bigint | string" : formatType(schema);
}

function optionsOf({ kind, takesMinBlock }: ClientOperation): string {
  if (kind === "paid") return "PaidOptions";
  return takesMinBlock ? "ReadOptions" : "RequestOptions";
}

/**
 * A response that is sold may have several forms, of which parameters select one: the caller names it, and the first is
 * the default.
 */
function typeParametersOf(operation: ClientOperation): string {
  const [first, ...others] = resultRecord(operation).split(" | ");
  if (operation.kind !== "paid" || others.length === 0) return "";
  return `<Data extends ${[first, ...others].join(" | ")} = ${first}>`;
}

function resultRecord({ response, list }: ClientOperation): string {
  if (list === null) return formatType(response);
  return formatType(response.properties?.[list]?.items ?? {});
}

function resultOf(operation: ClientOperation): string {
  const { kind } = operation;
  if (kind === "document") return "Promise<PublishedDocument>";
  const record = resultRecord(operation);
  if (kind === "list") return `List<${record}>`;
  if (kind !== "paid") return `Promise<${record}>`;
  return `Promise<Paid<${typeParametersOf(operation) === "" ? record : "Data"}>>`;
}

function renderExample({ id, kind, parameters, body, list }: ClientOperation): string[] {
  const required = parameters.filter((each) => each.required);
  // A list that takes filters is shown with one of them.
  const [filter] =
    list === null ? [] : parameters.filter(({ name }) => !["limit", "cursor", "include"].includes(name));
  const shown = required.length > 0 || filter === undefined ? required : [filter];
  const given = [
    ...(shown.length > 0
      ? [renderObject(Object.fromEntries(shown.map(({ name, example }) => [name, example])))]
      : []),
    ...(body === null ? [] : [renderObject(body.example as Readonly<Record<string, unknown>>)]),
  ];
  const call = `sextant.${id}(${given.join(", ")})`;
  if (kind === "list") return [`for await (const record of ${call}) console.log(record);`];
  return [`const ${kind === "paid" ? "{ data, receipt }" : "record"} = await ${call};`];
}

function renderObject(value: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(value)
    .replace(/"([a-z_]\w*)":/gi, (_, key: string) => ` ${key}: `)
    .replaceAll("}", " }")
    .replaceAll("*/", "*\\/");
}

function withPeriod(text: string): string {
  return /[.?!]$/.test(text) ? text : `${text}.`;
}
