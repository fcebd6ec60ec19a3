// A node in front of a real one that asks it everything once: from then on answers come from memory, each as late as the next.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { listen } from "../api/control.ts";

export type RememberingNode = {
  readonly url: string;
  close(): void;
};

type Call = { readonly id: unknown; readonly method: string; readonly params: readonly unknown[] };

// A scan of 5,000 tokens has 320 KB; ten of those in one body would not be ours.
const BODY_BYTES_MAX = 4 * 1024 * 1024;

export async function startRememberingNode(upstream: string, delayMs: number): Promise<RememberingNode> {
  /** The end of an answer, from its result or error on, by what was asked. */
  const known = new Map<string, Promise<string>>();

  async function ask({ method, params }: Call): Promise<string> {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    const headers = { "content-type": "application/json" };
    const response = await fetch(upstream, { method: "POST", headers, body });
    const { result, error } = (await response.json()) as { result?: unknown; error?: unknown };
    return error === undefined ? `"result":${JSON.stringify(result)}}` : `"error":${JSON.stringify(error)}}`;
  }

  async function answer(call: Call): Promise<string> {
    const key = JSON.stringify([call.method, call.params]);
    let end = known.get(key);
    if (!end) {
      end = ask(call);
      known.set(key, end);
    }
    return `{"jsonrpc":"2.0","id":${JSON.stringify(call.id ?? null)},${await end}`;
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const dueMs = performance.now() + delayMs;
    const body = JSON.parse(await read(request)) as Call | readonly Call[];
    const text = Array.isArray(body)
      ? `[${(await Promise.all(body.map(answer))).join(",")}]`
      : await answer(body as Call);
    const send = () => {
      const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(text) };
      response.writeHead(200, headers).end(text);
    };
    setTimeout(send, Math.max(0, dueMs - performance.now()));
  }

  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      const text = error instanceof Error ? error.message : String(error);
      response.writeHead(502, { "content-type": "text/plain" }).end(text);
    });
  });
  return {
    url: await listen(server),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function read(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > BODY_BYTES_MAX) throw new Error("the request is too large");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
