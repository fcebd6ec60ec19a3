// Bytes pass through the thread complete and in order, with and without TLS, even while the main thread is busy.
import { execFile, spawnSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { type AddressInfo, createConnection, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { TLSSocket } from "node:tls";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";
import { afterEach, beforeAll, describe, expect, inject, it } from "vitest";
import { createThreadedClient, ThreadedSocket } from "./threaded-socket.ts";

// Needed to create a certificate.
const hasOpenssl = spawnSync("openssl", ["version"]).status === 0;
const servers: Server[] = [];
const folders: string[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) server.close();
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

async function createSocketPath(): Promise<string> {
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

/** Responds with the digest of everything that arrived before the end. */
function respondWithDigest(socket: Socket): void {
  const parts: Buffer[] = [];
  socket.on("data", (part) => parts.push(part));
  socket.on("end", () => socket.end(digest(parts)));
}

async function readText(socket: ThreadedSocket): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of socket) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}

/** The server of the test run listens on a socket, unless TEST_DATABASE_URL names another one. */
function isLocal(): boolean {
  return inject("postgres").kind === "embedded";
}

function connectToTestServer(): Socket {
  const server = inject("postgres");
  if (server.kind === "embedded") return createConnection(join(server.host, ".s.PGSQL.5432"));
  const { hostname, port } = new URL(server.url);
  return createConnection(Number(port), hostname);
}

describe("ThreadedSocket", () => {
  it.each(["a path", "a port"])(
    "sends more than its ring holds, complete and in order, to %s",
    async (target) => {
      const server = await listen(target === "a path" ? await createSocketPath() : 0, respondWithDigest);
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
      expect(await readText(socket)).toBe(digest(parts));
    },
  );

  it("keeps sending while the main thread is busy", async () => {
    const path = await createSocketPath();
    const counter = new Int32Array(new SharedArrayBuffer(4));
    // The server needs its own thread, because this one is busy.
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
    const deadlineMs = performance.now() + 10_000;
    while (Atomics.load(counter, 0) < bytes && performance.now() < deadlineMs);
    expect(Atomics.load(counter, 0)).toBe(bytes);
    socket.destroy();
    await reader.terminate();
  });

  it("reports why it could not connect", async () => {
    const path = await createSocketPath();
    const socket = new ThreadedSocket().connect(path);
    const [error] = await once(socket, "error");
    expect(error).toMatchObject({ code: "ENOENT", message: expect.stringContaining(path) });
  });

  it("ends when the server does, after its last bytes are read", async () => {
    const path = await createSocketPath();
    await listen(path, (socket) => socket.end("bye"));
    const socket = new ThreadedSocket().connect(path);
    await once(socket, "connect");
    socket.end();
    await sleep(150);
    expect(await readText(socket)).toBe("bye");
    expect(socket.destroyed).toBe(true);
  });

  it("disconnects from the server when it is destroyed", async () => {
    const path = await createSocketPath();
    const disconnected = new Promise((resolve) => {
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
    await disconnected;
  });
});

describe.runIf(hasOpenssl)("createThreadedClient over TLS", () => {
  let key: string;
  let cert: string;
  let caFile: string;
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "sextant-tls-"));
    caFile = join(folder, "cert.pem");
    const files = ["-keyout", join(folder, "key.pem"), "-out", caFile];
    const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
    await promisify(execFile)("openssl", [
      ...[
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-days",
        "2",
      ],
      ...subject,
      ...files,
    ]);
    key = await readFile(join(folder, "key.pem"), "utf8");
    cert = await readFile(caFile, "utf8");
    return () => rm(folder, { recursive: true });
  });

  /** Takes the place of a TLS-terminating PostgreSQL: decrypts and relays to the server of the test run. */
  async function listenTls(): Promise<number> {
    const server = await listen(0, (socket) => {
      socket.once("data", (request) => {
        expect(request.toString("hex")).toBe("0000000804d2162f");
        socket.write("S");
        const secure = new TLSSocket(socket, { isServer: true, key, cert });
        const upstream = connectToTestServer();
        secure.on("error", () => upstream.destroy());
        upstream.on("error", () => secure.destroy());
        secure.pipe(upstream).pipe(secure);
      });
    });
    return (server.address() as AddressInfo).port;
  }

  const at = (port: number, parameters: string) => ({
    connectionString: `postgres://sextant@localhost:${port}/postgres?${parameters}`,
  });

  it.runIf(isLocal())("sends and receives as a plain client does", async () => {
    const client = createThreadedClient(at(await listenTls(), `sslmode=verify-full&sslrootcert=${caFile}`));
    await client.connect();
    const text = randomBytes(6_000_000).toString("hex");
    const { rows } = await client.query("SELECT md5($1) AS digest, length($1) AS length", [text]);
    expect(rows).toEqual([{ digest: createHash("md5").update(text).digest("hex"), length: text.length }]);
    await client.end();
  });

  it("rejects a certificate that is not trusted", async () => {
    const client = createThreadedClient(at(await listenTls(), "sslmode=verify-full"));
    await expect(client.connect()).rejects.toMatchObject({ code: "DEPTH_ZERO_SELF_SIGNED_CERT" });
  });

  it("rejects a certificate of another host, unless sslmode is verify-ca", async () => {
    const port = await listenTls();
    const url = `postgres://sextant@127.0.0.1:${port}/postgres?sslrootcert=${caFile}`;
    const strict = createThreadedClient({ connectionString: `${url}&sslmode=verify-full` });
    await expect(strict.connect()).rejects.toMatchObject({ code: "ERR_TLS_CERT_ALTNAME_INVALID" });
    if (!isLocal()) return;
    const lenient = createThreadedClient({
      connectionString: `${url}&sslmode=verify-ca&uselibpqcompat=true`,
    });
    await lenient.connect();
    await lenient.end();
  });

  it("reports a server without TLS", async () => {
    const server = await listen(0, (socket) => {
      socket.once("data", () => socket.end("N"));
    });
    const { port } = server.address() as AddressInfo;
    const client = createThreadedClient(at(port, "sslmode=no-verify"));
    await expect(client.connect()).rejects.toThrow("The server does not support SSL connections");
  });
});
