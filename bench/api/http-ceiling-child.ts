// The first ceiling: Node's own HTTP server, answering with the bytes and headers that the API answered with.
import { createServer } from "node:http";
import { sendToParent } from "../harness/progress.ts";
import { listenOnLoopback, startCpuTimeServer } from "./cpu-time.ts";
import type { ServerReady } from "./server-child.ts";

export type RawTask = { readonly apiUrl: string; readonly paths: readonly string[] };

type Kept = {
  readonly headers: Readonly<Record<string, string>>;
  readonly etag: string;
  readonly body: Buffer;
};

// Node writes these itself, for us as for the API.
const OWN = ["connection", "date", "keep-alive"];

const { apiUrl, paths } = JSON.parse(process.argv[2] ?? "") as RawTask;
const kept = new Map<string, Kept>();
for (const path of paths) {
  const answer = await fetch(apiUrl + path);
  if (answer.status !== 200) throw new Error(`${path} answers ${answer.status}: ${await answer.text()}`);
  const headers = [...answer.headers].filter(([name]) => !OWN.includes(name));
  kept.set(path, {
    headers: Object.fromEntries(headers),
    etag: answer.headers.get("etag") ?? "",
    body: Buffer.from(await answer.arrayBuffer()),
  });
}

const server = createServer((request, response) => {
  const known = kept.get(request.url ?? "");
  if (!known) return response.writeHead(404, { "content-length": "0" }).end();
  if (request.headers["if-none-match"] === known.etag) return response.writeHead(304, known.headers).end();
  response.writeHead(200, known.headers).end(known.body);
});
const control = await startCpuTimeServer();
const ready: ServerReady = { url: await listenOnLoopback(server), control: control.url };
sendToParent(ready);

process.stdin.on("end", () => {
  server.close();
  server.closeAllConnections();
  control.close();
});
process.stdin.resume();
