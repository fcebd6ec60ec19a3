// Every tool stays below 16 kB, whatever its route returns, for clients of both protocols.

import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { describeApiTools } from "../../src/api/tools.ts";
import { addEndpointRoutes } from "../../src/http/routes/endpoints.ts";
import { createHttpServer, type HttpServer } from "../../src/http/server.ts";
import { createMcpEndpoint } from "../../src/mcp/endpoint.ts";
import type { ServiceRequest, Tool } from "../../src/mcp/tool.ts";
import { describePaidTools } from "../../src/portfolio/http/tools.ts";
import type { JsonSchema } from "../../src/schema/json-schema.ts";
import { NO_LIMITS } from "../support/http/no-limits.ts";
import { silentLog } from "../support/quiet-log.ts";
import { TOOL_CLIENTS, type ToolClient, type ToolResult } from "./tool-clients.ts";

const RESULT_BYTES_MAX = 16 * 1024;
const LIST_LENGTH = 60;
// The length of lists in records of a list: as long as the outer one they would take a hundred megabytes.
const INNER_LIST_LENGTH = 3;
const LONG = '漢字 \u0001" '.repeat(500);
// A text in records of a list: sixty of them are far above the limit.
const LONG_IN_LIST = '漢字 \u0001" '.repeat(50);
// One record with such a text is above the limit by itself.
const ABOVE_LIMIT = LONG.repeat(3);
let textInLists = LONG_IN_LIST;

const TOOLS = [
  ...describeApiTools(),
  ...describePaidTools({ sentence: "It costs.", details: "", terms: {}, isPaidByCaller: true }),
];

/** Values that the patterns of our schemas allow. */
const PATTERNED = [`0x${"ab".repeat(20)}`, `0x${"cd".repeat(32)}`, "0xabcdef01", "0xab", "7", "eip155:1"];

/** The largest value of a schema that a test can want: long lists, long texts. */
function inflate(schema: JsonSchema, length = LIST_LENGTH, text = LONG): unknown {
  const choices = (schema.anyOf ?? schema.oneOf) as readonly JsonSchema[] | undefined;
  if (choices?.[0] !== undefined) return inflate(choices[0], length, text);
  if (schema.const !== undefined) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  const [type] = [schema.type].flat();
  if (type === "array") {
    const record = inflate((schema.items ?? {}) as JsonSchema, INNER_LIST_LENGTH, textInLists);
    return Array.from({ length }, () => record);
  }
  if (type === "object") {
    const properties = Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>);
    return Object.fromEntries(properties.map(([key, each]) => [key, inflate(each, length, text)]));
  }
  if (type === "integer" || type === "number") return schema.minimum ?? 1;
  if (type === "boolean") return true;
  if (type === "null") return null;
  if (schema.format === "date-time") return "2026-01-01T00:00:00.000Z";
  const pattern = schema.pattern;
  if (typeof pattern !== "string") return text;
  return PATTERNED.find((each) => new RegExp(pattern).test(each)) ?? text;
}

/** A page has as many records as it is asked for, and goes on forever. */
function respond(tool: Tool, { parameters }: ServiceRequest): string {
  if (tool.isText) return LONG.repeat(20);
  const schema = tool.dataSchemas.get(null);
  // One of several routes responds, each with a record.
  if (schema === undefined) return JSON.stringify({ id: "1", notes: [LONG, LONG], uri: LONG });
  const body = inflate(schema) as Record<string, unknown>;
  if (!("pagination" in body)) return JSON.stringify(body);
  const start = Number(parameters.cursor ?? "0");
  const limit = Number(parameters.limit ?? "50");
  const entries = Object.entries(body).map(([key, value]) => [
    key,
    Array.isArray(value)
      ? value.slice(0, 1).flatMap((each) => Array.from({ length: limit }, () => each))
      : value,
  ]);
  const pagination = { limit, offset: 0, count: limit, next_cursor: String(start + limit) };
  return JSON.stringify({ ...Object.fromEntries(entries), pagination });
}

const ARGUMENTS = {
  ...{ id: "1", agentId: "1", address: `0x${"11".repeat(20)}`, hash: `0x${"22".repeat(32)}` },
  ...{ account: `0x${"11".repeat(20)}`, target: `0x${"33".repeat(20)}` },
};

const KINDS = ["merchant", "solver", "attestor", "catalog", "quote_request", "quote_response"];

/** Tools by the operation that they send. */
const TOOL_OF = new Map(
  TOOLS.flatMap((tool) => KINDS.map((kind) => [tool.toRequest({ ...ARGUMENTS, kind }).operation, tool])),
);

/** A record without lists and long texts. */
const ALWAYS_SHORT: ReadonlySet<string> = new Set(["get_account"]);

/** Further arguments that the tool of this name needs. */
const OWN_ARGUMENTS: Readonly<Record<string, object>> = { wallet_changes: { from: "base:1" } };

/** Only what the tool takes. */
function argumentsFor(tool: {
  name: string;
  inputSchema: { properties?: Readonly<Record<string, unknown>> };
}) {
  const properties = tool.inputSchema.properties ?? {};
  const { enum: kinds } = (properties.kind ?? {}) as { enum?: readonly string[] };
  const taken = Object.entries(ARGUMENTS).filter(([key]) => key in properties);
  return { ...Object.fromEntries(taken), ...OWN_ARGUMENTS[tool.name], ...(kinds && { kind: kinds[0] }) };
}

describe.each(TOOL_CLIENTS)("for a client of the %s protocol", (_year, connect) => {
  let server: HttpServer;
  let client: ToolClient;
  let tools: Awaited<ReturnType<ToolClient["tools"]>>;
  beforeAll(async () => {
    server = createHttpServer({
      ...NO_LIMITS,
      log: silentLog,
      bodyBytesMax: 65_536,
      requestMsMax: 30_000,
      checkReadiness: async () => ({ ready: true }),
    });
    const endpoint = createMcpEndpoint({
      ...{ name: "large", version: "1", instructions: "", tools: TOOLS, prompts: [] },
      sendFor: () => async (request) => {
        const tool = TOOL_OF.get(request.operation);
        if (tool === undefined) throw new Error(`no tool sends ${request.operation}`);
        return { status: 200, headers: {}, body: respond(tool, request) };
      },
    });
    addEndpointRoutes(server.app, [endpoint]);
    client = await connect(
      `${await server.listen({ host: "127.0.0.1", port: 0, portVariable: "TEST_PORT" })}/mcp`,
    );
    tools = await client.tools();
  });
  afterAll(async () => {
    await client?.close();
    await server?.close();
  });

  const textOf = ({ content }: ToolResult) => content[0]?.text ?? "";

  it.each(TOOLS.map(({ name }) => name))("%s returns at most 16 kB and says that it is cut", async (name) => {
    const tool = tools.find((each) => each.name === name);
    if (tool === undefined) throw new Error(`there is no tool ${name}`);
    const result = await client.call(name, argumentsFor(tool));
    expect(result.isError ?? false, textOf(result).slice(0, 300)).toBe(false);
    expect(Buffer.byteLength(textOf(result))).toBeLessThanOrEqual(RESULT_BYTES_MAX);
    expect(result.structuredContent).toMatchObject({ truncated: !ALWAYS_SHORT.has(name) });
    expect(JSON.parse(textOf(result))).toEqual(result.structuredContent);
    const continues = "cursor" in (tool.inputSchema.properties ?? {});
    expect(typeof result.structuredContent.cursor).toBe(continues ? "string" : "object");
  });

  it("cuts inside the only record of a page if the record alone is above the limit", async () => {
    textInLists = ABOVE_LIMIT;
    onTestFinished(() => {
      textInLists = LONG_IN_LIST;
    });
    const result = await client.call("find_intents", {});
    expect(result.isError ?? false, textOf(result).slice(0, 300)).toBe(false);
    expect(Buffer.byteLength(textOf(result))).toBeLessThanOrEqual(RESULT_BYTES_MAX);
    const { data, truncated, cursor } = result.structuredContent as {
      data: { intents: unknown[] };
      truncated: boolean;
      cursor: string;
    };
    expect([data.intents.length, truncated, cursor]).toEqual([1, true, "1"]);
    expect(JSON.stringify(data.intents)).toContain("…");
  });

  it("continues a cut page exactly after it", async () => {
    const first = await client.call("find_intents", {});
    const { data, cursor } = first.structuredContent as { data: { intents: unknown[] }; cursor: string };
    expect(Number(cursor)).toBe(data.intents.length);
    const second = await client.call("find_intents", { cursor });
    const next = second.structuredContent as { data: { intents: unknown[] }; cursor: string };
    expect(Number(next.cursor)).toBe(Number(cursor) + next.data.intents.length);
  });
});
