// GET /openapi.json and GET /docs: the description of an API, for programs and for people.
import { createHash } from "node:crypto";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { matches } from "../etag.ts";
import { docsPage } from "../openapi/docs-page.ts";
import type { OpenApiDocument } from "../openapi/document.ts";

export type Served = {
  readonly text: string;
  readonly type: string;
  /** What the page may load and run; what is no page needs none. */
  readonly policy?: string;
};

export function addDescription(app: FastifyInstance, document: OpenApiDocument): void {
  const { html, policy } = docsPage(document);
  const text = JSON.stringify(document);
  serveDocument(app, "/openapi.json", () => ({ text, type: "application/json" }));
  serveDocument(app, "/docs", () => ({ text: html, type: "text/html", policy }));
}

/** Something that changes with the program and its configuration only: made when first asked for, then kept. */
export function serveDocument(app: FastifyInstance, path: string, make: () => Served): void {
  let kept: ReturnType<typeof prepared> | null = null;
  app.get(path, (request: FastifyRequest, reply: FastifyReply) => {
    kept ??= prepared(make());
    reply.headers(kept.headers);
    const known = matches(request.headers["if-none-match"], kept.headers.etag);
    return known ? reply.code(304).send() : reply.send(kept.bytes);
  });
}

function prepared({ text, type, policy }: Served) {
  const bytes = Buffer.from(text);
  const etag = `"${createHash("sha256").update(bytes).digest("base64url")}"`;
  const headers = {
    "content-type": `${type}; charset=utf-8`,
    "cache-control": "no-cache",
    etag,
    ...(policy === undefined ? {} : { "content-security-policy": policy }),
  };
  return { bytes, headers };
}
