// A node some blocks behind: it forwards JSON-RPC to a real one and hides the newest blocks and everything in them.
import { readBody, startLoopbackServer } from "../http/loopback-server.ts";

export type LaggingNode = {
  readonly url: string;
  /** How many of the newest blocks it does not have yet. */
  behind: number;
  /** Every request is a 500 from now on. */
  down: boolean;
  /** Called before each response. */
  onCall: (method: string) => void;
  stop(): Promise<void>;
};

type Call = { readonly id: unknown; readonly method: string; readonly params: readonly unknown[] };

const FINALITY_DEPTH = 32;

type Forward = (method: string, params: readonly unknown[]) => Promise<unknown>;

function forwardTo(upstream: string): Forward {
  return async (method, params) => {
    const response = await fetch(upstream, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
    const { result, error } = (await response.json()) as { result?: unknown; error?: { message: string } };
    if (error) throw new Error(error.message);
    return result;
  };
}

const numberOf = (value: unknown) => Number((value as { blockNumber?: string } | null)?.blockNumber ?? -1);
const hex = (value: number) => `0x${Math.max(0, value).toString(16)}`;

/** The responses of a node that is so many blocks behind. */
async function respond(forward: Forward, behind: number, { method, params }: Call): Promise<unknown> {
  const head = Number(await forward("eth_blockNumber", [])) - behind;
  const [first, second] = params as [unknown, unknown];
  if (method === "eth_blockNumber") return hex(head);
  if (method === "eth_getBlockByNumber") {
    const depth = first === "finalized" || first === "safe" ? FINALITY_DEPTH : 0;
    const isTag = typeof first === "string" && !first.startsWith("0x");
    const number = isTag ? Math.max(0, head - depth) : Number(first);
    return number > head ? null : forward(method, [hex(number), second]);
  }
  if (method === "eth_getTransactionReceipt" || method === "eth_getTransactionByHash") {
    const found = await forward(method, params);
    return numberOf(found) > head ? null : found;
  }
  if (method === "eth_getLogs") {
    const logs = (await forward(method, params)) as unknown[];
    return logs.filter((log) => numberOf(log) <= head);
  }
  if (method === "eth_call" && (second === "latest" || second === undefined)) {
    return forward(method, [first, hex(head)]);
  }
  return forward(method, params);
}

export async function startLaggingNode(upstream: string, behind = 1): Promise<LaggingNode> {
  const forward = forwardTo(upstream);
  const server = await startLoopbackServer((request, response) => {
    void (async () => {
      const parsed = JSON.parse((await readBody(request)).toString("utf8")) as Call | Call[];
      const calls = Array.isArray(parsed) ? parsed : [parsed];
      const responses: unknown[] = [];
      for (const call of calls) {
        node.onCall(call.method);
        if (node.down) return void response.writeHead(500).end();
        const { id } = call;
        const result = await respond(forward, node.behind, call).then(
          (result) => ({ jsonrpc: "2.0", id, result }),
          (error: Error) => ({ jsonrpc: "2.0", id, error: { code: -32_000, message: error.message } }),
        );
        responses.push(result);
      }
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(Array.isArray(parsed) ? responses : responses[0]));
    })().catch(() => response.destroy());
  });
  const node: LaggingNode = {
    url: server.url,
    behind,
    down: false,
    onCall: () => undefined,
    stop: server.stop,
  };
  return node;
}
