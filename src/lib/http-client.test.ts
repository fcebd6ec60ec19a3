// The HTTP client against real servers that behave, and against those that do not.
import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, it, vi } from "vitest";
import { type HttpClientError, type HttpExchange, sendHttpRequest, sendJsonRequest } from "./http-client.ts";
import { createRemoteEndpoint } from "./remote-endpoint.ts";
import { Secret } from "./secret.ts";

const servers: Server[] = [];

afterEach(() => {
  vi.restoreAllMocks();
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

type Given = Partial<Parameters<typeof sendHttpRequest>[0]>;

const requestTo = (url: string, given: Given = {}) => ({
  endpoint: createRemoteEndpoint(new Secret(url)),
  body: '"ü"',
  timeoutMs: 5_000,
  responseBytesMax: 1_000,
  ...given,
});
const post = (url: string, given?: Given) => sendHttpRequest(requestTo(url, given));
const failureOf = (sent: Promise<unknown>) => sent.catch((error: unknown) => error as HttpClientError);

describe("a request", () => {
  it("sends its body and returns status, text and Retry-After", async () => {
    const url = await serve(async (request, response) => {
      let body = "";
      for await (const chunk of request.setEncoding("utf8")) body += chunk;
      response.writeHead(503, { "retry-after": "7" });
      response.end(`${request.method} ${request.headers["content-type"]} ${body}`);
    });
    expect(await post(url)).toEqual({
      status: 503,
      retryAfterMs: 7_000,
      text: 'POST application/json "ü"',
    });
  });

  it("reuses a connection", async () => {
    const ports = new Set<number | undefined>();
    const url = await serve((request, response) => {
      ports.add(request.socket.remotePort);
      request.resume();
      response.end("{}");
    });
    for (let i = 0; i < 3; i += 1) await post(url);
    expect(ports.size).toBe(1);
  });

  it("decompresses a response, and limits the decompressed size", async () => {
    const url = await serve((_request, response) => {
      response.writeHead(200, { "content-encoding": "gzip" });
      response.end(gzipSync("y".repeat(900)));
    });
    expect((await post(url)).text).toBe("y".repeat(900));
    await expect(post(url, { responseBytesMax: 899 })).rejects.toMatchObject({
      reason: "response-too-large",
      status: 200,
    });
  });

  it("stops reading a response that exceeds the limit", async () => {
    const url = await serve((_request, response) => {
      const more = () => {
        while (!response.destroyed && response.write("x".repeat(10_000)));
      };
      response.on("drain", more);
      more();
    });
    await expect(post(url)).rejects.toMatchObject({ reason: "response-too-large" });
    await expect
      .poll(() => new Promise((resolve) => servers[0]?.getConnections((_, count) => resolve(count))))
      .toBe(0);
  });

  it("joins the chunks of a response that comes byte by byte, each of which takes a hundred times its size", async () => {
    const bytes = 50_000;
    const join = vi.spyOn(Buffer, "concat");
    const url = await serve(({ socket }) => {
      const begin = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
      socket.end(`${begin}${"1\r\nx\r\n".repeat(bytes)}0\r\n\r\n`);
    });
    expect((await post(url, { responseBytesMax: bytes })).text).toBe("x".repeat(bytes));
    const held = join.mock.calls.map(([chunks]) => chunks.length);
    expect(Math.max(...held)).toBeLessThan(bytes / 10);
    expect(held.reduce((sum, count) => sum + count)).toBeGreaterThanOrEqual(bytes);
  });

  it("does not follow a redirect", async () => {
    let requests = 0;
    const url = await serve((_request, response) => {
      requests += 1;
      response.writeHead(307, { location: "/elsewhere" }).end();
    });
    expect(await post(url)).toMatchObject({ status: 307, text: "" });
    expect(requests).toBe(1);
  });

  it.each(["before it responds", "in the middle of its response"])(
    "fails when the server dies %s",
    async (when) => {
      const url = await serve((_request, response) => {
        if (when === "before it responds") return void response.destroy();
        response.writeHead(200, { "content-length": "500" });
        response.write("half", () => response.destroy());
      });
      const failure = await failureOf(post(url));
      expect(failure).toMatchObject({ reason: "connection" });
      expect(String((failure as Error).cause)).toContain("ECONNRESET");
    },
  );

  it("fails when a response that claims to be compressed is not", async () => {
    const url = await serve((_request, response) => {
      response.writeHead(200, { "content-encoding": "gzip" }).end("not compressed");
    });
    const failure = await failureOf(post(url));
    expect(failure).toMatchObject({ reason: "connection" });
    expect(String((failure as Error).cause)).toContain("Z_DATA_ERROR");
  });

  it.each(["before it responds", "in the middle of its response"])(
    "ends with the caller's reason when aborted %s",
    async (when) => {
      const caller = new AbortController();
      const url = await serve((_request, response) => {
        if (when !== "before it responds") response.write("half");
        setTimeout(() => caller.abort(new Error("enough")), 50);
      });
      await expect(post(url, { signals: [caller.signal] })).rejects.toThrow("enough");
    },
  );

  it("times out when the response is not complete in time", async () => {
    const url = await serve((_request, response) => void response.write("half"));
    await expect(post(url, { timeoutMs: 50 })).rejects.toMatchObject({ reason: "timeout" });
  });

  it("knows the status of a response that broke off or did not end in time", async () => {
    const url = await serve((request, response) => {
      response.writeHead(202, { "content-length": "500" });
      response.write("half", () => request.url === "/reset" && response.destroy());
    });
    expect(await failureOf(post(url, { path: "/reset" }))).toMatchObject({
      reason: "connection",
      status: 202,
    });
    expect(await failureOf(post(url, { timeoutMs: 500 }))).toMatchObject({ reason: "timeout", status: 202 });
  });

  it("fails when the server switches protocols without being asked", async () => {
    const url = await serve((_request, { socket }) => {
      socket?.end("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: other\r\n\r\n");
    });
    expect(await failureOf(post(url))).toMatchObject({ reason: "connection", status: null });
  });

  it("sends a request without a body as a GET of the path behind the endpoint", async () => {
    const url = await serve((request, response) => response.end(`${request.method} ${request.url}`));
    const endpoint = createRemoteEndpoint(new Secret(`${url}base/`));
    const request = { endpoint, path: "/sub?q=1", timeoutMs: 5_000, responseBytesMax: 1_000 };
    expect((await sendHttpRequest(request)).text).toBe("GET /base/sub?q=1");
  });

  it("sends the credentials of the address as a header", async () => {
    const url = await serve((request, response) => response.end(request.headers.authorization));
    const { text } = await post(url.replace("http://", "http://user:pass@"));
    expect(text).toBe(`Basic ${Buffer.from("user:pass").toString("base64")}`);
  });

  it("reports its outcome once", async () => {
    const exchanges: HttpExchange[] = [];
    const onExchange = (exchange: HttpExchange) => void exchanges.push(exchange);
    const url = await serve((request, response) => {
      if (request.url === "/reset") return void response.destroy();
      response.writeHead(503).end();
    });
    await post(url, { onExchange });
    await failureOf(post(url, { onExchange, path: "/reset" }));
    expect(exchanges).toMatchObject([
      { host: new URL(url).host, outcome: 503, ms: expect.any(Number) },
      { outcome: "connection" },
    ]);
  });
});

describe("a JSON request", () => {
  it("returns the parsed body", async () => {
    const url = await serve((_request, response) => response.end('{"a":[1]}'));
    expect(await sendJsonRequest(requestTo(url))).toMatchObject({
      status: 200,
      payload: { a: [1] },
      text: "",
    });
  });

  it("returns the redacted beginning of a body that is not JSON", async () => {
    const url = await serve((request, response) => response.end(`{"cut": "${request.url}`));
    const { payload, text } = await sendJsonRequest(requestTo(`${url}s3cr3t-k3y`));
    expect(payload).toBeUndefined();
    expect(text).toBe('{"cut": "[secret]');
  });
});
