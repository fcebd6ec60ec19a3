// `sextant docs` over a folder of files.
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer, get, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { createTestFolder } from "../../../tests/support/test-folder.ts";
import { serveFolder } from "./docs.ts";

it("serves the files of its folder with their types, and nothing outside it", async () => {
  const folder = await createTestFolder();
  mkdirSync(join(folder, "site/1.0.0"), { recursive: true });
  writeFileSync(join(folder, "secret.html"), "secret");
  writeFileSync(join(folder, "site/index.html"), "entry");
  writeFileSync(join(folder, "site/1.0.0/page.js"), "code");
  const server = createServer(serveFolder(join(folder, "site"))).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  // fetch would resolve the dots itself.
  const read = (path: string) =>
    new Promise<readonly [number | undefined, string | undefined, string]>((resolve) => {
      get({ host: "127.0.0.1", port, path, agent: false }, async (response: IncomingMessage) => {
        const body = (await response.toArray()).join("");
        resolve([response.statusCode, response.headers["content-type"], body]);
      });
    });
  expect(await read("/")).toEqual([200, "text/html; charset=utf-8", "entry"]);
  expect(await read("/1.0.0/page.js?x=1")).toEqual([200, "text/javascript; charset=utf-8", "code"]);
  for (const path of ["/../secret.html", "/%2e%2e/secret.html", "//secret.html", "/1.0.0", "/none.html"]) {
    expect(await read(path)).toEqual([404, "text/plain", "There is no such page.\n"]);
  }
  writeFileSync(join(folder, "site/1.0.0/404.html"), "lost");
  server.removeAllListeners("request").on("request", serveFolder(join(folder, "site")));
  for (const path of ["/none.html", "/1.0.0/none", "/../secret.html"]) {
    expect(await read(path)).toEqual([404, "text/html; charset=utf-8", "lost"]);
  }
});
