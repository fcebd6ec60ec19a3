// Responses that stay open: sends their head, then text as it comes, and reports what the client has not taken.
import type { ServerResponse } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { StreamedResponse, TextStream } from "../schema/endpoint.ts";
import { DEFAULT_HEADERS } from "./response.ts";
import { exemptStream } from "./slow-readers.ts";

// Proxies must pass every byte on at once, and must not change it.
const STREAM_HEADERS = { "cache-control": "no-store, no-transform", "x-accel-buffering": "no" };

export function openTextStream(
  request: FastifyRequest,
  reply: FastifyReply,
  response: StreamedResponse,
): void {
  reply.hijack();
  const outgoing = reply.raw;
  outgoing.writeHead(200, {
    ...DEFAULT_HEADERS,
    ...STREAM_HEADERS,
    ...response.headers,
    "x-request-id": request.id,
  });
  // Node sends no body in response to HEAD.
  if (request.method === "HEAD") {
    response.cancel();
    return void outgoing.end();
  }
  outgoing.socket?.setNoDelay(true);
  const endExemption = outgoing.socket ? exemptStream(outgoing.socket) : () => undefined;
  outgoing.flushHeaders();
  response.open(createTextStream(outgoing, endExemption));
}

function createTextStream(outgoing: ServerResponse, endExemption: () => void): TextStream {
  const closed = new AbortController();
  outgoing.once("close", () => {
    endExemption();
    closed.abort();
  });
  // A reset of the connection; "close" follows.
  outgoing.on("error", () => undefined);
  if (outgoing.destroyed) closed.abort();
  let sentMs = performance.now();
  const isOpen = () => !outgoing.writableEnded && !outgoing.destroyed;
  return {
    signal: closed.signal,
    get bufferedBytes() {
      return outgoing.writableLength;
    },
    get sentMs() {
      return sentMs;
    },
    send(text) {
      if (!isOpen()) return;
      sentMs = performance.now();
      outgoing.write(text);
    },
    drained() {
      if (!isOpen() || !outgoing.writableNeedDrain) return Promise.resolve();
      return new Promise((resolve) => {
        const finish = () => {
          outgoing.removeListener("drain", finish);
          outgoing.removeListener("close", finish);
          resolve();
        };
        outgoing.once("drain", finish);
        outgoing.once("close", finish);
      });
    },
    end(text) {
      if (isOpen()) outgoing.end(text);
      endExemption();
    },
    destroy() {
      outgoing.destroy();
    },
  };
}
