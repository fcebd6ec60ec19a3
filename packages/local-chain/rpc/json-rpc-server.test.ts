// JSON-RPC server: batches, malformed bodies, other methods, cross-origin use, and a busy port.
import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { WebSocket } from "ws";
import { type LocalChain, startLocalChain } from "../local-chain.ts";
import { EMITTER, EMITTER_CODE, encodeTopic } from "../testing/log-emitter.ts";
import { BODY_BYTES_MAX, startJsonRpcServer } from "./json-rpc-server.ts";

let chain: LocalChain;
beforeAll(async () => {
  chain = await startLocalChain({ chainId: 31337, code: { [EMITTER]: EMITTER_CODE } });
});
afterAll(() => chain.stop());

async function post(body: string): Promise<{ status: number; json: unknown }> {
  const response = await fetch(chain.rpcUrl, { method: "POST", body });
  const text = await response.text();
  return { status: response.status, json: text === "" ? undefined : JSON.parse(text) };
}

const call = (id: unknown, method: string, params: unknown = []) => ({ jsonrpc: "2.0", id, method, params });

describe("the JSON-RPC server", () => {
  it("responds to a request with its id", async () => {
    expect(await post(JSON.stringify(call("a-1", "eth_chainId")))).toEqual({
      status: 200,
      json: { jsonrpc: "2.0", id: "a-1", result: "0x7a69" },
    });
  });

  it("treats missing params as empty", async () => {
    const { json } = await post('{"jsonrpc":"2.0","id":7,"method":"net_version"}');
    expect(json).toEqual({ jsonrpc: "2.0", id: 7, result: "31337" });
  });

  it("responds to a batch in order, each entry on its own", async () => {
    const from = chain.accounts.agent.address;
    const batch = [
      call(3, "eth_chainId"),
      call(1, "eth_sendTransaction", [{ from, to: EMITTER, data: encodeTopic(1), gas: "0xc350" }]),
      call(2, "eth_getTransactionCount", [from, "latest"]),
      call(9, "eth_noSuchMethod"),
      "nonsense",
    ];
    const { json } = await post(JSON.stringify(batch));
    expect(json).toMatchObject([
      { id: 3, result: "0x7a69" },
      { id: 1, result: expect.stringMatching(/^0x[0-9a-f]{64}$/) },
      { id: 2, result: "0x1" },
      { id: 9, error: { code: -32004 } },
      { id: null, error: { code: -32600 } },
    ]);
  });

  it("executes notifications without a response", async () => {
    const before = Number(await chain.request("eth_blockNumber"));
    const notification = { jsonrpc: "2.0", method: "evm_mine" };
    expect(await post(JSON.stringify(notification))).toEqual({ status: 204, json: undefined });
    expect((await post(JSON.stringify([notification, call(1, "net_version")]))).json).toHaveLength(1);
    expect(await chain.request("eth_blockNumber")).toBe(`0x${(before + 2).toString(16)}`);
  });

  it.each([
    ["", -32700],
    ["{", -32700],
    ["\u0000", -32700],
    ["[]", -32600],
    ["null", -32600],
    ["5", -32600],
    [JSON.stringify({ id: 1, method: "eth_chainId" }), -32600],
    [JSON.stringify({ jsonrpc: "2.0", id: 1 }), -32600],
    [JSON.stringify({ jsonrpc: "2.0", id: {}, method: "eth_chainId" }), -32600],
    [JSON.stringify(call(1, "eth_getBalance", { address: "0x" })), -32600],
    [JSON.stringify(Array(2_001).fill(call(1, "eth_chainId"))), -32600],
  ])("rejects the body %#", async (body, code) => {
    expect(await post(body)).toMatchObject({
      status: 200,
      json: { jsonrpc: "2.0", id: null, error: { code } },
    });
  });

  it("passes errors of EDR on, with the request's id", async () => {
    expect((await post(JSON.stringify(call(4, "eth_getBalance", ["0x1"])))).json).toMatchObject({
      id: 4,
      error: { code: -32602, message: expect.any(String) },
    });
    expect((await post(JSON.stringify(call(5, "eth_subscribe", ["newHeads"])))).json).toMatchObject({
      id: 5,
      error: { code: -32004, message: "eth_subscribe needs a WebSocket connection" },
    });
  });

  it("accepts a large call, and rejects a body over the limit", async () => {
    const data = `0x${"01".repeat(160_000)}`;
    const { json } = await post(
      JSON.stringify(call(1, "eth_call", [{ to: chain.accounts.owner.address, data }, "latest"])),
    );
    expect(json).toEqual({ jsonrpc: "2.0", id: 1, result: "0x" });
    expect(await post(" ".repeat(BODY_BYTES_MAX + 1))).toMatchObject({
      status: 413,
      json: { error: { code: -32600 } },
    });
  });

  it("survives a client that hangs up in the middle of its body", async () => {
    await new Promise<void>((resolve) => {
      const request = httpRequest(chain.rpcUrl, { method: "POST", headers: { "content-length": "1000" } });
      request.on("error", () => resolve());
      request.write("{", () => request.destroy());
      request.on("close", resolve);
    });
    expect((await post(JSON.stringify(call(1, "net_version")))).status).toBe(200);
  });

  it("greets a browser, and rejects other methods and paths", async () => {
    const greeting = await fetch(chain.rpcUrl);
    expect([greeting.status, await greeting.text()]).toEqual([
      200,
      expect.stringContaining("Local EVM chain 31337"),
    ]);
    expect((await fetch(`${chain.rpcUrl}/elsewhere`)).status).toBe(404);
    const put = await fetch(chain.rpcUrl, { method: "PUT", body: "{}" });
    expect([put.status, put.headers.get("allow")]).toEqual([405, "POST, GET, OPTIONS"]);
  });

  it("allows cross-origin requests", async () => {
    const preflight = await fetch(chain.rpcUrl, { method: "OPTIONS" });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-origin")).toBe("*");
    expect(preflight.headers.get("access-control-allow-headers")).toBe("*");
    const response = await fetch(chain.rpcUrl, {
      method: "POST",
      body: JSON.stringify(call(1, "net_version")),
    });
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
  });

  it("rejects a request that its configuration rejects, also by WebSocket, before anything is handled", async () => {
    const handled: string[] = [];
    const server = await startJsonRpcServer({
      ...{ hostname: "127.0.0.1", port: 0, greeting: "hello", onDisconnect: async () => undefined },
      handle: async (method) => {
        handled.push(method);
        return '"ok"';
      },
      findForeignCaller: ({ method, headers }) =>
        method === "POST" && headers.origin === "https://evil.example" ? "No pages of others." : null,
    });
    onTestFinished(server.close);
    const url = `127.0.0.1:${server.port}`;
    const send = (origin: string) =>
      fetch(`http://${url}`, {
        method: "POST",
        headers: { origin },
        body: JSON.stringify(call(1, "evm_mine")),
      });
    const rejected = await send("https://evil.example");
    expect([rejected.status, await rejected.text()]).toEqual([403, "No pages of others.\n"]);
    const socket = new WebSocket(`ws://${url}`, { origin: "https://evil.example" });
    const [error] = (await once(socket, "error")) as [Error];
    expect([error.message, handled]).toEqual(["Unexpected server response: 401", []]);
    expect((await send("http://localhost:5173")).status).toBe(200);
    expect(handled).toEqual(["evm_mine"]);
  });

  it("names the port when it is busy", async () => {
    const port = Number(new URL(chain.rpcUrl).port);
    const second = startLocalChain({ chainId: 1, port, blockTimeMs: 1_000 });
    await expect(second).rejects.toThrow(`Port ${port} on 127.0.0.1 is already in use`);
    await expect(second).rejects.toMatchObject({ cause: { code: "EADDRINUSE" } });
  });
});
