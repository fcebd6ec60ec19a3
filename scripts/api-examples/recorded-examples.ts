// Examples of every parameter, body and response of the indexing API, taken from the requests and records of a local run.
import type { OpenApiDocument, OpenApiOperation } from "../../src/http/openapi/document.ts";
import type { ApiExamples, OperationExample } from "../../src/http/openapi/route-description.ts";
import type { ApiExample, SendExampleRequest } from "./sample-requests.ts";
import { shortened } from "./sections.ts";

type Fields = Readonly<Record<string, unknown>>;

// An example for all operations whose own response has none. The cursor is that of a list by id.
const SHARED = { block: "", cursor: Buffer.from('["1"]').toString("base64url") };

const EVENTS_PATH = "/events";

// Filters that have another name than the field they compare.
const FIELDS: Readonly<Record<string, string>> = { schema: "schema_hash", block: "block_number" };

/** Throws if the run has no value for a parameter. */
export async function collectExamples(
  document: OpenApiDocument,
  samples: readonly ApiExample[],
  send: SendExampleRequest,
): Promise<ApiExamples> {
  const operations: Record<string, OperationExample> = {};
  for (const sample of samples) {
    const operation = document.paths[sample.path]?.[sample.method.toLowerCase()];
    if (!operation || operations[operation.operationId]) continue;
    const parameters = await collectParameters(operation, sample, send);
    const body = sample.body === undefined ? {} : { body: sample.body };
    if (Object.keys(parameters).length > 0 || sample.body !== undefined) {
      operations[operation.operationId] = { parameters, ...body };
    }
  }
  const blocks = samples.map(({ response }) => Number(recordOf(response.body).block_number ?? 0));
  // The newest block of all records: every record exists there, and every local run reaches it.
  const block = String(Math.max(...blocks));
  return { parameters: { ...SHARED, block, min_block: block, "x-min-block": block }, operations };
}

async function collectParameters(
  { parameters }: OpenApiOperation,
  { path, target, response, more = {} }: ApiExample,
  send: SendExampleRequest,
): Promise<Record<string, unknown>> {
  const [sentPath = "", query = ""] = target.split("?");
  const sent = new Map([...new URLSearchParams(query), ...pathValues(path, sentPath)]);
  const record = recordOf(response.body);
  const found: Record<string, unknown> = {};
  for (const { name, schema, example } of parameters) {
    const key = String(name);
    const { type, enum: words } = schema as Fields;
    // These are the same everywhere: the declaration has them, or all operations share them.
    if (["limit", "offset", "include", "min_block", "x-min-block"].includes(key)) continue;
    // Filters of events are many, and their declarations have examples that hold in every run.
    if (path === EVENTS_PATH && !sent.has(key)) continue;
    const value =
      key === "cursor"
        ? await findCursor(target, send)
        : (sent.get(key) ?? more[key] ?? record[FIELDS[key] ?? key]);
    if (value === undefined && (key in SHARED || example !== undefined)) continue;
    if (value === undefined) throw new Error(`the local run has no example of ${key} for ${path}`);
    const text = Array.isArray(words) ? String(value).toLowerCase() : String(value);
    found[key] = type === "integer" ? Number(text) : text;
  }
  return found;
}

function pathValues(path: string, sentPath: string): [string, string][] {
  const values = sentPath.split("/");
  return path
    .split("/")
    .flatMap((part, index) => (part.startsWith("{") ? [[part.slice(1, -1), values[index] ?? ""]] : []));
}

/** The body itself, or the first record of a list. */
function recordOf(body: unknown): Fields {
  if (typeof body !== "object" || body === null) return {};
  const lists = Object.values(body).filter(Array.isArray) as unknown[][];
  return "pagination" in body ? ((lists[0]?.[0] ?? {}) as Fields) : (body as Fields);
}

/** If the second page of the list begins, in pages of one; undefined if the list has one page. */
async function findCursor(target: string, send: SendExampleRequest): Promise<string | undefined> {
  const [path, query] = target.split("?");
  const { body } = await send("GET", `${path}?${withValue(query, "limit", "1")}`);
  return (body as { pagination?: { next_cursor?: string } }).pagination?.next_cursor;
}

function withValue(query: string | undefined, name: string, value: string): string {
  const values = new URLSearchParams(query);
  values.set(name, value);
  return values.toString();
}

/** Sends every GET with each of its examples; throws if one does not work. */
export async function verifyExamples(
  document: OpenApiDocument,
  { parameters, operations }: ApiExamples,
  send: SendExampleRequest,
): Promise<void> {
  for (const [path, { get }] of Object.entries(document.paths)) {
    if (!get) continue;
    const values = { ...parameters, ...operations[get.operationId]?.parameters };
    const target = path.replace(/\{(\w+)\}/g, (_match, name: string) => String(values[name]));
    // A run has just begun: no time ago is in it.
    const given = get.parameters.filter(({ in: location, name }) => location === "query" && name !== "at");
    const required = given.filter((each) => each.required).map(({ name }) => [name, values[String(name)]]);
    for (const { name, example } of given) {
      const value = String(values[String(name)] ?? example);
      const query = withValue(
        new URLSearchParams(Object.fromEntries(required)).toString(),
        String(name),
        value,
      );
      const { status, body } = await send("GET", `${target}?${query}`);
      if (status !== 200)
        throw new Error(`GET ${target}?${query} returned ${status}: ${JSON.stringify(body)}`);
    }
  }
}

/** The first response of every operation that responds with JSON, without the description of the API itself. */
export function collectResponses(
  document: OpenApiDocument,
  samples: readonly ApiExample[],
): Readonly<Record<string, unknown>> {
  const found = new Map<string, unknown>();
  for (const { method, path, response } of samples) {
    const id = document.paths[path]?.[method.toLowerCase()]?.operationId;
    const { body } = response;
    if (id === undefined || found.has(id) || typeof body !== "object" || body === null || "openapi" in body)
      continue;
    found.set(id, shortened(body));
  }
  return Object.fromEntries(found);
}
