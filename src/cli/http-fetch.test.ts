// The fetch of short commands against a server, compared with the built-in one.
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { type AddressInfo, createServer as createSocketServer, type Socket } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { fetchOverHttp } from "./http-fetch.ts";

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** The parts of a response that a program can see, without the headers that name the connection. */
async function show(response: Response) {
  const { status, redirected, headers } = response;
  const kept = [...headers].filter(([name]) => !/^(date|connection|keep-alive)$/.test(name));
  return { status, redirected, headers: kept, text: await response.text() };
}

it("sends and receives what the built-in fetch does", async () => {
  const url = await serve(async (request, response) => {
    const body = (await request.toArray()).join("");
    const status = Number(request.url?.slice(1));
    const headers = { "x-error-code": "NOT_FOUND", "set-cookie": ["a=1", "b=2"], location: "/elsewhere" };
    response.writeHead(status, headers);
    response.end(status === 204 ? undefined : `${request.method} ${request.headers.accept} ${body} ü`);
  });
  for (const status of [200, 204, 302, 404, 503]) {
    for (const call of [{}, { method: "POST", body: "größer" }]) {
      const init = { ...call, headers: { accept: "text/plain" }, redirect: "manual" } as const;
      const expected = await show(await fetch(`${url}/${status}`, init));
      expect(await show(await fetchOverHttp(`${url}/${status}`, init))).toEqual(expected);
    }
  }
});

it("fails when nothing listens, and when it is aborted before or within a response", async () => {
  const url = await serve((_request, response) => void response.write("first"));
  await expect(fetchOverHttp("http://127.0.0.1:1/")).rejects.toMatchObject({ code: "ECONNREFUSED" });
  const signal = AbortSignal.abort();
  await expect(fetchOverHttp(url, { signal })).rejects.toMatchObject({ name: "AbortError" });
  const stop = new AbortController();
  const response = await fetchOverHttp(url, { signal: stop.signal });
  const text = response.text();
  stop.abort();
  await expect(text).rejects.toThrow();
});

/** A server that responds to each connection with these bytes and leaves it open. */
async function serveBytes(bytes: string) {
  const sockets: Socket[] = [];
  const server = createSocketServer((socket) => {
    sockets.push(socket);
    socket.on("error", () => undefined).once("data", () => socket.write(bytes));
  }).listen(0, "127.0.0.1");
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  await once(server, "listening");
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sockets };
}

it("fails when a server switches to another protocol", async () => {
  const { url } = await serveBytes(
    "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: other\r\n\r\n",
  );
  await expect(fetchOverHttp(url)).rejects.toThrow("closed without a response");
});

it("fails and closes the connection when a server responds with a status that is not one", async () => {
  const { url, sockets } = await serveBytes("HTTP/1.1 999 Odd\r\ncontent-length: 5\r\n\r\n");
  await expect(fetchOverHttp(url)).rejects.toThrow(RangeError);
  const [socket] = sockets;
  if (socket && !socket.closed) await once(socket, "close");
  expect(socket?.closed).toBe(true);
});
