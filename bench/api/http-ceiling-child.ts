// The first ceiling: Node's own HTTP server with the bytes and headers of the API's responses.
import { createServer } from "node:http";
import { serveForParent } from "./cpu-time.ts";

export type RawTask = { readonly apiUrl: string; readonly paths: readonly string[] };

type StoredResponse = {
  readonly headers: Readonly<Record<string, string>>;
  readonly etag: string;
  readonly body: Buffer;
};

// Node writes these itself, for us as for the API.
const OWN = ["connection", "date", "keep-alive"];

const { apiUrl, paths } = JSON.parse(process.argv[2] ?? "") as RawTask;
const stored = new Map<string, StoredResponse>();
for (const path of paths) {
  const response = await fetch(apiUrl + path);
  if (response.status !== 200)
    throw new Error(`${path} returns ${response.status}: ${await response.text()}`);
  const headers = [...response.headers].filter(([name]) => !OWN.includes(name));
  stored.set(path, {
    headers: Object.fromEntries(headers),
    etag: response.headers.get("etag") ?? "",
    body: Buffer.from(await response.arrayBuffer()),
  });
}

const server = createServer((request, response) => {
  const known = stored.get(request.url ?? "");
  if (!known) return response.writeHead(404, { "content-length": "0" }).end();
  if (request.headers["if-none-match"] === known.etag) return response.writeHead(304, known.headers).end();
  response.writeHead(200, known.headers).end(known.body);
});
await serveForParent(server);
