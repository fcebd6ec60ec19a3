// A JSON-RPC node that replays a history: responses are slices of prepared text, so that it is never the bottleneck.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createLogDecoder } from "../../src/protocol/decode-logs.ts";
import { closeServer, listenOnLoopback, readText } from "../harness/loopback.ts";
import { logPositionOf } from "./derived-values.ts";
import type { ServedHistory } from "./served-history.ts";

export type ReplayNode = {
  readonly url: string;
  readonly served: { readonly requests: number; readonly calls: number; readonly bytes: number };
  close(): Promise<void>;
};

type Request = { readonly id: unknown; readonly method: string; readonly params: readonly unknown[] };
type Filter = {
  readonly fromBlock?: string;
  readonly toBlock?: string;
  readonly blockHash?: string;
  readonly address?: string | readonly string[];
  readonly topics?: readonly (string | readonly string[] | null)[];
};
type Parts = readonly (Buffer | string)[];

// The client sends batches of a hundred calls; anything near this is not ours.
const BODY_BYTES_MAX = 4 * 1024 * 1024;

/** Listens on loopback, on a port that the system chooses. The head is final. */
export async function startReplayNode(history: ServedHistory): Promise<ReplayNode> {
  const served = { requests: 0, calls: 0, bytes: 0 };
  const methods = methodsOf(history);

  function respond({ id, method, params }: Request): Parts {
    served.calls += 1;
    const head = `{"jsonrpc":"2.0","id":${JSON.stringify(id ?? null)}`;
    const call = methods[method];
    if (!call) return [`${head},"error":{"code":-32601,"message":"the method ${method} does not exist"}}`];
    return [`${head},"result":`, ...call(params), "}"];
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = JSON.parse(await readText(request, BODY_BYTES_MAX)) as Request | readonly Request[];
    const parts: Parts = Array.isArray(body)
      ? ["[", ...body.flatMap((each: Request, i) => (i === 0 ? respond(each) : [",", ...respond(each)])), "]"]
      : respond(body as Request);
    const bytes = Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part) : part)));
    served.requests += 1;
    served.bytes += bytes.length;
    response.writeHead(200, { "content-type": "application/json", "content-length": bytes.length });
    response.end(bytes);
  }

  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      response.writeHead(400, { "content-type": "text/plain" });
      response.end(error instanceof Error ? error.message : String(error));
    });
  });
  return { url: await listenOnLoopback(server), served, close: () => closeServer(server) };
}

function methodsOf(history: ServedHistory): Readonly<Record<string, (params: readonly unknown[]) => Parts>> {
  const { deployment, hashOf } = history.chain;
  const contracts = new Set<string>(Object.values(deployment.contracts));
  const logs = createLogsReader(history);
  const orNull = (parts: Parts | null): Parts => parts ?? ["null"];
  const numberOf = (block: unknown): number => {
    if (block === "earliest") return 0;
    if (block === "finalized" || block === "safe") return history.readFinalized();
    return typeof block === "string" && block.startsWith("0x") ? Number(block) : history.head;
  };
  const blockOf = (hash: string): number => {
    const { block } = logPositionOf(hash);
    return hashOf(block) === hash ? block : Number.NaN;
  };
  return {
    eth_chainId: () => [`"0x${deployment.chainId.toString(16)}"`],
    eth_blockNumber: () => [`"0x${history.head.toString(16)}"`],
    eth_getCode: ([address]) => [contracts.has(String(address).toLowerCase()) ? '"0x60806040"' : '"0x"'],
    eth_getBlockByNumber: ([block]) => orNull(history.block(numberOf(block))),
    eth_getBlockByHash: ([hash]) => orNull(history.block(blockOf(String(hash)))),
    eth_getTransactionByHash: ([hash]) => orNull(history.transaction(String(hash))),
    eth_getLogs: ([filter]) => {
      const { fromBlock, toBlock, blockHash, ...wanted } = filter as Filter;
      const only = blockHash === undefined ? null : blockOf(blockHash);
      const range = [only ?? numberOf(fromBlock), only ?? numberOf(toBlock)] as const;
      return ["[", ...logs(...range, wanted), "]"];
    },
  };
}

/**
 * The two filters of an indexer (all contracts of the deployment with all their events, and the events that
 * anyone may emit) return the text as it is; any other filter is applied log by log.
 */
function createLogsReader(history: ServedHistory): (from: number, to: number, filter: Filter) => Parts {
  const { addresses, topics0, anyEmitterTopics0 } = createLogDecoder(history.chain.deployment);
  const own = textOf(addresses, [topics0]);
  const others = textOf(null, [anyEmitterTopics0]);
  return (from, to, { address, topics = [] }) => {
    const wanted = textOf(address === undefined ? null : [address].flat(), topics);
    if (wanted === own) return history.logs("contracts", from, to);
    if (wanted === others) return history.logs("others", from, to);
    const matches = (log: LogFields): boolean =>
      (address === undefined || [address].flat().includes(log.address)) &&
      topics.every((one, i) => one === null || [one].flat().includes(log.topics[i] ?? ""));
    const all = (["contracts", "others"] as const).flatMap(
      (emitters) => JSON.parse(`[${history.logs(emitters, from, to).join("")}]`) as LogFields[],
    );
    return [JSON.stringify(all.filter(matches).sort(byPlace)).slice(1, -1)];
  };
}

type LogFields = {
  readonly address: string;
  readonly topics: readonly string[];
  readonly blockNumber: string;
  readonly logIndex: string;
};

function byPlace(a: LogFields, b: LogFields): number {
  return Number(a.blockNumber) - Number(b.blockNumber) || Number(a.logIndex) - Number(b.logIndex);
}

function textOf(addresses: readonly string[] | null, topics: NonNullable<Filter["topics"]>): string {
  const sorted = topics.map((one) => (one === null ? null : [one].flat().sort()));
  return JSON.stringify([addresses && [...addresses].sort(), sorted]);
}
