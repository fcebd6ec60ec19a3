// A node that forwards JSON-RPC to a real one and injects faults by a plan.
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { RpcRequestFunction } from "@sextant/contracts/deploy/rpc-request";
import { toJsonRpcErrorBody } from "@sextant/local-chain/rpc/json-rpc-error";
import { readBody } from "../http/loopback-server.ts";
import {
  ERROR_PAGE_HTML,
  LYING_FAULTS,
  type NodeFaultInjection,
  type NodeRpcCall,
  type NodeRpcResponse,
  rejectsBlockHash,
  rewriteCall,
  tamperEnvelopes,
  tamperResult,
} from "./node-faults.ts";

export type FaultyNodeOptions = {
  /** A URL, or a chain of this process, which saves a second HTTP request. */
  readonly upstream: string | RpcRequestFunction;
  /** The fault of the request with this number, counted from 0; null for an honest response. */
  readonly plan: (number: number, calls: readonly NodeRpcCall[]) => NodeFaultInjection | null;
  /** How often the node lies about the same call. */
  readonly liesPerCall?: number;
  readonly path?: string;
};

/** Faults for the first requests, in order, and honest responses afterwards. */
export function planFaults(
  injections: readonly (NodeFaultInjection | null)[],
): (number: number) => NodeFaultInjection | null {
  return (number) => injections[number] ?? null;
}

export async function startFaultyNode(options: FaultyNodeOptions): Promise<FaultyNode> {
  const node = new FaultyNode(options);
  await node.listen();
  return node;
}

export class FaultyNode {
  readonly #options: FaultyNodeOptions;
  readonly #requests: (readonly NodeRpcCall[])[] = [];
  /** Lies so far, by call. */
  readonly #lies = new Map<string, number>();
  readonly #server: Server;
  #running = 0;
  #runningMost = 0;
  #bytesSent = 0;

  constructor(options: FaultyNodeOptions) {
    this.#options = options;
    this.#server = createServer((request, response) => {
      this.#running += 1;
      this.#runningMost = Math.max(this.#runningMost, this.#running);
      this.#handle(request, response)
        .catch((error: unknown) => {
          response.statusCode = 599;
          response.end(String(error));
        })
        .finally(() => {
          this.#running -= 1;
        });
    });
  }

  async listen(): Promise<void> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
  }

  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** With a key in its path, as vendors have it. */
  get url(): string {
    return `http://${this.host}${this.#options.path ?? "/"}`;
  }

  /** Every HTTP request so far, as the calls it carried. */
  get requests(): readonly (readonly NodeRpcCall[])[] {
    return this.#requests;
  }

  /** The most requests in flight at once. */
  get runningMost(): number {
    return this.#runningMost;
  }

  /** The bytes of all honest responses. */
  get bytesSent(): number {
    return this.#bytesSent;
  }

  /** A property, because stages pass it on as a function. */
  readonly stop = async (): Promise<void> => {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  };

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = (await readBody(request)).toString("utf8");
    const parsed = JSON.parse(body) as NodeRpcCall | NodeRpcCall[];
    const calls = Array.isArray(parsed) ? parsed : [parsed];
    const injection = this.#options.plan(this.#requests.push(calls) - 1, calls);
    if (injection && replaceResponse(injection, request, response, parsed)) return;
    const isRewritten = injection?.kind === "final-at";
    const payload = await forward(
      this.#options.upstream,
      isRewritten ? forwardedBody(injection, parsed) : parsed,
    );
    const text = JSON.stringify(injection ? this.#tamper(injection, calls, payload) : payload);
    response.setHeader("content-type", "application/json");
    if (injection?.kind === "truncated") {
      return void response.end(text.slice(0, Math.floor(text.length * 0.7)));
    }
    if (injection?.kind === "cut-connection") {
      response.setHeader("content-length", Buffer.byteLength(text));
      response.write(text.slice(0, Math.floor(text.length / 2)), () => request.socket.destroy());
      return;
    }
    this.#bytesSent += Buffer.byteLength(text);
    response.end(text);
  }

  #tamper(
    injection: NodeFaultInjection,
    calls: readonly NodeRpcCall[],
    payload: NodeRpcResponse | NodeRpcResponse[],
  ): unknown {
    const responses = (Array.isArray(payload) ? payload : [payload]).map((response) => {
      const call = calls.find(({ id }) => id === response.id);
      if (!call || response.error !== undefined || !this.#mayLie(injection, call)) return response;
      if (rejectsBlockHash(injection, call)) {
        return { id: response.id, error: { code: -32000, message: "unknown block" } };
      }
      return { ...response, result: tamperResult(injection, call, response.result) };
    });
    if (injection.kind === "member-error") replaceMembers(injection, calls, responses);
    const changed = tamperEnvelopes(injection.kind, responses);
    return Array.isArray(payload) ? changed : changed[0];
  }

  #mayLie(injection: NodeFaultInjection, call: NodeRpcCall): boolean {
    if (!LYING_FAULTS.has(injection.kind)) return false;
    const key = JSON.stringify([call.method, call.params]);
    const lies = this.#lies.get(key) ?? 0;
    if (lies >= (this.#options.liesPerCall ?? 1)) return false;
    this.#lies.set(key, lies + 1);
    return true;
  }
}

/** The error goes to every query for logs, or to the first member if there is none. */
function replaceMembers(
  { code, message, data }: Extract<NodeFaultInjection, { code: number }>,
  calls: readonly NodeRpcCall[],
  responses: NodeRpcResponse[],
): void {
  const queries = new Set(calls.filter(({ method }) => method === "eth_getLogs").map(({ id }) => id));
  for (const [at, { id }] of responses.entries()) {
    const isReplaced = queries.size === 0 ? at === 0 : queries.has(id);
    if (!isReplaced) continue;
    const error = { code, message, ...(data === undefined ? {} : { data }) };
    responses[at] = { jsonrpc: "2.0", id, error };
  }
}

async function forward(
  upstream: FaultyNodeOptions["upstream"],
  body: NodeRpcCall | NodeRpcCall[],
): Promise<NodeRpcResponse | NodeRpcResponse[]> {
  if (typeof upstream === "function") {
    const respond = async ({ id, method, params }: NodeRpcCall): Promise<NodeRpcResponse> => {
      try {
        return { jsonrpc: "2.0", id, result: await upstream(method, params) };
      } catch (error) {
        return { jsonrpc: "2.0", id, error: toJsonRpcErrorBody(error) };
      }
    };
    return Array.isArray(body) ? Promise.all(body.map(respond)) : respond(body);
  }
  const response = await fetch(upstream, {
    method: "POST",
    body: JSON.stringify(body),
    headers: { "content-type": "application/json" },
  });
  return (await response.json()) as NodeRpcResponse | NodeRpcResponse[];
}

function forwardedBody(
  injection: NodeFaultInjection,
  body: NodeRpcCall | NodeRpcCall[],
): NodeRpcCall | NodeRpcCall[] {
  return Array.isArray(body)
    ? body.map((call) => rewriteCall(injection, call))
    : rewriteCall(injection, body);
}

/** True when the fault replaces the whole response. */
function replaceResponse(
  injection: NodeFaultInjection,
  request: IncomingMessage,
  response: ServerResponse,
  parsed: NodeRpcCall | NodeRpcCall[],
): boolean {
  if (injection.kind === "hang") return true;
  if (injection.kind === "reset") {
    request.socket.destroy();
    return true;
  }
  if (injection.kind === "page") {
    response.setHeader("content-type", "text/html");
    response.end(ERROR_PAGE_HTML);
    return true;
  }
  if (injection.kind === "status") {
    response.statusCode = injection.status;
    if (injection.retryAfter !== undefined) response.setHeader("retry-after", injection.retryAfter);
    response.end(injection.body ?? "");
    return true;
  }
  if (injection.kind === "result" && !Array.isArray(parsed)) {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ jsonrpc: "2.0", id: parsed.id, result: injection.result }));
    return true;
  }
  if (injection.kind === "error") {
    const { code, message, data } = injection;
    const id = Array.isArray(parsed) ? null : parsed.id;
    response.statusCode = injection.status ?? 200;
    response.end(
      JSON.stringify({
        jsonrpc: "2.0",
        id,
        error: { code, message, ...(data === undefined ? {} : { data }) },
      }),
    );
    return true;
  }
  return false;
}
