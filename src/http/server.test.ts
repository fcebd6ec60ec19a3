// The server: clear errors, right statuses, its own request ids, and a shutdown that drops no request.

import { once } from "node:events";
import { connect } from "node:net";
import { pino } from "pino";
import { Registry } from "prom-client";
import { afterEach, describe, expect, it } from "vitest";
import { NO_LIMITS } from "../../tests/support/http/no-limits.ts";
import { readVersion } from "../config/version.ts";
import { Fault } from "../lib/fault.ts";
import { createLog } from "../lib/log.ts";
import { chooseMetricsPort, type MetricsAddress } from "./metrics-server.ts";
import { createLocalCallers } from "./security/request-guard.ts";
import { createHttpServer, type HttpServer, type HttpServerOptions } from "./server.ts";
import { addStatusRoutes, type Readiness } from "./status-routes.ts";

const log = createLog({ level: "silent", terminal: false, name: "test" });
const open: HttpServer[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

async function start(
  prepare: (server: HttpServer) => void = () => undefined,
  ready: () => Promise<Readiness> = async () => ({ ready: true }),
  options: Partial<HttpServerOptions> = {},
): Promise<{ url: string; server: HttpServer }> {
  const server = createHttpServer({
    ...NO_LIMITS,
    ...{ log, bodyBytesMax: 1_024, requestMsMax: 5_000, checkReadiness: ready },
    ...options,
  });
  open.push(server);
  prepare(server);
  const url = await server.listen({ host: "127.0.0.1", port: 0, portVariable: "API_PORT" });
  return { url, server };
}

/** Sends the bytes unchanged and returns everything that the server sends until half a second after its first bytes. */
function sendBytes(url: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    let received = "";
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    socket.on("data", (chunk) => {
      if (received === "") setTimeout(() => socket.destroy(), 500);
      received += chunk;
    });
    socket.on("close", () => resolve(received));
    socket.on("error", reject);
  });
}

it("a local service handles no write of a page of the web, and nothing under another name", async () => {
  let writes = 0;
  const { url } = await start(
    ({ app }) => {
      app.get("/read", async () => ({}));
      app.post("/write", async () => {
        writes += 1;
        return {};
      });
    },
    undefined,
    { findForeignCaller: createLocalCallers({ publicUrl: null }) },
  );
  const statusOf = async (request: string) =>
    (await sendBytes(url, `${request}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`)).slice(9, 12);
  expect([
    await statusOf("POST /write HTTP/1.1\r\nhost: 127.0.0.1\r\norigin: https://evil.example"),
    await statusOf("POST /write HTTP/1.1\r\nhost: evil.example\r\norigin: http://evil.example"),
    await statusOf("GET /read HTTP/1.1\r\nhost: evil.example"),
    await statusOf("POST /write HTTP/1.0"),
    await statusOf("GET /read HTTP/1.1\r\nhost: localhost\r\norigin: https://evil.example"),
    await statusOf("POST /write HTTP/1.1\r\nhost: localhost\r\norigin: http://localhost:5173"),
  ]).toEqual(["400", "400", "400", "200", "200", "200"]);
  expect(writes).toBe(2);
});

describe("metrics", () => {
  const LOOPBACK = { host: "127.0.0.1", port: 0, portVariable: "API_PORT" };

  async function listen(metrics: MetricsAddress | undefined, port = 0) {
    const lines: { metricsUrl?: string }[] = [];
    const server = createHttpServer({
      ...NO_LIMITS,
      ...{ bodyBytesMax: 1_024, requestMsMax: 5_000, checkReadiness: async () => ({ ready: true }) },
      log: pino({ level: "info" }, { write: (line: string) => void lines.push(JSON.parse(line)) }),
    });
    open.push(server);
    addStatusRoutes(server.app, new Registry());
    const url = await server.listen({ ...LOOPBACK, port, ...(metrics ? { metrics } : {}) });
    return { url, own: lines.find((line) => line.metricsUrl !== undefined)?.metricsUrl ?? null };
  }

  const statusOf = async (url: string, path = "", method = "GET") =>
    (await fetch(url + path, { method })).status;

  it("a port of their own serves metrics and nothing else, and the port of the service hides them", async () => {
    const { url, own } = await listen({ host: "127.0.0.1", port: null });
    if (own === null) throw new Error("no line says where metrics are");
    expect(new URL(own).port).not.toBe(new URL(url).port);
    expect(await statusOf(own)).toBe(200);
    const { origin } = new URL(own);
    for (const path of ["/health", "/ready", "/metricsx", "/"])
      expect(await statusOf(origin, path)).toBe(404);
    // However the path is written.
    for (const path of ["/metrics", "/metrics?a=1", "/%6detrics", "/metrics#x"])
      for (const method of ["GET", "HEAD"]) expect(await statusOf(url, path, method)).toBe(404);
    expect(await statusOf(url, "/health")).toBe(200);
  });

  it("the port of the service serves metrics if the operator shares it", async () => {
    const { url, own } = await listen({ host: "127.0.0.1", port: "shared" });
    expect([own, await statusOf(url, "/metrics")]).toEqual([null, 200]);
  });

  it("every service of a process shows its build, and what its process and event loop do", async () => {
    for (const { url } of [await listen(undefined), await listen(undefined)]) {
      const text = await (await fetch(`${url}/metrics`)).text();
      expect(text).toContain(`sextant_build_info{version="${readVersion()}",node="${process.version}"} 1\n`);
      expect(text).toMatch(/^process_resident_memory_bytes [1-9]/m);
      expect(text).toMatch(/^nodejs_eventloop_lag_p99_seconds [0-9]/m);
    }
  });

  it("chooses the port of the service plus 100, or the one that is set", () => {
    const port = (given: MetricsAddress["port"], service: number) =>
      chooseMetricsPort({ host: "127.0.0.1", port: given }, service);
    expect([port(null, 3_001), port(9_100, 3_001), port(null, 0), port(0, 0)]).toEqual([3_101, 9_100, 0, 0]);
    expect([port("shared", 3_001), port(3_001, 3_001)]).toEqual([null, null]);
    expect([port(null, 65_435), port(null, 65_500)]).toEqual([65_535, 65_400]);
  });

  it("a port in use fails the start with the name of the setting for metrics", async () => {
    const { own } = await listen({ host: "127.0.0.1", port: null });
    const taken = Number(new URL(own ?? "").port);
    await expect(listen({ host: "127.0.0.1", port: taken })).rejects.toThrow(
      `Cannot listen: port ${taken} is in use; stop what listens there, or set SEXTANT_METRICS_PORT to a free port.`,
    );
  });
});

describe("an error response", () => {
  it("sends an error as one sentence, with its code and request id in headers", async () => {
    const { url } = await start(({ app }) => {
      app.get("/broken", async () => {
        throw new Fault("OVERLOADED", "Too many reads are waiting.");
      });
    });
    const response = await fetch(`${url}/broken`);
    expect(response.status).toBe(503);
    expect(await response.json()).toEqual({ error: "Too many reads are waiting." });
    expect(response.headers.get("x-error-code")).toBe("OVERLOADED");
    expect(response.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
  });

  it("hides the message of an unexpected error from the client", async () => {
    const { url } = await start(({ app }) => {
      app.get("/defect", async () => {
        throw new Error("select password from users failed at /srv/app.ts:3");
      });
    });
    const response = await fetch(`${url}/defect`);
    expect(response.status).toBe(500);
    expect(await response.text()).toBe('{"error":"Something went wrong on our side."}');
  });

  it("names no internal host or setting", async () => {
    const { url } = await start(({ app }) => {
      app.get("/broken", async () => {
        throw new Fault(
          "DATABASE_UNREACHABLE",
          "PostgreSQL does not respond at 10.0.0.5:5432; correct DATABASE_URL.",
        );
      });
    });
    const response = await fetch(`${url}/broken`);
    expect([response.status, await response.text()]).toEqual([
      503,
      '{"error":"PostgreSQL does not respond or rejects the connection."}',
    ]);
  });

  it("ignores a request id sent by the client", async () => {
    const { url } = await start();
    const response = await fetch(`${url}/ready`, {
      headers: { "x-request-id": "forged", "request-id": "forged" },
    });
    expect(response.headers.get("x-request-id")).not.toContain("forged");
  });

  it.each([
    ["an unknown path", "GET", "/nothing", undefined, 404, "ROUTE_UNKNOWN"],
    ["a wrong method", "DELETE", "/items/7", undefined, 405, "METHOD_NOT_ALLOWED"],
    ["malformed JSON", "POST", "/items/7", "{", 400, "INPUT_INVALID"],
    [
      "a body that is too large",
      "POST",
      "/items/7",
      JSON.stringify("x".repeat(2_000)),
      413,
      "BODY_TOO_LARGE",
    ],
    ["a path with a broken escape", "GET", "/items/%zz", undefined, 400, "INPUT_INVALID"],
  ])("responds to %s with its status", async (_name, method, path, body, status, code) => {
    const { url } = await start(({ app }) => {
      app.get("/items/:id", async () => ({}));
      app.post("/items/:id", async () => ({}));
    });
    const headers = body === undefined ? {} : { "content-type": "application/json" };
    const response = await fetch(`${url}${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
    });
    expect([response.status, response.headers.get("x-error-code")]).toEqual([status, code]);
    expect(Object.keys((await response.json()) as object)).toEqual(["error"]);
    if (status === 405) expect(response.headers.get("allow")).toBe("GET, HEAD, POST");
  });

  it("rejects another content type", async () => {
    const { url } = await start(({ app }) => void app.post("/items", async () => ({})));
    const response = await fetch(`${url}/items`, {
      method: "POST",
      headers: { "content-type": "text/xml" },
      body: "<a/>",
    });
    expect([response.status, response.headers.get("x-error-code")]).toEqual([
      415,
      "CONTENT_TYPE_UNSUPPORTED",
    ]);
  });

  it("handles bytes that are not HTTP", async () => {
    const { url } = await start();
    expect(await sendBytes(url, "NONSENSE\r\n\r\n")).toMatch(/^HTTP\/1.1 400/);
    expect((await fetch(`${url}/ready`)).status).toBe(200);
  });
});

describe("readiness", () => {
  it("gives the reason when the server is not ready", async () => {
    const { url } = await start(undefined, async () => ({
      ready: false,
      reason: "The history is being read.",
    }));
    const response = await fetch(`${url}/ready`);
    expect(response.status).toBe(503);
    expect(await response.json()).toEqual({ error: "The history is being read." });
  });
});

describe("listening", () => {
  it("names the variable to change when the port is taken", async () => {
    const { url } = await start();
    const second = createHttpServer({
      ...NO_LIMITS,
      log,
      bodyBytesMax: 1,
      requestMsMax: 1,
      checkReadiness: async () => ({ ready: true }),
    });
    open.push(second);
    const port = Number(new URL(url).port);
    await expect(second.listen({ host: "127.0.0.1", port, portVariable: "API_PORT" })).rejects.toMatchObject({
      code: "LISTEN_FAILED",
      message: `Cannot listen: port ${port} is in use; stop what listens there, or set API_PORT to a free port.`,
    });
  });
});

describe("shutdown", () => {
  it("finishes the request in flight and accepts no new one", async () => {
    const started = resolvers();
    const { url, server } = await start(({ app }) => {
      app.get("/slow", async () => {
        started.resolve();
        await new Promise((resolve) => setTimeout(resolve, 150));
        return { done: true };
      });
    });
    const slow = fetch(`${url}/slow`);
    await started.promise;
    const closing = server.close();
    expect(await (await slow).json()).toEqual({ done: true });
    await closing;
    await expect(fetch(`${url}/ready`)).rejects.toThrow();
  });

  // Browsers open such connections in advance, and fetch keeps one of a request that was aborted.
  it("waits for no connection that was never used", async () => {
    const { url, server } = await start();
    const accepted = once(server.app.server, "connection");
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    await accepted;
    const closed = once(socket.resume(), "close");
    await server.close();
    await closed;
  });

  it("sends a response to its end that is read slowly", async () => {
    const body = "x".repeat(8 * 1024 * 1024);
    const { url, server } = await start(({ app }) => {
      app.get("/large", async () => body);
    });
    const response = await fetch(`${url}/large`);
    const closing = server.close();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await response.text()).toHaveLength(body.length);
    await closing;
  });
});

function resolvers(): { promise: Promise<void>; resolve: () => void } {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
