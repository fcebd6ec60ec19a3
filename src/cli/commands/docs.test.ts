// `sextant docs` over a folder of files.
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer, get, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { createTestFolder } from "../../../tests/support/test-folder.ts";
import { serveFolder } from "./docs.ts";

it("serves the files of its folder with their types, and nothing outside it", async () => {
  const { read, write } = await serveSite({ "index.html": "entry", "1.0.0/page.js": "code" });
  write("../secret.html", "secret");
  expect(await read("/")).toEqual([200, "text/html; charset=utf-8", "entry"]);
  expect(await read("/1.0.0/page.js?x=1")).toEqual([200, "text/javascript; charset=utf-8", "code"]);
  for (const path of ["/../secret.html", "/%2e%2e/secret.html", "//secret.html", "/1.0.0", "/none.html"]) {
    expect(await read(path)).toEqual([404, "text/plain", "There is no such page.\n"]);
  }
});

it("serves a page without its ending, leads other addresses to the newest version, and says there what is missing", async () => {
  const pages = {
    "404.html": "lost",
    "index.html": "first",
    "calls.html": "calls",
    "adr/index.html": "records",
  };
  const versions = ["0.9.0", "0.10.0"].flatMap((version) =>
    Object.entries(pages).map(([name, text]) => [`${version}/${name}`, `${version} ${text}`]),
  );
  const { read } = await serveSite({ "index.html": "entry", ...Object.fromEntries(versions) });
  const html = "text/html; charset=utf-8";
  expect(await read("/0.9.0/calls")).toEqual([200, html, "0.9.0 calls"]);
  expect(await read("/0.9.0/calls.html")).toEqual([200, html, "0.9.0 calls"]);
  expect(await read("/0.9.0/adr/")).toEqual([200, html, "0.9.0 records"]);
  for (const [path, target] of [
    ["/calls", "/0.10.0/calls"],
    ["/calls.html?q=1", "/0.10.0/calls.html?q=1"],
    ["/nosuch", "/0.10.0/nosuch"],
    ["//example.com/calls", "/0.10.0//example.com/calls"],
    ["/0.9.0", "/0.9.0/"],
    ["/0.9.0/adr", "/0.9.0/adr/"],
  ] as const) {
    expect(await read(path)).toEqual([302, target, ""]);
  }
  expect(await read("/0.10.0/nosuch")).toEqual([404, html, "0.10.0 lost"]);
  expect(await read("/0.9.0/../../secret.html")).toEqual([404, html, "0.9.0 lost"]);
});

/** `read` returns the status, the type or the target, and the text. */
async function serveSite(files: Readonly<Record<string, string>>) {
  const folder = join(await createTestFolder(), "site");
  const write = (name: string, text: string) => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  };
  for (const [name, text] of Object.entries(files)) write(name, text);
  const server = createServer(serveFolder(folder)).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  // fetch would resolve the dots itself.
  const read = (path: string) =>
    new Promise<readonly [number | undefined, string | undefined, string]>((resolve) => {
      get({ host: "127.0.0.1", port, path, agent: false }, async (response: IncomingMessage) => {
        const { "content-type": type, location } = response.headers;
        resolve([response.statusCode, location ?? type, (await response.toArray()).join("")]);
      });
    });
  return { read, write };
}
