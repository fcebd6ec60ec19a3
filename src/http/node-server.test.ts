// Requests of a connection are handled in order, one at a time; slow readers hold little, and are cut off.
import { EventEmitter, once } from "node:events";
import type { RequestListener, Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyReply, FastifyRequest } from "fastify";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createNodeServer } from "./node-server.ts";
import {
  findInode,
  readSendQueues,
  SLOW_READER_LIMITS,
  type SlowReaderLimits,
  SlowReaders,
} from "./slow-readers.ts";
import { openTextStream } from "./text-stream.ts";

const BODY = Buffer.alloc(1024 * 1024, "x");

/**
 * Responds with the path; `/large…` with a megabyte, `/slow…` after a delay, `/last…` closing the connection,
 * `/stream…` with a stream: of a moment, unless it is `/stream-open` or `/stream-large`, which sends much.
 */
async function start(limits?: SlowReaderLimits): Promise<{
  client: Socket;
  started: string[];
  text: () => string;
  held: () => Promise<number>;
  idleMs: () => number | undefined;
}> {
  const started: string[] = [];
  const handle: RequestListener = (request, response) => {
    const { url = "" } = request;
    started.push(url);
    if (url.startsWith("/stream")) return stream(request, response);
    if (url.startsWith("/last")) response.setHeader("connection", "close");
    const finish = () => response.end(url.startsWith("/large") ? BODY : url);
    if (url.startsWith("/slow")) setTimeout(finish, 10);
    else finish();
  };
  const server = createNodeServer(5_000, handle, limits);
  let inode = "";
  let accepted: Socket | undefined;
  server.on("connection", (socket) => {
    accepted = socket;
    inode = findInode(socket) ?? "";
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  let text = "";
  client.on("data", (chunk) => {
    text += chunk.toString("latin1");
  });
  client.on("error", () => undefined);
  onTestFinished(() => {
    client.destroy();
    server.closeAllConnections();
    server.close();
  });
  /** The bytes that the kernel holds for the client; 0 if the system does not report them. */
  const held = async () => (await readSendQueues())?.get(inode) ?? 0;
  return { client, started, text: () => text, held, idleMs: () => accepted?.timeout };
}

const stream: RequestListener = (request, response) => {
  const reply = { hijack: () => undefined, raw: response } as unknown as FastifyReply;
  openTextStream({ id: "1", method: "GET", raw: request } as FastifyRequest, reply, {
    headers: { "content-type": "text/event-stream" },
    cancel: () => undefined,
    open(opened) {
      if (request.url === "/stream-large")
        for (let each = 0; each < LARGE; each += 1) opened.send(String(BODY));
      else if (request.url !== "/stream-open") setTimeout(() => opened.end("data: over\n\n"), 10);
    },
  });
};

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
const paths = (text: string) => [...text.matchAll(/\r\n\r\n(\/[a-z]+[0-9]*)/g)].map(([, path]) => path);

describe("requests on one connection", () => {
  it("responds in order to requests in one packet or one by one", async () => {
    const { client, started, text } = await start();
    const all = ["/slow1", "/quick1", "/slow2", "/quick2", "/quick3"];
    client.write(all.map((path) => get(path)).join(""));
    while (paths(text()).length < all.length) await sleep(5);
    client.write(get("/quick4"));
    while (paths(text()).length < all.length + 1) await sleep(5);
    expect(paths(text())).toEqual([...all, "/quick4"]);
    expect(started).toEqual([...all, "/quick4"]);
  });

  it("starts a pipelined request only after the client has read the previous responses", async () => {
    const { client, started } = await start();
    client.pause();
    client.write(Array.from({ length: 100 }, (_, each) => get(`/large${each}`)).join(""));
    await sleep(300);
    // The two kernels hold a few megabytes between them; without the limit all hundred were started at once.
    expect(started.length).toBeGreaterThan(0);
    expect(started.length).toBeLessThan(20);
    client.resume();
    while (started.length < 100) await sleep(5);
    expect(started).toEqual(Array.from({ length: 100 }, (_, each) => `/large${each}`));
  });

  it("starts no request after one that closes the connection", async () => {
    const { client, started } = await start();
    client.write(get("/slow1") + get("/last2") + get("/quick3"));
    await once(client, "close");
    await sleep(50);
    expect(started).toEqual(["/slow1", "/last2"]);
  });

  it("closes the connection when far too many requests wait", async () => {
    const { client, started } = await start();
    client.write(get("/slow1") + get("/quick2").repeat(1_000));
    await once(client, "close");
    expect(started).toEqual(["/slow1"]);
  });
});

// Beyond what the kernel of the client takes unread.
const LARGE = 12;

// Several times what a slow reader has in these tests.
const READ_MS_MAX = 5_000;

/** Reads so many bytes at a time, until the connection ends or is kept for too long. */
async function readSlowly(client: Socket, bytes: number, everyMs: number): Promise<number> {
  let total = 0;
  client.pause();
  client.removeAllListeners("data");
  const endMs = performance.now() + READ_MS_MAX;
  while (!client.closed && total < LARGE * BODY.length && performance.now() < endMs) {
    total += ((client.read(bytes) ?? client.read()) as Buffer | null)?.length ?? 0;
    await sleep(everyMs);
  }
  return total;
}

describe("a client that reads slowly", () => {
  const limits = { ...SLOW_READER_LIMITS, graceMs: 150, bytesPerSecondMin: 4 * 1024 * 1024, checkMs: 20 };
  const large = Array.from({ length: LARGE }, (_, each) => get(`/large${each}`));

  it.each(["in one packet", "one by one"])(
    "makes the kernel hold little more than one response, however many it requests %s",
    async (how) => {
      // As on a machine whose memory is scarce. Not 0: the kernel counts in steps, and can report nothing at first.
      const { client, started, held } = await start({ ...SLOW_READER_LIMITS, tcpBytesMax: -1 });
      client.pause();
      if (how === "in one packet") client.write(large.join(""));
      else
        for (const each of large)
          await new Promise((resolve) => client.write(each, () => setTimeout(resolve, 20)));
      await sleep(200);
      expect(await held()).toBeLessThan(2 * BODY.length);
      expect(started.length).toBeLessThan(10);
      client.resume();
      while (started.length < LARGE) await sleep(5);
    },
  );

  it("is cut off with a reset once it is slower than the minimum, although it always reads a little", async () => {
    const { client } = await start(limits);
    client.pause();
    const errors: string[] = [];
    client.on("error", (error: NodeJS.ErrnoException) => errors.push(String(error.code)));
    client.write(large.join(""));
    expect(await readSlowly(client, 1_000, 10)).toBeLessThan(LARGE * BODY.length);
    expect(errors).toEqual(["ECONNRESET"]);
  });

  it("gets everything if it is slow but steady", async () => {
    const { client } = await start({ ...limits, bytesPerSecondMin: 1024 * 1024 });
    client.pause();
    client.write(large.join(""));
    const startMs = performance.now();
    // Some eight megabytes a second: several times the grace.
    expect(await readSlowly(client, 128 * 1024, 10)).toBeGreaterThanOrEqual(LARGE * BODY.length);
    expect(performance.now() - startMs).toBeGreaterThan(3 * limits.graceMs);
  });

  it.each([
    ["behind a stream that has ended", [get("/stream"), ...large]],
    // So few that the kernel takes them, and the stream begins.
    ["before a stream that is open", [...large.slice(0, 2), get("/stream-open")]],
  ])("is cut off all the same for responses %s", async (_, requests) => {
    const { client } = await start(limits);
    client.pause();
    client.write(requests.join(""));
    await readSlowly(client, 1_000, 10);
    expect(client.closed).toBe(true);
  });

  it("keeps its stream, which has a rule of its own, and the idle timeout returns when the stream ends", async () => {
    const { client, idleMs, text, started } = await start(limits);
    client.write(get("/stream"));
    while (started.length === 0 || idleMs() !== 0) await sleep(1);
    client.write(get("/slow2"));
    while (!text().includes("data: over")) await sleep(1);
    while (started.length < 2) await sleep(1);
    expect(idleMs()).toBe(10_000);
    while (!text().includes("/slow2")) await sleep(1);
    client.write(get("/stream-large"));
    client.pause();
    await sleep(4 * limits.graceMs);
    expect(client.closed).toBe(false);
    expect(idleMs()).toBe(0);
  });

  /** A connection over a long line, which loopback is not: a response is on its way whenever the last one has arrived. */
  function connectFarAway(given: Partial<SlowReaderLimits>) {
    const server = new EventEmitter();
    const handle = { bytesWritten: 0, writeQueueSize: 1_000 };
    const resetAndDestroy = vi.fn();
    const socket = Object.assign(new EventEmitter(), { _handle: handle, bytesWritten: 0, resetAndDestroy });
    new SlowReaders(server as Server, { ...limits, checkMs: 10, ...given });
    server.emit("connection", socket);
    onTestFinished(() => void socket.emit("close"));
    const read = async (bytes: number, times: number) => {
      for (let each = 0; each < times; each += 1, await sleep(10)) {
        socket.bytesWritten += bytes;
        handle.bytesWritten = socket.bytesWritten;
      }
    };
    return { read, resetAndDestroy };
  }

  it("is kept if it reads each response in time, although something is unread at every check", async () => {
    const { read, resetAndDestroy } = connectFarAway({ graceMs: 60 });
    await read(1_000, 40);
    expect(resetAndDestroy).not.toHaveBeenCalled();
    await vi.waitFor(() => expect(resetAndDestroy).toHaveBeenCalled());
  });

  it("gains no time beyond a limit from what it has read quickly before", async () => {
    const { read, resetAndDestroy } = connectFarAway({ graceMs: 60, savedBytesMax: 0 });
    // Forty megabytes are ten seconds at the minimum rate.
    await read(4 * BODY.length, 10);
    expect(resetAndDestroy).not.toHaveBeenCalled();
    await vi.waitFor(() => expect(resetAndDestroy).toHaveBeenCalled());
  });
});
