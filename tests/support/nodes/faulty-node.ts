// A node that can not be trusted: forwards JSON-RPC to a real one and injects faults by a plan.
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
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

export type FaultyNode = {
  /** With a key in its path, as vendors have it. */
  readonly url: string;
  readonly host: string;
  /** Every HTTP request so far, as the calls it carried. */
  readonly requests: readonly (readonly NodeRpcCall[])[];
  /** The most requests that were under way at once. */
  readonly runningMost: number;
  stop(): Promise<void>;
};

export type FaultyNodeOptions = {
  readonly upstream: string;
  /** The fault of the request with this number, counted from 0; null for an honest answer. */
  readonly plan: (number: number, calls: readonly NodeRpcCall[]) => NodeFaultInjection | null;
  /** How often a lie is told about one and the same question. */
  readonly liesPerQuestion?: number;
  readonly path?: string;
};

/** Faults for the first requests, in order, and honesty afterwards. */
export function planFaults(
  injections: readonly (NodeFaultInjection | null)[],
): (number: number) => NodeFaultInjection | null {
  return (number) => injections[number] ?? null;
}

export async function startFaultyNode(options: FaultyNodeOptions): Promise<FaultyNode> {
  const requests: (readonly NodeRpcCall[])[] = [];
  const lies = new Map<string, number>();
  let running = 0;
  let runningMost = 0;
  const server = createServer((request, response) => {
    running += 1;
    runningMost = Math.max(runningMost, running);
    handle(request, response)
      .catch((error: unknown) => {
        response.statusCode = 599;
        response.end(String(error));
      })
      .finally(() => {
        running -= 1;
      });
  });

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readText(request);
    const parsed = JSON.parse(body) as NodeRpcCall | NodeRpcCall[];
    const calls = Array.isArray(parsed) ? parsed : [parsed];
    const injection = options.plan(requests.push(calls) - 1, calls);
    if (injection && replaceAnswer(injection, request, response, parsed)) return;
    const honest = await fetch(options.upstream, {
      method: "POST",
      body: injection?.kind === "final-at" ? JSON.stringify(forwardedBody(injection, parsed)) : body,
      headers: { "content-type": "application/json" },
    });
    const payload = (await honest.json()) as NodeRpcResponse | NodeRpcResponse[];
    const text = JSON.stringify(injection ? change(injection, calls, payload) : payload);
    response.setHeader("content-type", "application/json");
    if (injection?.kind === "truncated")
      return void response.end(text.slice(0, Math.floor(text.length * 0.7)));
    if (injection?.kind === "cut-connection") {
      response.setHeader("content-length", Buffer.byteLength(text));
      response.write(text.slice(0, Math.floor(text.length / 2)), () => request.socket.destroy());
      return;
    }
    response.end(text);
  }

  function change(
    injection: NodeFaultInjection,
    calls: readonly NodeRpcCall[],
    payload: NodeRpcResponse | NodeRpcResponse[],
  ): unknown {
    const answers = (Array.isArray(payload) ? payload : [payload]).map((answer) => {
      const call = calls.find(({ id }) => id === answer.id);
      if (!call || answer.error !== undefined || !mayLie(injection, call)) return answer;
      if (rejectsBlockHash(injection, call))
        return { id: answer.id, error: { code: -32000, message: "unknown block" } };
      return { ...answer, result: tamperResult(injection, call, answer.result) };
    });
    if (injection.kind === "member-error") {
      const { code, message, data } = injection;
      // Errors of single members are those of queries for logs, where there is one.
      const query = calls.find(({ method }) => method === "eth_getLogs")?.id;
      const at = Math.max(
        0,
        answers.findIndex(({ id }) => id === query),
      );
      answers[at] = {
        jsonrpc: "2.0",
        id: answers[at]?.id,
        error: { code, message, ...(data === undefined ? {} : { data }) },
      };
    }
    const changed = tamperEnvelopes(injection.kind, answers);
    return Array.isArray(payload) ? changed : changed[0];
  }

  function mayLie(injection: NodeFaultInjection, call: NodeRpcCall): boolean {
    if (!LYING_FAULTS.has(injection.kind)) return false;
    const question = JSON.stringify([call.method, call.params]);
    const told = lies.get(question) ?? 0;
    if (told >= (options.liesPerQuestion ?? 1)) return false;
    lies.set(question, told + 1);
    return true;
  }

  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `http://${host}${options.path ?? "/"}`,
    host,
    requests,
    get runningMost() {
      return runningMost;
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function forwardedBody(injection: NodeFaultInjection, body: NodeRpcCall | NodeRpcCall[]): unknown {
  return Array.isArray(body)
    ? body.map((call) => rewriteCall(injection, call))
    : rewriteCall(injection, body);
}

/** True when the fault leaves nothing of the honest answer. */
function replaceAnswer(
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

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
