// What is kept is sent at once, and still passes everything that any other request passes.
import { once } from "node:events";
import { request as ask } from "node:http";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Registry } from "prom-client";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createLog } from "../../lib/log.ts";
import { serializeResponse } from "../response.ts";
import { createHttpServer, type HttpServer, type HttpServerOptions } from "../server.ts";

const log = createLog({ level: "silent", terminal: false, name: "test" });
const HEAD = { number: 7n, hash: `0x${"ab".repeat(32)}`, finalized: 1n, start: 1n };
const SLOW_MS = 20;
const ANSWER = serializeResponse("/things/:id", { id: "1", word: "grüße" }, HEAD);

let server: HttpServer | undefined;
afterEach(async () => {
  await server?.close();
});

/** One thing is kept; the route answers the same for whatever is not. */
async function start(options: Partial<HttpServerOptions> = {}): Promise<string> {
  const ready = async () => ({ ready: true }) as const;
  const made = createHttpServer({
    log,
    bodyBytesMax: 1_024,
    requestMsMax: 5_000,
    checkReadiness: ready,
    ...options,
  });
  server = made;
  made.serveFromCache((address) => (address === "/things/1" ? ANSWER : undefined));
  made.app.get("/things/:id", (request, reply) => made.sendResponse(ANSWER, request, reply));
  made.app.get("/slow", (request, reply) =>
    sleep(SLOW_MS).then(() => made.sendResponse(ANSWER, request, reply)),
  );
  return made.listen({ host: "127.0.0.1", port: 0, portVariable: "API_PORT" });
}

const headersOf = (answer: Response) =>
  Object.fromEntries([...answer.headers].filter(([name]) => name !== "x-request-id" && name !== "date"));

describe("a kept answer", () => {
  it("is the same to the letter as one that was just made", async () => {
    const url = await start();
    const [kept, made] = [await fetch(`${url}/things/1`), await fetch(`${url}/things/2`)];
    expect(kept.status).toBe(200);
    expect(headersOf(kept)).toEqual(headersOf(made));
    expect(headersOf(kept)).toMatchObject({
      etag: ANSWER.etag,
      "cache-control": "no-cache",
      "content-length": String(ANSWER.body.length),
      "x-content-type-options": "nosniff",
      "x-indexed-block": "7",
    });
    const ids = [kept, made].map(({ headers }) => headers.get("x-request-id"));
    expect(ids[0]).toMatch(/^[0-9a-f-]{36}$/);
    expect(ids[0]).not.toBe(ids[1]);
    expect(await kept.text()).toBe(await made.text());
  });

  it("is not sent again to who has it, and its head alone to who asks for that", async () => {
    const url = await start();
    for (const path of ["/things/1", "/things/2"]) {
      const known = await fetch(url + path, { headers: { "if-none-match": `W/"other", ${ANSWER.etag}` } });
      expect([known.status, await known.text()]).toEqual([304, ""]);
      const head = await fetch(url + path, { method: "HEAD" });
      expect([head.status, head.headers.get("etag"), await head.text()]).toEqual([200, ANSWER.etag, ""]);
    }
  });

  it("counts against its client's limit, whichever way the client came", async () => {
    const url = await start({ requestsPerMinuteMax: 2, trustedProxies: 1 });
    const statuses = [];
    for (const client of ["192.0.2.1", "192.0.2.1", "192.0.2.1", "192.0.2.2"]) {
      const headers = { "x-forwarded-for": `198.51.100.7, ${client}` };
      const answer = await fetch(`${url}/things/1`, { headers });
      statuses.push(answer.status);
      if (answer.status === 429) expect(answer.headers.get("retry-after")).toBe("30");
    }
    expect(statuses).toEqual([200, 200, 429, 200]);
  });

  it("is refused to who names two hosts, and is for GET alone", async () => {
    const url = await start();
    const { port } = new URL(url);
    const status = await new Promise((resolve, reject) => {
      const headers = ["Host", "one.example", "Host", "two.example"];
      ask({ port, host: "127.0.0.1", path: "/things/1", headers }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      })
        .on("error", reject)
        .end();
    });
    expect(status).toBe(400);
    expect((await fetch(`${url}/things/1`, { method: "DELETE" })).status).toBe(405);
  });

  it("is counted under its route", async () => {
    const registry = new Registry();
    const url = await start({ registry });
    for (const path of ["/things/1", "/things/1", "/things/2"]) await fetch(url + path);
    await fetch(`${url}/things/1`, { headers: { "if-none-match": ANSWER.etag } });
    const text = await registry.metrics();
    expect(text).toContain('sextant_http_requests_total{route="/things/:id",status="200"} 3');
    expect(text).toContain('sextant_http_requests_total{route="/things/:id",status="304"} 1');
    expect(text).toContain("sextant_http_request_seconds_count 4");
  });

  it("harms nobody when its client has gone, whether it is kept or still being made", async () => {
    const url = await start();
    const { port } = new URL(url);
    const leave = async (path: string, afterMs: number) => {
      const socket = connect({ port: Number(port), host: "127.0.0.1" });
      socket.on("error", () => undefined);
      await once(socket, "connect");
      socket.write(`GET ${path} HTTP/1.1\r\nHost: one.example\r\n\r\n`.repeat(5));
      await sleep(afterMs);
      socket.destroy();
    };
    const paths = ["/things/1", "/things/2", "/slow"];
    const leaving = Array.from({ length: 150 }, (_, n) => leave(paths[n % 3] as string, n % 7));
    await Promise.all(leaving);
    await sleep(SLOW_MS * 2);
    for (const path of paths) expect((await fetch(url + path)).status).toBe(200);
  });

  it("comes with the word that we are leaving, when we are", async () => {
    const url = await start();
    let received = () => 0;
    server?.app.server.once("connection", (near) => {
      received = () => near.bytesRead;
    });
    const socket = connect({ port: Number(new URL(url).port), host: "127.0.0.1" });
    let heard = "";
    socket.setEncoding("utf8").on("data", (text) => {
      heard += text;
    });
    // A request that has begun is waited for; its last line comes when the server is leaving already.
    const begun = "GET /things/1 HTTP/1.1\r\nHost: one.example\r\n";
    socket.write(begun);
    await vi.waitUntil(() => received() === begun.length, { timeout: 10_000 });
    const left = server?.close();
    socket.write("\r\n");
    await once(socket, "close");
    await left;
    expect(heard).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(heard).toMatch(/\r\nconnection: close\r\n/i);
    expect(heard.endsWith(ANSWER.body.toString("utf8"))).toBe(true);
  });
});
