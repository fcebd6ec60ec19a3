// The key in a node's address: used, and never shown, whatever the node responds.
import { inspect } from "node:util";
import { type LocalChain, startLocalChain } from "@sextant/local-chain/local-chain";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import {
  type FaultyNode,
  type FaultyNodeOptions,
  startFaultyNode,
} from "../../../tests/support/nodes/faulty-node.ts";
import type { NodeFaultInjection } from "../../../tests/support/nodes/node-faults.ts";
import { createTestRpc } from "../../../tests/support/nodes/test-rpc.ts";
import { Secret } from "../../lib/secret.ts";
import { createRpc } from "./client.ts";
import { rawCall } from "./types.ts";

let chain: LocalChain;
const nodes: FaultyNode[] = [];
beforeAll(async () => {
  chain = await startLocalChain({ chainId: 31337 });
});
afterAll(() => chain.stop());
afterEach(async () => {
  await Promise.all(nodes.splice(0).map((node) => node.stop()));
});

async function node(plan: FaultyNodeOptions["plan"], path = "/"): Promise<FaultyNode> {
  const started = await startFaultyNode({ upstream: chain.rpcUrl, plan, path });
  nodes.push(started);
  return started;
}
const honest = () => node(() => null);
const head = rawCall("eth_blockNumber");
const chainId = rawCall("eth_chainId");

describe("a key in the address of a node", () => {
  const KEY = "s3cr3t-k3y-0123456789";
  const FAULTS: readonly NodeFaultInjection[] = [
    { kind: "status", status: 404, body: `Cannot POST /v3/${KEY}` },
    { kind: "status", status: 429, body: JSON.stringify({ message: `project ${KEY} is over its limit` }) },
    { kind: "error", code: -32600, message: `invalid request to http://user:hunter22@host/v3/${KEY}` },
    { kind: "error", code: 3, message: `execution reverted by ${KEY}` },
    { kind: "reset" },
    { kind: "hang" },
    { kind: "page" },
    { kind: "truncated" },
  ];

  it.each(FAULTS)("never shows a node's key after $kind $status $code", async (injection) => {
    const only = await node(() => injection, `/v3/${KEY}?token=${KEY}-query`);
    const url = only.url.replace("http://", `http://user:${KEY}-pass@`);
    const test = createTestRpc([url], { limits: { requestTimeoutMs: 100, attemptsMax: 2 } });
    const error = await test.rpc.request(rawCall("eth_chainId")).catch((thrown: unknown) => thrown);
    const results = await test.rpc.batch([head, chainId]);
    const shown = [
      inspect(error, { depth: 9 }),
      (error as Error).stack,
      JSON.stringify(error),
      inspect(results, { depth: 9 }),
      test.logged(),
      JSON.stringify(test.rpc.providers()),
      JSON.stringify(test.calls),
    ].join("\n");
    expect(shown).toContain(only.host);
    expect(shown).not.toContain(KEY);
    expect(shown).not.toContain("hunter22");
    expect(shown).not.toContain("/v3/");
  });

  it("connects to a node whose address has a password", async () => {
    const only = await honest();
    const { rpc } = createTestRpc([only.url.replace("http://", "http://user:pass@")]);
    expect(await rpc.request(rawCall("eth_chainId"))).toBe("0x7a69");
  });

  it.each(["not a url", "ftp://host/key-in-path", ""])(
    "rejects %j as a node address with a fixed sentence",
    (url) => {
      const { log } = createTestRpc([chain.rpcUrl]);
      const create = () => createRpc({ urls: [new Secret(url)], log, onCall: null });
      expect(create).toThrow("A node address must be a full URL that begins with http:// or https://.");
    },
  );
});
