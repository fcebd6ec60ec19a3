// A POST against real servers that behave, and against those that do not.
import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { sendHttpRequest } from "./http-client.ts";

const servers: Server[] = [];

afterEach(() => {
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

const ask = (url: string, more: { answerBytesMax?: number; signal?: AbortSignal } = {}) =>
  sendHttpRequest({
    url,
    headers: { "content-type": "application/json" },
    body: '"ü"',
    signal: new AbortController().signal,
    responseBytesMax: 1_000,
    ...more,
  });

describe("a POST", () => {
  it("sends its body and gives back status, text and what the server says about waiting", async () => {
    const url = await serve(async (request, response) => {
      let body = "";
      for await (const chunk of request.setEncoding("utf8")) body += chunk;
      response.writeHead(503, { "retry-after": "7" });
      response.end(`${request.method} ${request.headers["content-type"]} ${body}`);
    });
    expect(await ask(url)).toEqual({ status: 503, retryAfter: "7", text: 'POST application/json "ü"' });
  });

  it("uses a connection again", async () => {
    const ports = new Set<number | undefined>();
    const url = await serve((request, response) => {
      ports.add(request.socket.remotePort);
      request.resume();
      response.end("{}");
    });
    for (let i = 0; i < 3; i += 1) await ask(url);
    expect(ports.size).toBe(1);
  });

  it("unpacks what was packed, and counts what it unpacks", async () => {
    const url = await serve((_request, response) => {
      response.writeHead(200, { "content-encoding": "gzip" });
      response.end(gzipSync("y".repeat(900)));
    });
    expect((await ask(url)).text).toBe("y".repeat(900));
    expect((await ask(url, { answerBytesMax: 899 })).text).toBeNull();
  });

  it("stops reading an answer that is longer than allowed", async () => {
    const url = await serve((_request, response) => {
      const more = () => {
        while (!response.destroyed && response.write("x".repeat(10_000)));
      };
      response.on("drain", more);
      more();
    });
    expect((await ask(url)).text).toBeNull();
    await expect
      .poll(() => new Promise((resolve) => servers[0]?.getConnections((_, count) => resolve(count))))
      .toBe(0);
  });

  it("does not follow a redirect", async () => {
    let asked = 0;
    const url = await serve((_request, response) => {
      asked += 1;
      response.writeHead(307, { location: "/elsewhere" }).end();
    });
    expect(await ask(url)).toMatchObject({ status: 307, text: "" });
    expect(asked).toBe(1);
  });

  it.each(["before it answers", "in the middle of its answer"])(
    "fails when the server dies %s",
    async (when) => {
      const url = await serve((_request, response) => {
        if (when === "before it answers") return void response.destroy();
        response.writeHead(200, { "content-length": "500" });
        response.write("half", () => response.destroy());
      });
      await expect(ask(url)).rejects.toMatchObject({ code: "ECONNRESET" });
    },
  );

  it("fails when what claims to be packed is not", async () => {
    const url = await serve((_request, response) => {
      response.writeHead(200, { "content-encoding": "gzip" }).end("not packed");
    });
    await expect(ask(url)).rejects.toMatchObject({ code: "Z_DATA_ERROR" });
  });

  it.each(["before it answers", "in the middle of its answer"])("ends when told to, %s", async (when) => {
    const giveUp = new AbortController();
    const url = await serve((_request, response) => {
      if (when !== "before it answers") response.write("half");
      setTimeout(() => giveUp.abort(new Error("enough")), 50);
    });
    await expect(ask(url, { signal: giveUp.signal })).rejects.toThrow();
  });
});
