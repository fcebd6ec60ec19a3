// The server's manners: clear faults, right statuses, ids of its own, and leaving without dropping a request.
import { connect } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { Fault } from "../lib/fault.ts";
import { createLog } from "../lib/log.ts";
import { createHttpServer, type HttpServer } from "./server.ts";
import type { Readiness } from "./status-routes.ts";

const log = createLog({ level: "silent", terminal: false, name: "test" });
const open: HttpServer[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

async function start(
  prepare: (server: HttpServer) => void = () => undefined,
  ready: () => Promise<Readiness> = async () => ({ ready: true }),
): Promise<{ url: string; server: HttpServer }> {
  const server = createHttpServer({ log, bodyBytesMax: 1_024, requestMsMax: 5_000, checkReadiness: ready });
  open.push(server);
  prepare(server);
  const url = await server.listen({ host: "127.0.0.1", port: 0, portVariable: "API_PORT" });
  return { url, server };
}

/** Sends bytes as they are and gives back everything the server says. */
function raw(url: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    let answer = "";
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    socket.on("data", (chunk) => {
      answer += chunk;
    });
    socket.on("close", () => resolve(answer));
    socket.on("error", reject);
    setTimeout(() => socket.destroy(), 500);
  });
}

describe("faults over HTTP", () => {
  it("are one sentence, with the code and the request's id in headers", async () => {
    const { url } = await start(({ app }) => {
      app.get("/broken", async () => {
        throw new Fault("OVERLOADED", "Too many reads are waiting.");
      });
    });
    const answer = await fetch(`${url}/broken`);
    expect(answer.status).toBe(503);
    expect(await answer.json()).toEqual({ error: "Too many reads are waiting." });
    expect(answer.headers.get("x-error-code")).toBe("OVERLOADED");
    expect(answer.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
  });

  it("never show what an unexpected error says", async () => {
    const { url } = await start(({ app }) => {
      app.get("/defect", async () => {
        throw new Error("select password from users failed at /srv/app.ts:3");
      });
    });
    const answer = await fetch(`${url}/defect`);
    expect(answer.status).toBe(500);
    expect(await answer.text()).toBe('{"error":"Something went wrong on our side."}');
  });

  it("name no host or setting of ours to strangers", async () => {
    const { url } = await start(({ app }) => {
      app.get("/broken", async () => {
        throw new Fault(
          "DATABASE_UNREACHABLE",
          "PostgreSQL does not answer at 10.0.0.5:5432; correct DATABASE_URL.",
        );
      });
    });
    const answer = await fetch(`${url}/broken`);
    expect([answer.status, await answer.text()]).toEqual([
      503,
      '{"error":"PostgreSQL does not answer or refuses the connection."}',
    ]);
  });

  it("take no request id from outside", async () => {
    const { url } = await start();
    const answer = await fetch(`${url}/ready`, {
      headers: { "x-request-id": "forged", "request-id": "forged" },
    });
    expect(answer.headers.get("x-request-id")).not.toContain("forged");
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
  ])("answer %s with the right status", async (_name, method, path, body, status, code) => {
    const { url } = await start(({ app }) => {
      app.get("/items/:id", async () => ({}));
      app.post("/items/:id", async () => ({}));
    });
    const headers = body === undefined ? {} : { "content-type": "application/json" };
    const answer = await fetch(`${url}${path}`, { method, headers, ...(body === undefined ? {} : { body }) });
    expect([answer.status, answer.headers.get("x-error-code")]).toEqual([status, code]);
    expect(Object.keys((await answer.json()) as object)).toEqual(["error"]);
    if (status === 405) expect(answer.headers.get("allow")).toBe("GET, HEAD, POST");
  });

  it("refuse another content type", async () => {
    const { url } = await start(({ app }) => void app.post("/items", async () => ({})));
    const answer = await fetch(`${url}/items`, {
      method: "POST",
      headers: { "content-type": "text/xml" },
      body: "<a/>",
    });
    expect([answer.status, answer.headers.get("x-error-code")]).toEqual([415, "CONTENT_TYPE_UNSUPPORTED"]);
  });

  it("survive what is not HTTP", async () => {
    const { url } = await start();
    expect(await raw(url, "NONSENSE\r\n\r\n")).toMatch(/^HTTP\/1.1 400/);
    expect((await fetch(`${url}/ready`)).status).toBe(200);
  });
});

describe("readiness", () => {
  it("says why not", async () => {
    const { url } = await start(undefined, async () => ({
      ready: false,
      reason: "The history is being read.",
    }));
    const answer = await fetch(`${url}/ready`);
    expect(answer.status).toBe(503);
    expect(await answer.json()).toEqual({ error: "The history is being read." });
  });
});

describe("listening", () => {
  it("says which variable to change when the port is taken", async () => {
    const { url } = await start();
    const second = createHttpServer({
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

describe("leaving", () => {
  it("finishes the request in flight and takes no new one", async () => {
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
});

function resolvers(): { promise: Promise<void>; resolve: () => void } {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
