// Sends raw requests and bytes that no ordinary client would send.
import { type Agent, request as httpRequest } from "node:http";
import { connect } from "node:net";
import { type ApiResponse, isJsonType } from "./api-client.ts";
import type { HostileRequest } from "./hostile-requests.ts";

/** Sends exactly the given request, without the normalization of fetch, and reads the whole response. */
export function sendRaw(
  url: string,
  { method, target, headers, body }: HostileRequest,
  { agent, timeoutMs }: { readonly agent: Agent; readonly timeoutMs: number },
): Promise<ApiResponse> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(
      { agent, hostname, port, method, path: target, timeout: timeoutMs },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
        incoming.on("error", reject);
        incoming.on("end", () => {
          const text = Buffer.concat(chunks).toString();
          const received = new Headers(incoming.headers as Record<string, string>);
          const isJson = isJsonType(received.get("content-type")) && text !== "";
          const parsed = isJson ? { body: JSON.parse(text) as unknown } : { body: undefined };
          resolve({ status: incoming.statusCode ?? 0, headers: received, text, ...parsed });
        });
      },
    );
    outgoing.on("timeout", () => outgoing.destroy(new Error(`no response to ${method} ${target}`)));
    outgoing.on("error", reject);
    for (const [name, value] of Object.entries(headers)) outgoing.setHeader(name, value);
    if (body === null) outgoing.end();
    else outgoing.setHeader("content-length", body.length).end(body);
  });
}

/** Sends the bytes and returns everything that the server sends until it closes or falls silent. */
export function sendBytes(url: string, bytes: string, silenceMs = 300): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    let text = "";
    const socket = connect(Number(port), hostname, () => socket.write(bytes, "latin1"));
    socket.setTimeout(silenceMs, () => socket.destroy());
    socket.on("data", (chunk) => {
      text += chunk;
    });
    // The server may close during a flood; what it sent before counts.
    socket.on("error", () => undefined);
    socket.on("close", () => resolve(text));
  });
}
