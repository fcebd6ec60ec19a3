// The head, followed by polling and by socket, through silence, failure and slow consumers.

import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { type LocalChain, startLocalChain } from "@sextant/local-chain/local-chain";
import { afterEach, describe, expect, it } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { createFastClock } from "../../../tests/support/fast-clock.ts";
import {
  type FaultyNode,
  type FaultyNodeOptions,
  startFaultyNode,
} from "../../../tests/support/nodes/faulty-node.ts";
import { createTestLog } from "../../../tests/support/nodes/test-rpc.ts";
import { type Clock, systemClock } from "../../lib/clock.ts";
import { Secret } from "../../lib/secret.ts";
import type { BlockHeader } from "../../schema/chain-log.ts";
import { createRpc } from "../rpc/client.ts";
import { type FollowHeadsOptions, followHeads } from "./follow-heads.ts";

const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

async function startChain(): Promise<LocalChain> {
  const chain = await startLocalChain({ chainId: 31337, blockTimeMs: 0 });
  stops.push(() => chain.stop());
  return chain;
}

async function startProxy(
  chain: LocalChain,
  plan: FaultyNodeOptions["plan"] = () => null,
): Promise<FaultyNode> {
  const node = await startFaultyNode({ upstream: chain.rpcUrl, plan });
  stops.push(() => node.stop());
  return node;
}

/** Follows on the real clock, which sockets need, and collects what comes. */
function follow(url: string, options: Partial<FollowHeadsOptions> = {}) {
  const { log, logged } = createTestLog();
  const controller = new AbortController();
  const rpc = createRpc({
    urls: [new Secret(url)],
    log,
    onCall: null,
    limits: { pauseMsBase: 5, attemptsMax: 2 },
  });
  const heads: BlockHeader[] = [];
  const { signal } = controller;
  const running = (async () => {
    for await (const head of followHeads(rpc, { pollMsMin: 5, pollMsMax: 20, signal, log, ...options }))
      heads.push(head);
  })();
  stops.push(async () => {
    controller.abort();
    await running;
  });
  return { heads, logged, running, controller };
}

async function until(condition: () => boolean, what: string): Promise<void> {
  for (let i = 0; i < 600; i += 1) {
    if (condition()) return;
    await pause(10);
  }
  throw new Error(`it never happened: ${what}`);
}

describe("heads by polling", () => {
  it("polls heads in order, each once, and ends with the signal", async () => {
    const chain = await startChain();
    const { heads, controller, running } = follow(chain.rpcUrl);
    for (let i = 1; i <= 3; i += 1) {
      await until(() => heads.at(-1)?.number === i - 1, `head ${i - 1}`);
      await chain.mine();
    }
    await until(() => heads.at(-1)?.number === 3, "head 3");
    await pause(60);
    expect(heads.map((head) => head.number)).toEqual([0, 1, 2, 3]);
    controller.abort();
    await running;
  });

  it("polls the other head after a reorg to the same height", async () => {
    const chain = await startChain();
    await chain.mine(5);
    const { heads } = follow(chain.rpcUrl);
    await until(() => heads.length === 1, "the first head");
    await chain.reorg(2);
    await until(() => heads.length >= 2, "the other head");
    expect(heads.at(-1)?.hash).not.toBe(heads[0]?.hash);
  });

  it("keeps only the newest polled head for a slow consumer", async () => {
    const chain = await startChain();
    const node = await startProxy(chain);
    const { log } = createTestLog();
    const controller = new AbortController();
    const rpc = createRpc({ urls: [new Secret(node.url)], log, onCall: null });
    const stream = followHeads(rpc, { pollMsMin: 2, pollMsMax: 4, signal: controller.signal, log });
    expect((await stream.next()).value?.number).toBe(0);
    for (let i = 1; i <= 5; i += 1) {
      await chain.mine();
      // Two more polls: the first of them, at least, read its response after the block was mined.
      const before = node.requests.length;
      await until(() => node.requests.length >= before + 2, "another poll");
    }
    expect((await stream.next()).value?.number).toBe(5);
    controller.abort();
    expect((await stream.next()).done).toBe(true);
  });

  it("polls on after a time without responses", async () => {
    const chain = await startChain();
    let down = true;
    const node = await startProxy(chain, () => (down ? { kind: "status", status: 503 } : null));
    const { heads, logged } = follow(node.url);
    await until(() => node.requests.length > 4, "some failures");
    expect(heads).toEqual([]);
    down = false;
    await until(() => heads.length === 1, "the head");
    expect(logged()).toContain("HTTP status 503");
  });

  it("polls more slowly while nothing happens, and quickly again afterwards", async () => {
    const chain = await startChain();
    const clock = createFastClock();
    const { heads } = follow(chain.rpcUrl, { pollMsMin: 100, pollMsMax: 400, clock });
    await until(() => clock.sleptMs.length > 6, "some polls");
    expect(clock.sleptMs.slice(0, 6)).toEqual([100, 150, 225, 338, 400, 400]);
    await chain.mine();
    await until(() => heads.at(-1)?.number === 1, "head 1");
    expect(clock.sleptMs.filter((ms) => ms === 100).length).toBeGreaterThan(1);
  });
});

describe("heads by socket", () => {
  it("reads heads from a socket without polling", async () => {
    const chain = await startChain();
    const node = await startProxy(chain);
    const { heads } = follow(node.url, { wsUrls: [new Secret(chain.wsUrl)], ...NO_POLLING });
    await until(() => heads.length === 1, "the first head");
    let mined = 0;
    while (heads.length < 4) {
      await chain.mine();
      mined += 1;
      await pause(20);
    }
    expect(node.requests.length).toBeLessThanOrEqual(mined + 1);
  });

  it("polls while the socket is broken, and does not log the key of the socket", async () => {
    const chain = await startChain();
    const url = `ws://127.0.0.1:1/v3/s3cr3t-k3y-0123456789`;
    const { heads, logged } = follow(chain.rpcUrl, { wsUrls: [new Secret(url)] });
    await chain.mine(2);
    await until(() => heads.at(-1)?.number === 2, "head 2");
    await until(() => logged().includes("Head subscription ended"), "the failure in the log");
    expect(logged()).not.toContain("s3cr3t");
  });

  it("subscribes again after the connection was lost, also after nonsense", async () => {
    const chain = await startChain();
    let connections = 0;
    const url = await startSocket((socket) => {
      connections += 1;
      if (connections === 1) return socket.close();
      if (connections === 2) return socket.send("nonsense");
      void chain.mine().then(() => push(socket, "0x1"));
    });
    const { heads } = follow(chain.rpcUrl, { wsUrls: [new Secret(url)], ...NO_POLLING, clock: hastyClock });
    await until(() => heads.at(-1)?.number === 1, "the pushed head");
    expect(connections).toBe(3);
  });

  it("keeps the socket through a time without blocks", async () => {
    const chain = await startChain();
    const options = { wsUrls: [new Secret(chain.wsUrl)], silenceMsMin: 100 };
    const { heads, logged } = follow(chain.rpcUrl, options);
    await until(() => heads.length === 1, "the first head");
    await pause(1_000);
    expect(logged()).not.toContain("Head subscription ended");
    await chain.mine();
    await until(() => heads.at(-1)?.number === 1, "head 1");
  });

  it("polls for a head that a socket does not announce, and reconnects", async () => {
    const chain = await startChain();
    let connections = 0;
    const url = await startSocket(() => {
      connections += 1;
    });
    const { heads, logged } = follow(chain.rpcUrl, { wsUrls: [new Secret(url)], silenceMsMin: 100 });
    await until(() => connections === 1 && heads.length === 1, "the first head");
    await pause(300);
    expect(connections).toBe(1);
    await chain.mine();
    await until(() => heads.at(-1)?.number === 1, "head 1");
    await until(() => logged().includes("silent for too long"), "the end of the connection");
    await until(() => connections === 2, "the next connection");
  });

  it("ends a socket whose only announcement was far above the chain", async () => {
    const chain = await startChain();
    let connections = 0;
    const url = await startSocket((socket) => {
      connections += 1;
      push(socket, "0xffffff");
    });
    const { heads, logged } = follow(chain.rpcUrl, { wsUrls: [new Secret(url)], silenceMsMin: 100 });
    await until(() => connections === 1 && heads.length === 1, "the first head");
    await pause(300);
    await chain.mine();
    await until(() => heads.at(-1)?.number === 1, "head 1");
    await until(() => logged().includes("silent for too long"), "the end of the connection");
  });

  it("waits for an announced head that our providers do not have yet", async () => {
    const chain = await startChain();
    let pushed = false;
    const url = await startSocket((socket) => {
      push(socket, "0x1");
      pushed = true;
    });
    const { heads } = follow(chain.rpcUrl, { wsUrls: [new Secret(url)], pollMsMin: 20, pollMsMax: 60_000 });
    await until(() => pushed && heads.length === 1, "the first head");
    await pause(50);
    await chain.mine();
    await until(() => heads.at(-1)?.number === 1, "head 1");
  });
});

const NO_POLLING = { pollMsMin: 60_000, pollMsMax: 60_000 };

/** Shortens the seconds between two connections, but not the minute between two polls. */
const hastyClock: Clock = {
  ...systemClock,
  sleep: (ms, signal) => systemClock.sleep(ms < NO_POLLING.pollMsMin ? Math.min(ms, 20) : ms, signal),
};

/** A socket server that hands over each connection once it has subscribed to new heads. */
async function startSocket(onSubscribe: (socket: WebSocket) => void): Promise<string> {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  await once(server, "listening");
  stops.push(async () => {
    for (const client of server.clients) client.terminate();
    server.close();
  });
  server.on("connection", (socket) => {
    socket.on("message", (message) => {
      expect(JSON.parse(String(message))).toMatchObject({ method: "eth_subscribe", params: ["newHeads"] });
      socket.send(JSON.stringify({ jsonrpc: "2.0", id: 1, result: "0x1" }));
      onSubscribe(socket);
    });
  });
  return `ws://127.0.0.1:${(server.address() as { port: number }).port}`;
}

function push(socket: WebSocket, number: string): void {
  const params = { subscription: "0x1", result: { number } };
  socket.send(JSON.stringify({ jsonrpc: "2.0", method: "eth_subscription", params }));
}
