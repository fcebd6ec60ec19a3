// Pipelined requests are handled in order, one at a time, with at most one response waiting for a slow reader.
import { once } from "node:events";
import { type AddressInfo, connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { createNodeServer } from "./node-server.ts";

const BODY = Buffer.alloc(1024 * 1024, "x");

/** Responds with the path; `/large…` with a megabyte, `/slow…` after a delay, `/last…` closing the connection. */
async function start(): Promise<{ client: Socket; started: string[]; text: () => string }> {
  const started: string[] = [];
  const server = createNodeServer(5_000, (request, response) => {
    const { url = "" } = request;
    started.push(url);
    if (url.startsWith("/last")) response.setHeader("connection", "close");
    const finish = () => response.end(url.startsWith("/large") ? BODY : url);
    if (url.startsWith("/slow")) setTimeout(finish, 10);
    else finish();
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
  return { client, started, text: () => text };
}

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
