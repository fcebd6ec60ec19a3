// Serves documents that change only with the program and its configuration, such as /openapi.json and /docs.
import { createHash } from "node:crypto";
import type { FastifyInstance } from "fastify";
import { renderDocsPage } from "../openapi/docs-page.ts";
import type { OpenApiDocument } from "../openapi/document.ts";
import { type SerializedResponse, serializeResponse } from "../response.ts";

export type StaticDocument = {
  /** Text in UTF-8, or bytes of another kind. */
  readonly content: string | Buffer;
  readonly contentType: string;
  /** The policy of what a page may load and run; absent for anything else. */
  readonly contentSecurityPolicy?: string;
};

/** Building the document takes a third of the start of the indexing API: it is built at the first request for it. */
export function addOpenApiRoutes(app: FastifyInstance, buildDocument: () => OpenApiDocument): void {
  addStaticDocument(app, "/openapi.json", () => ({
    content: JSON.stringify(buildDocument()),
    contentType: "application/json",
  }));
  addStaticDocument(app, "/docs", () => {
    const { html, contentSecurityPolicy } = renderDocsPage(buildDocument());
    return { content: html, contentType: "text/html", contentSecurityPolicy };
  });
}

/** Renders at the first request, then sends the same bytes. */
export function addStaticDocument(app: FastifyInstance, path: string, render: () => StaticDocument): void {
  let response: SerializedResponse | null = null;
  app.get(path, (_request, reply) => {
    response ??= serializeDocument(path, render());
    reply.sendSerialized(response);
  });
}

function serializeDocument(route: string, document: StaticDocument): SerializedResponse {
  const { content, contentType, contentSecurityPolicy } = document;
  const body = Buffer.from(content);
  return serializeResponse({
    route,
    body,
    headers: {
      "content-type": typeof content === "string" ? `${contentType}; charset=utf-8` : contentType,
      "cache-control": "no-cache",
      etag: `"${createHash("sha256").update(body).digest("base64url")}"`,
      ...(contentSecurityPolicy === undefined ? {} : { "content-security-policy": contentSecurityPolicy }),
    },
  });
}
