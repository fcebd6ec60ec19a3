// The way to the nodes for the library's client: one try at each, and no address of theirs in any error.
import { custom, RpcRequestError, type Transport } from "viem";
import type { Secret } from "../../kit/secret.ts";

/** No node answered: nothing can be concluded from it, not even that the request did not arrive. */
export class NodeUnheard extends Error {
  constructor(what: string, options: { cause?: unknown } = {}) {
    super(`No node was heard: ${what}`, options);
    this.name = "NodeUnheard";
  }
}

type Answer = { result?: unknown; error?: { code: number; message: string; data?: unknown } };

/** In order of preference. What a node says is final; where one says nothing, the next is asked. */
export function nodeTransport(urls: readonly Secret<string>[], timeoutMs: number): Transport {
  const request = async ({ method, params }: { method: string; params?: unknown }): Promise<unknown> => {
    let unheard = new NodeUnheard("none is configured");
    for (const url of urls) {
      try {
        return await ask(url.reveal(), method, params, timeoutMs);
      } catch (error) {
        if (!(error instanceof NodeUnheard)) throw error;
        unheard = error;
      }
    }
    throw unheard;
  };
  // No second try behind our back: a refusal is heard at once, and whoever asked decides what to do about silence.
  return custom({ request }, { retryCount: 0 });
}

async function ask(url: string, method: string, params: unknown, timeoutMs: number): Promise<unknown> {
  const { address, headers } = placeOf(url);
  const { host } = address;
  const answer = await fetch(address, {
    method: "POST",
    headers,
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: params ?? [] }),
    signal: AbortSignal.timeout(timeoutMs),
  })
    .then(readAnswer)
    .catch((cause: unknown) => {
      throw new NodeUnheard(`${host} did not answer ${method}`, { cause });
    });
  if (answer.error) throw new RpcRequestError({ body: { method }, error: answer.error, url: host });
  if (!("result" in answer)) throw new NodeUnheard(`${host} answered ${method} with something else`);
  return answer.result;
}

/** Credentials go into a header: an address that has some is refused by fetch, with an error that repeats them. */
function placeOf(url: string): { address: URL; headers: Record<string, string> } {
  const address = new URL(url);
  const headers: Record<string, string> = { "content-type": "application/json" };
  const { username, password } = address;
  if (username !== "" || password !== "") {
    const words = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    headers.authorization = `Basic ${Buffer.from(words).toString("base64")}`;
    address.username = "";
    address.password = "";
  }
  return { address, headers };
}

// Also refusals come as JSON from some nodes, with any status; what is not JSON is a gateway's word, not a node's.
async function readAnswer(response: Response): Promise<Answer> {
  const answer: unknown = await response.json();
  if (response.status === 429 || typeof answer !== "object" || answer === null) {
    throw new TypeError(`status ${response.status}`);
  }
  return answer;
}
