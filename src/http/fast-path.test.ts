// The fast path sends what the route would send, and applies the same limits and checks.

import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Registry } from "prom-client";
import { afterEach, describe, expect, it, vi } from "vitest";
import { NO_LIMITS } from "../../tests/support/http/no-limits.ts";
import { createLog } from "../lib/log.ts";
import { formatHeadHeaders } from "../schema/reads/read.ts";
import { serializeResponse } from "./response.ts";
import { createHttpServer, type HttpServer, type HttpServerOptions } from "./server.ts";

const log = createLog({ level: "silent", terminal: false, name: "test" });
const HEAD = {
  revision: 1n,
  number: 7n,
  hash: `0x${"ab".repeat(32)}`,
  timestamp: 1_700_000_000n,
  finalized: 1n,
  start: 1n,
};
const SLOW_MS = 20;
const CACHED = serializeResponse({
  route: "/things/:id",
  body: { id: "1", word: "grüße" },
  headers: { "cache-control": "no-cache", ...formatHeadHeaders(HEAD) },
  computeEtag: true,
});

let server: HttpServer | undefined;
afterEach(async () => {
  await server?.close();
});

/** One URL is cached; the route sends the same for every other. */
async function start(options: Partial<HttpServerOptions> = {}): Promise<string> {
  const ready = async () => ({ ready: true }) as const;
  const started = createHttpServer({
    ...NO_LIMITS,
    log,
    bodyBytesMax: 1_024,
    requestMsMax: 5_000,
    checkReadiness: ready,
    ...options,
  });
  server = started;
  started.serveFromCache((url) => (url === "/things/1" ? CACHED : undefined));
  started.app.get("/things/:id", (_request, reply) => reply.sendSerialized(CACHED));
  started.app.get("/slow", (_request, reply) => sleep(SLOW_MS).then(() => reply.sendSerialized(CACHED)));
  return started.listen({ host: "127.0.0.1", port: 0, portVariable: "API_PORT" });
}

const headersOf = (response: Response) =>
  Object.fromEntries([...response.headers].filter(([name]) => name !== "x-request-id" && name !== "date"));

/** The status of a request for the cached URL that is malformed: it names two hosts. */
function sendTwoHosts(url: string): Promise<number | undefined> {
  const headers = ["Host", "one.example", "Host", "two.example"];
  return new Promise((resolve, reject) => {
    httpRequest(`${url}/things/1`, { headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on("error", reject)
      .end();
  });
}

describe("the fast path", () => {
  it("sends exactly what the route sends", async () => {
    const url = await start();
    const [cached, routed] = [await fetch(`${url}/things/1`), await fetch(`${url}/things/2`)];
    expect(cached.status).toBe(200);
    expect(headersOf(cached)).toEqual(headersOf(routed));
    expect(headersOf(cached)).toMatchObject({
      etag: CACHED.etag,
      "cache-control": "no-cache",
      "content-length": String(CACHED.body.length),
      "x-content-type-options": "nosniff",
      "x-indexed-block": "7",
    });
    const ids = [cached, routed].map(({ headers }) => headers.get("x-request-id"));
    expect(ids[0]).toMatch(/^[0-9a-f-]{36}$/);
    expect(ids[0]).not.toBe(ids[1]);
    expect(await cached.text()).toBe(await routed.text());
  });

  it("responds 304 to a matching ETag, and only the headers to HEAD", async () => {
    const url = await start();
    for (const path of ["/things/1", "/things/2"]) {
      const known = await fetch(url + path, { headers: { "if-none-match": `W/"other", ${CACHED.etag}` } });
      expect([known.status, await known.text()]).toEqual([304, ""]);
      const head = await fetch(url + path, { method: "HEAD" });
      expect([head.status, head.headers.get("etag"), await head.text()]).toEqual([200, CACHED.etag, ""]);
    }
  });

  it("counts against the limit of the client behind the proxies", async () => {
    const url = await start({ requestsPerMinuteMax: 2, trustedProxies: 1 });
    const statuses = [];
    for (const client of ["192.0.2.1", "192.0.2.1", "192.0.2.1", "192.0.2.2"]) {
      const headers = { "x-forwarded-for": `198.51.100.7, ${client}` };
      const response = await fetch(`${url}/things/1`, { headers });
      statuses.push(response.status);
      if (response.status === 429) expect(response.headers.get("retry-after")).toBe("30");
    }
    expect(statuses).toEqual([200, 200, 429, 200]);
  });

  it("rejects two Host headers and serves only GET", async () => {
    const url = await start();
    expect(await sendTwoHosts(url)).toBe(400);
    expect((await fetch(`${url}/things/1`, { method: "DELETE" })).status).toBe(405);
  });

  it("counts a malformed request once", async () => {
    const url = await start({ requestsPerMinuteMax: 3 });
    expect([await sendTwoHosts(url), await sendTwoHosts(url)]).toEqual([400, 400]);
    const statuses = [(await fetch(`${url}/things/1`)).status, (await fetch(`${url}/things/1`)).status];
    expect(statuses).toEqual([200, 429]);
  });

  it("counts requests under the route pattern", async () => {
    const registry = new Registry();
    const url = await start({ registry });
    for (const path of ["/things/1", "/things/1", "/things/2"]) await fetch(url + path);
    await fetch(`${url}/things/1`, { headers: { "if-none-match": CACHED.etag ?? "" } });
    const text = await registry.metrics();
    expect(text).toContain('sextant_http_requests_total{route="/things/:id",status="200"} 3');
    expect(text).toContain('sextant_http_requests_total{route="/things/:id",status="304"} 1');
    expect(text).toContain('sextant_http_request_seconds_count{route="/things/:id"} 4');
  });

  it("survives clients that disconnect before the response", async () => {
    const url = await start();
    const { port } = new URL(url);
    const disconnect = async (path: string, afterMs: number) => {
      const socket = connect({ port: Number(port), host: "127.0.0.1" });
      socket.on("error", () => undefined);
      await once(socket, "connect");
      socket.write(`GET ${path} HTTP/1.1\r\nHost: one.example\r\n\r\n`.repeat(5));
      await sleep(afterMs);
      socket.destroy();
    };
    const paths = ["/things/1", "/things/2", "/slow"];
    const disconnecting = Array.from({ length: 150 }, (_, n) => disconnect(paths[n % 3] as string, n % 7));
    await Promise.all(disconnecting);
    await sleep(SLOW_MS * 2);
    for (const path of paths) expect((await fetch(url + path)).status).toBe(200);
  });

  it("closes the connection while the server shuts down", async () => {
    const url = await start();
    let bytesReceived = () => 0;
    server?.app.server.once("connection", (peer) => {
      bytesReceived = () => peer.bytesRead;
    });
    const socket = connect({ port: Number(new URL(url).port), host: "127.0.0.1" });
    let received = "";
    socket.setEncoding("utf8").on("data", (text) => {
      received += text;
    });
    // The server waits for a request whose head is incomplete; its last line arrives during the shutdown.
    const head = "GET /things/1 HTTP/1.1\r\nHost: one.example\r\n";
    socket.write(head);
    await vi.waitUntil(() => bytesReceived() === head.length, { timeout: 10_000 });
    const closing = server?.close();
    socket.write("\r\n");
    await once(socket, "close");
    await closing;
    expect(received).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(received).toMatch(/\r\nconnection: close\r\n/i);
    expect(received.endsWith(CACHED.body.toString("utf8"))).toBe(true);
  });
});
