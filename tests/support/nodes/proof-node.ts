// A node in front of a chain of this process, on which a test rejects or changes single results, also within a batch.
import type { Hex } from "../../../src/lib/hex.ts";
import { readBody, startLoopbackServer } from "../http/loopback-server.ts";

type Call = { readonly id: unknown; readonly method: string; readonly params: readonly unknown[] };

/** The result that the node sends in place of the honest one; throws for an error. */
export type ChangeResult = (method: string, result: unknown, params: readonly unknown[]) => unknown;

type ProofNode = {
  readonly url: string;
  /** How many HTTP requests it got. */
  requestCount(): number;
  stop(): Promise<void>;
};

/** A method that the node does not offer. */
export function rejectMethod(rejected: string): ChangeResult {
  return (method, result) => {
    if (method === rejected) throw new Error(`the method ${method} is not available`);
    return result;
  };
}

export async function startProofNode(
  request: (method: string, params: readonly unknown[]) => Promise<unknown>,
  change: ChangeResult = (_, result) => result,
): Promise<ProofNode> {
  let count = 0;
  const respond = async ({ id, method, params }: Call) => {
    try {
      return { jsonrpc: "2.0", id, result: change(method, await request(method, params), params) };
    } catch (error) {
      const isUnsupported = String(error).includes("not available");
      const code = isUnsupported ? -32_601 : -32_000;
      return { jsonrpc: "2.0", id, error: { code, message: (error as Error).message } };
    }
  };
  const server = await startLoopbackServer(async (incoming, response) => {
    count += 1;
    const calls = JSON.parse((await readBody(incoming)).toString("utf8")) as Call | readonly Call[];
    const body = Array.isArray(calls) ? await Promise.all(calls.map(respond)) : await respond(calls as Call);
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  return { url: server.url, requestCount: () => count, stop: server.stop };
}

/** Changes one hex digit of a text. */
export function flipDigit(text: Hex, index: number): Hex {
  const flipped = text[index] === "0" ? "1" : "0";
  return `${text.slice(0, index)}${flipped}${text.slice(index + 1)}` as Hex;
}
