// Bytes through a thread: whole, in order, and on their way while this thread is busy.
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { type AddressInfo, createServer, type Server, Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { afterEach, describe, expect, it } from "vitest";
import { createWriterStream } from "../postgres/connection.ts";
import { ThreadedSocket } from "./threaded-socket.ts";

const servers: Server[] = [];
const folders: string[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) server.close();
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

async function socketPath(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "sextant-socket-"));
  folders.push(folder);
  return join(folder, "s");
}

async function listen(at: string | number, serve: (socket: Socket) => void): Promise<Server> {
  const server = createServer({ allowHalfOpen: true }, serve);
  servers.push(server);
  server.listen(at);
  await once(server, "listening");
  return server;
}

function digest(bytes: Iterable<Buffer>): string {
  const hash = createHash("sha256");
  for (const part of bytes) hash.update(part);
  return hash.digest("hex");
}

/** Answers with the digest of everything that came before the end. */
function tellDigest(socket: Socket): void {
  const parts: Buffer[] = [];
  socket.on("data", (part) => parts.push(part));
  socket.on("end", () => socket.end(digest(parts)));
}

async function textOf(socket: ThreadedSocket): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of socket) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}

describe("a threaded socket", () => {
  it.each(["a path", "a port"])("carries more than it can hold, in order and whole, to %s", async (place) => {
    const server = await listen(place === "a path" ? await socketPath() : 0, tellDigest);
    const address = server.address() as AddressInfo | string;
    const socket = new ThreadedSocket();
    if (typeof address === "string") socket.connect(address);
    else socket.connect(address.port, "127.0.0.1");
    await once(socket, "connect");
    const sizes = [0, 1, 5, 70_000, 9_000_000, 3, 12_345_678, 64 * 1024, 1];
    const parts = sizes.map((size) => randomBytes(size));
    for (const part of parts.slice(0, 4)) socket.write(part);
    socket.cork();
    for (const part of parts.slice(4)) socket.write(part);
    socket.uncork();
    socket.end();
    expect(await textOf(socket)).toBe(digest(parts));
  });

  it("goes on sending while this thread has no time for it", async () => {
    const path = await socketPath();
    const counter = new Int32Array(new SharedArrayBuffer(4));
    // The server needs a thread of its own, or it would have no time either.
    const reader = new Worker(
      `const { workerData: { path, counter }, parentPort } = require("node:worker_threads");
       const server = require("node:net").createServer((socket) => socket.on("data", ({ length }) => Atomics.add(counter, 0, length)));
       server.listen(path, () => parentPort.postMessage("listening"));`,
      { eval: true, workerData: { path, counter } },
    );
    await once(reader, "message");
    const socket = new ThreadedSocket().connect(path);
    await once(socket, "connect");
    const bytes = 6_000_000;
    socket.write(randomBytes(bytes));
    const patienceMs = performance.now() + 10_000;
    while (Atomics.load(counter, 0) < bytes && performance.now() < patienceMs);
    expect(Atomics.load(counter, 0)).toBe(bytes);
    socket.destroy();
    await reader.terminate();
  });

  it("says why it could not connect", async () => {
    const path = await socketPath();
    const socket = new ThreadedSocket().connect(path);
    const [error] = await once(socket, "error");
    expect(error).toMatchObject({ code: "ENOENT", message: expect.stringContaining(path) });
  });

  it("ends when the server does, and not before its last words are read, however late", async () => {
    const path = await socketPath();
    await listen(path, (socket) => socket.end("bye"));
    const socket = new ThreadedSocket().connect(path);
    await once(socket, "connect");
    socket.end();
    await sleep(150);
    expect(await textOf(socket)).toBe("bye");
    expect(socket.destroyed).toBe(true);
  });

  it("is gone for the server as soon as it is destroyed", async () => {
    const path = await socketPath();
    const left = new Promise((resolve) => {
      void listen(path, (served) => {
        served.resume();
        served.once("error", resolve);
        served.once("end", resolve);
      });
    });
    await expect.poll(() => servers[0]?.listening).toBe(true);
    const socket = new ThreadedSocket().connect(path);
    await once(socket, "connect");
    socket.destroy();
    await once(socket, "close");
    await left;
  });
});

describe("a connection that writes much", () => {
  it("has a thread of its own unless it is encrypted", () => {
    expect(createWriterStream()).toBeInstanceOf(ThreadedSocket);
    expect(createWriterStream({ ssl: false })).toBeInstanceOf(ThreadedSocket);
    expect(createWriterStream({ ssl: { rejectUnauthorized: true } })).toBeInstanceOf(Socket);
  });
});
