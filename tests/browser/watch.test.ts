// The client's package in a real browser, on another origin than the API: watches, and resumes what broke.
import { type ClientRequest, type RequestListener, request, type ServerResponse } from "node:http";
import { beforeAll, expect, it, onTestFinished } from "vitest";
import { EventIndex } from "../api/events/event-index.ts";
import { startLoopbackServer } from "../support/http/loopback-server.ts";
import { startTestApi } from "../support/http/test-api.ts";
import { openBrowser, openPage } from "./browser.ts";
import { BUNDLE_MS_MAX, bundleClient } from "./bundle-client.ts";

function page(api: string): string {
  return `<!doctype html><title>watch</title>
<script type="module">
  import { createSextant } from "/client.js";
  window.items = [];
  const options = { from: "genesis" };
  async function watch() {
    for await (const item of createSextant({ api: "${api}" }).watch({}, options)) {
      window.items.push(item.kind === "event" ? item.event.id : item.kind);
    }
  }
  // Not awaited: a module that does not end keeps the page from being loaded.
  watch();
</script>`;
}

function serveFiles(bundle: string, api: string): RequestListener {
  return ({ url = "/" }, response) => {
    const isModule = url === "/client.js";
    response.setHeader("content-type", isModule ? "text/javascript" : "text/html");
    response.end(isModule ? bundle : page(api));
  };
}

type Network = { isDown: boolean; readonly open: Set<ServerResponse>; readonly seen: string[] };

/** Passes everything on to the API, unless the network is down. */
function passOn(target: string, network: Network): RequestListener {
  const { open, seen } = network;
  return (incoming, response) => {
    if (network.isDown) return void response.destroy();
    const { method = "GET", url = "/", headers } = incoming;
    seen.push(`${method} ${headers["last-event-id"] === undefined ? "from the start" : "from a cursor"}`);
    open.add(response);
    const sent: ClientRequest = request(`${target}${url}`, { method, headers, agent: false }, (from) => {
      response.writeHead(from.statusCode ?? 500, from.headers);
      response.flushHeaders();
      from.pipe(response);
    });
    sent.on("error", () => response.destroy());
    response.on("close", () => {
      open.delete(response);
      sent.destroy();
    });
    sent.end();
  };
}

let bundle: string;
beforeAll(async () => {
  bundle = await bundleClient();
}, BUNDLE_MS_MAX);

it("yields events, what a reorg undoes, and goes on after a connection was cut", async () => {
  const index = await EventIndex.open();
  const api = await startTestApi(index.database);
  const network: Network = { isDown: false, open: new Set(), seen: [] };
  const proxy = await startLoopbackServer(passOn(api.url, network));
  const web = await startLoopbackServer(serveFiles(bundle, proxy.url));
  const browser = await openBrowser();
  onTestFinished(async () => {
    await browser.close();
    await web.stop();
    await proxy.stop();
    await api.close();
    await index.drop();
  });
  await index.extend([2], 8);
  const { page: tab, errors } = await openPage(browser);
  await tab.goto(web.url);
  const items = () => tab.evaluate(() => (globalThis as unknown as { items: string[] }).items);
  const patience = { timeout: 15_000 };
  const [first, second] = index.events().map(({ id }) => id);
  await expect.poll(items, patience).toEqual([first, second, "progress"]);
  network.isDown = true;
  for (const response of network.open) response.destroy();
  await index.rollback(1);
  await index.extend([1], 8);
  network.isDown = false;
  const [third] = index.events().map(({ id }) => id);
  await expect.poll(items, patience).toEqual([first, second, "progress", "undo", third, "progress"]);
  // A browser asks first whether it may send the header.
  expect(network.seen).toEqual(["GET from the start", "OPTIONS from the start", "GET from a cursor"]);
  // Chromium itself notes connections that break.
  expect(errors.filter((error) => !error.includes("net::ERR_"))).toEqual([]);
});
