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

/** A call as its text: the id, and all behind it, by which the node knows equal calls. */
type Call = { readonly id: string; readonly rest: string };

/** As our client writes them: a body is split as text, because parsing it would cost as much as the service under test. */
const CALL_START = '{"jsonrpc":"2.0","id":';

function splitCalls(body: string): readonly Call[] {
  return body
    .split(CALL_START)
    .slice(1)
    .map((text) => {
      const idEnd = text.indexOf(",");
      // Behind it, the next call or the end of the list.
      return { id: text.slice(0, idEnd), rest: text.slice(idEnd, text.lastIndexOf("}") + 1) };
    });
}

// A scan of 5,000 tokens has 320 KB; ten of those in one body would not be ours.
const BODY_BYTES_MAX = 4 * 1024 * 1024;

export async function startCachingNode(upstream: string, delayMs: number): Promise<CachingNode> {
  /** The end of a response, from its result or error on, by call. */
  const known = new Map<string, string | Promise<string>>();
  /** Since the last report; null if none was asked for, because bodies fill the memory under load. */
  let seen: CachedExchange[] | null = null;
  let requests = 0;

  async function forward(rest: string): Promise<string> {
    const headers = { "content-type": "application/json" };
    const response = await fetch(upstream, { method: "POST", headers, body: `${CALL_START}1${rest}` });
    const { result, error } = (await response.json()) as { result?: unknown; error?: unknown };
    return error === undefined ? `"result":${JSON.stringify(result)}}` : `"error":${JSON.stringify(error)}}`;
  }

  async function handleCall({ id, rest }: Call): Promise<string> {
    const end = known.get(rest) ?? forward(rest);
    known.set(rest, end);
    if (typeof end !== "string") known.set(rest, await end);
    return `${CALL_START}${id},${await end}`;
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const startedMs = performance.now();
    requests += 1;
    const body = await readText(request, BODY_BYTES_MAX);
    const responses = (await Promise.all(splitCalls(body).map(handleCall))).join(",");
    const text = body.startsWith("[") ? `[${responses}]` : responses;
    const send = () => {
      respond(response, text);
      seen?.push({ body, startedMs, endedMs: performance.now(), responseBytes: text.length });
    };
    setTimeout(send, Math.max(0, startedMs + delayMs - performance.now()));
  }

  function tellSeen(response: ServerResponse): void {
    respond(response, JSON.stringify(seen ?? []));
    seen = [];
  }

  function reportWork(response: ServerResponse): void {
    const { user, system } = process.cpuUsage();
    const work: NodeWork = { requests, cpuMs: (user + system) / 1_000 };
    respond(response, JSON.stringify(work));
    seen = null;
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
