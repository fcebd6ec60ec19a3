// GET /openapi.json and GET /docs: the description of an API, for programs and for people.
import { createHash } from "node:crypto";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { renderDocsPage } from "../openapi/docs-page.ts";
import type { OpenApiDocument } from "../openapi/document.ts";
import { etagMatches } from "../response.ts";

export type StaticDocument = {
  readonly text: string;
  readonly contentType: string;
  /** What the page may load and run; what is no page needs none. */
  readonly contentSecurityPolicy?: string;
};

export function addOpenApiRoutes(app: FastifyInstance, document: OpenApiDocument): void {
  const { html, contentSecurityPolicy: policy } = renderDocsPage(document);
  const text = JSON.stringify(document);
  addStaticDocument(app, "/openapi.json", () => ({ text, contentType: "application/json" }));
  addStaticDocument(app, "/docs", () => ({
    text: html,
    contentType: "text/html",
    contentSecurityPolicy: policy,
  }));
}

/** Something that changes with the program and its configuration only: made when first asked for, then kept. */
export function addStaticDocument(app: FastifyInstance, path: string, make: () => StaticDocument): void {
  let kept: ReturnType<typeof prepared> | null = null;
  app.get(path, (request: FastifyRequest, reply: FastifyReply) => {
    kept ??= prepared(make());
    reply.headers(kept.headers);
    const known = etagMatches(request.headers["if-none-match"], kept.headers.etag);
    return known ? reply.code(304).send() : reply.send(kept.bytes);
  });
}

function prepared({ text, contentType: type, contentSecurityPolicy: policy }: StaticDocument) {
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
