// The ceiling of an unpaid request: Node's own HTTP server with the bytes and headers of the service's 402.
import { createServer } from "node:http";
import { serveForParent } from "../api/cpu-time.ts";

export type UnpaidTask = { readonly url: string };

// Node writes these itself, for us as for the service.
const OWN = ["connection", "date", "keep-alive"];

const { url } = JSON.parse(process.argv[2] ?? "") as UnpaidTask;
const response = await fetch(url);
if (response.status !== 402) throw new Error(`${url} returns ${response.status}: ${await response.text()}`);
const headers = Object.fromEntries([...response.headers].filter(([name]) => !OWN.includes(name)));
const body = Buffer.from(await response.arrayBuffer());

const server = createServer((_request, response) => {
  response.writeHead(402, headers).end(body);
});
await serveForParent(server);
