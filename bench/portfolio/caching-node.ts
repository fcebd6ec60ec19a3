// A caching node: forwards each request once, then responds from memory with a fixed delay, and reports its requests (GET).
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { closeServer, listenOnLoopback, readText } from "../harness/loopback.ts";

export type CachingNode = {
  readonly url: string;
  close(): void;
};

/** The report of GET /work: the node's work since it started, and its process. */
export type NodeWork = { readonly requests: number; readonly cpuMs: number };

export type CachedExchange = {
  readonly body: string;
  readonly startedMs: number;
  readonly endedMs: number;
  /** Length of the response. */
  readonly responseBytes: number;
};

type Call = { readonly id: unknown; readonly method: string; readonly params: readonly unknown[] };

// A scan of 5,000 tokens has 320 KB; ten of those in one body would not be ours.
const BODY_BYTES_MAX = 4 * 1024 * 1024;

export async function startCachingNode(upstream: string, delayMs: number): Promise<CachingNode> {
  /** The end of a response, from its result or error on, by request. */
  const known = new Map<string, Promise<string>>();
  /** Since the last report. */
  let seen: CachedExchange[] = [];
  let requests = 0;

  async function forward({ method, params }: Call): Promise<string> {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    const headers = { "content-type": "application/json" };
    const response = await fetch(upstream, { method: "POST", headers, body });
    const { result, error } = (await response.json()) as { result?: unknown; error?: unknown };
    return error === undefined ? `"result":${JSON.stringify(result)}}` : `"error":${JSON.stringify(error)}}`;
  }

  async function handleCall(call: Call): Promise<string> {
    const key = JSON.stringify([call.method, call.params]);
    let end = known.get(key);
    if (!end) {
      end = forward(call);
      known.set(key, end);
    }
    return `{"jsonrpc":"2.0","id":${JSON.stringify(call.id ?? null)},${await end}`;
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const startedMs = performance.now();
    requests += 1;
    const body = await readText(request, BODY_BYTES_MAX);
    const calls = JSON.parse(body) as Call | readonly Call[];
    const text = Array.isArray(calls)
      ? `[${(await Promise.all(calls.map(handleCall))).join(",")}]`
      : await handleCall(calls as Call);
    const send = () => {
      respond(response, text);
      seen.push({ body, startedMs, endedMs: performance.now(), responseBytes: text.length });
    };
    setTimeout(send, Math.max(0, startedMs + delayMs - performance.now()));
  }

  function tellSeen(response: ServerResponse): void {
    respond(response, JSON.stringify(seen));
    seen = [];
  }

  function reportWork(response: ServerResponse): void {
    const { user, system } = process.cpuUsage();
    const work: NodeWork = { requests, cpuMs: (user + system) / 1_000 };
    respond(response, JSON.stringify(work));
    seen = [];
  }

  const server = createServer((request, response) => {
    if (request.method === "GET" && request.url === "/work") return reportWork(response);
    if (request.method === "GET") return tellSeen(response);
    handle(request, response).catch((error: unknown) => {
      const text = error instanceof Error ? error.message : String(error);
      response.writeHead(502, { "content-type": "text/plain" }).end(text);
    });
  });
  return {
    url: await listenOnLoopback(server),
    close: () => void closeServer(server),
  };
}

function respond(response: ServerResponse, text: string): void {
  const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(text) };
  response.writeHead(200, headers).end(text);
}
