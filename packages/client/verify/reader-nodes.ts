// Asks nodes that the reader chose: whether a block is on their chain, and whether a token keeps a value in a slot.
import { concat, numberToHex } from "viem/utils";
import type { LayoutProbe } from "./claim.ts";
import type { BlockHeader } from "./header.ts";
import { encodeWords, probeWord } from "./layout.ts";
import { isObject, memberOf } from "./strict-json.ts";

export type NodeOptions = {
  readonly urls: readonly string[];
  readonly fetch: typeof fetch;
  readonly signal: AbortSignal | undefined;
};

export type ReaderNode = {
  /** Its host: a URL may hold a key. */
  readonly name: string;
  /** Null if it did not say. */
  readonly chainId: string | null;
  /** Throws a NodeProblem. */
  ask(method: string, params: readonly unknown[]): Promise<unknown>;
};

/** Opinions of the nodes of a chain about a block. Each sentence is about one node. */
export type BlockOpinion = {
  /** Nodes that have it. */
  readonly agreed: readonly ReaderNode[];
  readonly disputes: readonly string[];
  readonly problems: readonly string[];
};

const TIMEOUT_MS = 15_000;
/** A block with the hashes of its transactions is far smaller. */
const RESPONSE_MAX = 8 * 1024 * 1024;
/** Nodes that are public limit how many requests they take at a time. */
const PARALLEL = 4;

class NodeProblem extends Error {}

export async function openNodes({ urls, fetch: send, signal }: NodeOptions): Promise<readonly ReaderNode[]> {
  const distinct = [...new Set(urls.map((url) => new URL(url).href))];
  return Promise.all(
    distinct.map(async (url): Promise<ReaderNode> => {
      const ask: ReaderNode["ask"] = (method, params) => askNode(send, url, { method, params }, signal);
      const id = await ask("eth_chainId", []).catch(ignoreProblem);
      const isId = typeof id === "string" && /^0x[1-9a-f][0-9a-f]{0,12}$/.test(id);
      return { name: new URL(url).host, chainId: isId ? `eip155:${BigInt(id)}` : null, ask };
    }),
  );
}

function ignoreProblem(error: unknown): null {
  if (error instanceof NodeProblem) return null;
  throw error;
}

export async function compareBlock(nodes: readonly ReaderNode[], header: BlockHeader): Promise<BlockOpinion> {
  const opinions = await Promise.all(
    nodes.map(async (node) => {
      const { name, ask } = node;
      try {
        const block = await ask("eth_getBlockByNumber", [numberToHex(header.number), false]);
        const hash = isObject(block) ? memberOf(block, "hash") : null;
        if (typeof hash !== "string")
          return { kind: "problem", text: `${name} does not have the block` } as const;
        return hash.toLowerCase() === header.hash
          ? ({ kind: "agreed", node } as const)
          : ({ kind: "dispute", text: `${name} has another block at this height` } as const);
      } catch (error) {
        if (error instanceof NodeProblem)
          return { kind: "problem", text: `${name} ${error.message}` } as const;
        throw error;
      }
    }),
  );
  return {
    agreed: opinions.flatMap((each) => (each.kind === "agreed" ? [each.node] : [])),
    disputes: opinions.flatMap((each) => (each.kind === "dispute" ? [each.text] : [])),
    problems: opinions.flatMap((each) => (each.kind === "problem" ? [each.text] : [])),
  };
}

/** `unknown`: too few nodes execute calls with a changed state, so that nothing is shown either way. */
export type LayoutOpinion = "right" | "wrong" | "unknown";

type ProbeOptions = {
  /** Nodes that have the block: any other would execute the call on another state. */
  readonly nodes: readonly ReaderNode[];
  /** How many of them must return the word. */
  readonly nodesMin: number;
  readonly header: BlockHeader;
};

/** Has each node call the token while the slot holds another word: a token that keeps the value there returns it. */
export async function probeLayouts(
  options: ProbeOptions,
  probes: readonly LayoutProbe[],
): Promise<readonly LayoutOpinion[]> {
  const opinions: LayoutOpinion[] = [];
  for (let from = 0; from < probes.length; from += PARALLEL) {
    const part = probes.slice(from, from + PARALLEL);
    opinions.push(...(await Promise.all(part.map((probe) => probeLayout(options, probe)))));
  }
  return opinions;
}

async function probeLayout(
  { nodes, nodesMin, header }: ProbeOptions,
  probe: LayoutProbe,
): Promise<LayoutOpinion> {
  const { word, value } = probeWord(probe.word, probe.mask);
  const call = { to: probe.token, data: concat([probe.selector, encodeWords(probe.arguments)]) };
  const state = { [probe.token]: { stateDiff: { [probe.slot]: word } } };
  const params = [call, numberToHex(header.number), state];
  const reports = await Promise.all(nodes.map(({ ask }) => ask("eth_call", params).catch(ignoreProblem)));
  const given = reports.filter((report) => report !== null);
  const unchanged = numberToHex(probe.word & probe.mask, { size: 32 });
  if (given.some((report) => report !== value && report !== unchanged)) return "wrong";
  // A node that ignores the changed state returns the value that it has, and so says nothing about the slot.
  const agreed = nodes.filter((_, index) => reports[index] === value);
  return countHosts(agreed) >= nodesMin ? "right" : "unknown";
}

/** Two URLs of one host are one witness. */
export function countHosts(nodes: readonly ReaderNode[]): number {
  return new Set(nodes.map(({ name }) => name)).size;
}

type RpcCall = { readonly method: string; readonly params: readonly unknown[] };

async function askNode(
  send: typeof fetch,
  url: string,
  { method, params }: RpcCall,
  signal: AbortSignal | undefined,
): Promise<unknown> {
  const limit = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const post = () =>
      send(url, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
        redirect: "error",
        signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
      });
    // A connection that was kept open may have closed meanwhile, and fetch repeats no POST.
    const response = await post().catch(post);
    const text = await readLimited(response);
    const message: unknown = JSON.parse(text);
    const result = isObject(message) ? memberOf(message, "result") : undefined;
    if (result === undefined) throw new NodeProblem(`rejects ${method}`);
    return result;
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof NodeProblem) throw error;
    throw new NodeProblem("does not respond as a node does", { cause: error });
  }
}

async function readLimited(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  const reader = response.body?.getReader();
  let text = "";
  let size = 0;
  for (;;) {
    const part = await reader?.read();
    if (part === undefined || part.done) return text + decoder.decode();
    size += part.value.length;
    if (size > RESPONSE_MAX) {
      await reader?.cancel();
      throw new NodeProblem("sends too much");
    }
    text += decoder.decode(part.value, { stream: true });
  }
}
