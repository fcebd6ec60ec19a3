// POST /mcp: the tools of a service over Streamable HTTP. Each call is a request to our own routes, with their limits.
import { createMcpHandler } from "@modelcontextprotocol/server";
import type { FastifyInstance } from "fastify";
import { sendToRoute } from "../http/internal-requests.ts";
import { Fault } from "../lib/fault.ts";
import { isJsonObject } from "../lib/json.ts";
import type { Endpoint, EndpointRequest, EndpointResponse } from "../schema/endpoint.ts";
import { createServerFactory, type McpServerOptions } from "./server.ts";
import type { Tool } from "./tool.ts";
import { createToolCalls, type SendRequest } from "./tool-calls.ts";
import { encodePayment, parseJson } from "./tool-result.ts";

const MCP_PATH = "/mcp";

// Far above any tool call with a payment in it.
const BODY_BYTES_MAX = 64 * 1024;
// The headers that the protocol reads; others are ignored.
const HEADERS = ["content-type", "mcp-protocol-version", "mcp-method", "mcp-name"];
// The old transport wants both, although one message needs no stream; the response is JSON in any case.
const ACCEPT: [string, string] = ["accept", "application/json, text/event-stream"];

// Ours: it replaces what a client may send under this name.
const CLIENT_HEADER = "x-client";

/** Sends requests on behalf of a client, as limits per client count it. */
export type ClientSender = (client: string) => SendRequest;

type McpEndpointOptions = Omit<McpServerOptions, "createCalls" | "tools"> & {
  readonly tools: readonly Tool[];
  readonly sendFor: ClientSender;
};

export function createMcpEndpoint({ sendFor, ...options }: McpEndpointOptions): Endpoint {
  const createCalls: McpServerOptions["createCalls"] = ({ requestInfo }) =>
    createToolCalls(options.tools, sendFor(requestInfo?.headers.get(CLIENT_HEADER) ?? ""));
  // No state between requests, and no subscriptions: the tools do not change while the process runs.
  const handler = createMcpHandler(createServerFactory({ ...options, createCalls }), {
    maxSubscriptions: 0,
    maxRequestBodySize: BODY_BYTES_MAX,
  });
  return {
    method: "POST",
    path: MCP_PATH,
    operationId: "callMcp",
    summary: "Model Context Protocol over Streamable HTTP",
    description: `Tools for agents, by JSON-RPC of the Model Context Protocol: ${options.tools.map(({ name }) => name).join(", ")}.`,
    tag: "Service",
    parameters: [],
    // One message: batches left the protocol in June 2025.
    body: {
      title: "JsonRpcRequest",
      type: "object",
      properties: {
        jsonrpc: { type: "string", const: "2.0" },
        id: { anyOf: [{ type: "string" }, { type: "integer" }], description: "Absent in a notification." },
        method: { type: "string", description: "Such as initialize, tools/list or tools/call." },
        params: { type: "object" },
      },
      required: ["jsonrpc", "method"],
    },
    bodyExample: { jsonrpc: "2.0", id: 1, method: "tools/list" },
    bodyBytesMax: BODY_BYTES_MAX,
    responses: {
      200: {
        title: "JsonRpcResponse",
        type: "object",
        properties: {
          jsonrpc: { type: "string", const: "2.0" },
          id: { anyOf: [{ type: "string" }, { type: "integer" }, { type: "null" }] },
          result: { type: "object" },
          error: { type: "object" },
        },
        required: ["jsonrpc"],
      },
      202: { description: "A notification was taken." },
    },
    handle: async (request) => toEndpointResponse(await handler.fetch(toWebRequest(request))),
  };
}

function toWebRequest({ headers, rawBody, client }: EndpointRequest): Request {
  const kept = HEADERS.flatMap((name) => {
    const value = headers[name];
    return value === undefined ? [] : [[name, value] as [string, string]];
  });
  return new Request(`http://localhost${MCP_PATH}`, {
    method: "POST",
    headers: [...kept, ACCEPT, [CLIENT_HEADER, client]],
    body: rawBody,
  });
}

async function toEndpointResponse(response: Response): Promise<EndpointResponse> {
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
  const text = await response.text();
  const message = isStream ? readOnlyEvent(text) : text;
  if (response.status >= 400 && !isJsonObject(parseJson(message))) {
    throw new Fault("INPUT_INVALID", "The body is not a message of the Model Context Protocol.");
  }
  return {
    // An error of the protocol is a response to its message; only an invalid message fails over HTTP, as on any route.
    status: response.status >= 400 ? 200 : response.status,
    headers: { "content-type": "application/json; charset=utf-8", "cache-control": "no-store" },
    body: Buffer.from(message),
  };
}

/** The old transport sends the one message of a response as a stream of one event. */
function readOnlyEvent(stream: string): string {
  const data = stream.split("\n").flatMap((line) => (line.startsWith("data: {") ? [line.slice(6)] : []));
  return data[0] ?? "";
}

/** Calls our own routes, where the requests count in the limits of the client. */
export function createRouteSender(app: FastifyInstance): ClientSender {
  return (client) =>
    async ({ url, body, operation: operationId }, { payment, signal }) => {
      const headers = {
        accept: "application/json",
        ...(payment === null ? {} : { "payment-signature": encodePayment(payment) }),
      };
      const send = (target: string) =>
        sendToRoute(app, { operationId, url: target, headers, body, client, signal });
      const follow = async (response: Awaited<ReturnType<typeof send>>) => {
        const target = response.status === 307 ? response.headers.location : undefined;
        return target === undefined ? response : send(target);
      };
      // The name of a wallet leads to the same route by address, and a time to the one by blocks; no further.
      return follow(await follow(await send(url)));
    };
}
