// `sextant docs`: serves the built site of the documents on this machine.
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Fault } from "../../lib/fault.ts";
import { waitForAbort } from "../../lib/shutdown.ts";
import { type RunCommand, readIntegerOption } from "../command.ts";

/** `npm run docs` writes it. */
const SITE = fileURLToPath(new URL("../../../docs/.site/", import.meta.url));
const DEFAULT_PORT = 3010;
const PORT_MAX = 65_535;
const CONTENT_TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".png": "image/png",
};

export const docsCommand: RunCommand = async ({ options, print, stop, onListening }) => {
  const port = readIntegerOption(options, "port", 0) ?? DEFAULT_PORT;
  if (port > PORT_MAX) throw new Fault("USAGE_INVALID", `--port must be at most ${PORT_MAX}.`);
  if (!existsSync(SITE)) {
    throw new Fault(
      "CONFIG_INVALID",
      "The site of the documents is not built. Run npm run docs in a clone first.",
    );
  }
  const server = createServer(serveFolder(SITE));
  server.listen(port, "127.0.0.1");
  await once(server, "listening").catch((cause: Error) => {
    throw new Fault("CONFIG_INVALID", `Port ${port} is not free. Choose another with --port.`, { cause });
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  print(`The documents are at ${url}\nPress Ctrl-C to stop.\n`);
  onListening?.(url);
  await waitForAbort(stop);
  server.close();
  server.closeAllConnections();
  return 0;
};

/**
 * Serves the files that are there at the start and no other path, so that no request leads out of the folder. The pages
 * draw themselves by their address, so one outside a version is redirected to the newest.
 */
export function serveFolder(folder: string): RequestListener {
  const files = new Set(
    readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
      (name) => extname(name) in CONTENT_TYPES,
    ),
  );
  // The generator writes one per version.
  const versions = [...files].flatMap((name) => /^([^/]+)\/404\.html$/.exec(name)?.[1] ?? []);
  const newest = versions.sort((a, b) => a.localeCompare(b, "en", { numeric: true })).at(-1);
  return (request, response) => {
    const [pathname = "/", query] = (request.url ?? "/").split("?");
    const name = pathname.slice(1);
    const shown = [`${name}${name === "" || name.endsWith("/") ? "index.html" : ""}`, `${name}.html`].find(
      (each) => files.has(each),
    );
    const version = versions.find((each) => name === each || name.startsWith(`${each}/`));
    const isFolder = files.has(`${name}/index.html`);
    if (shown === undefined && newest !== undefined && (isFolder || version === undefined)) {
      const target = isFolder ? `${pathname}/` : `/${newest}${pathname}`;
      response.writeHead(302, { location: query === undefined ? target : `${target}?${query}` }).end();
      return;
    }
    const page = shown ?? (version && `${version}/404.html`);
    if (page === undefined) {
      response.writeHead(404, { "content-type": "text/plain" }).end("There is no such page.\n");
      return;
    }
    readFile(join(folder, page)).then(
      (content) => {
        const type = CONTENT_TYPES[extname(page)];
        response.writeHead(shown === undefined ? 404 : 200, {
          "content-type": type,
          "x-content-type-options": "nosniff",
        });
        response.end(request.method === "HEAD" ? undefined : content);
      },
      () => response.writeHead(500).end(),
    );
  };
}
