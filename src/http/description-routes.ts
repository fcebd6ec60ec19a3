// GET /openapi.json and GET /docs: the description of an API, for programs and for people.
import { createHash } from "node:crypto";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { docsPage } from "./docs-page.ts";
import type { OpenApiDocument } from "./openapi.ts";
import { matches } from "./validators.ts";

export function addDescription(app: FastifyInstance, document: OpenApiDocument): void {
  const page = docsPage(document);
  serve(app, "/openapi.json", Buffer.from(JSON.stringify(document)), {
    "content-type": "application/json; charset=utf-8",
  });
  serve(app, "/docs", Buffer.from(page.html), {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": page.policy,
  });
}

// Both are made once, at the start: they change with the version of the program only.
function serve(
  app: FastifyInstance,
  path: string,
  bytes: Buffer,
  headers: Readonly<Record<string, string>>,
): void {
  const etag = `"${createHash("sha256").update(bytes).digest("base64url")}"`;
  app.get(path, (request: FastifyRequest, reply: FastifyReply) => {
    reply.headers({ ...headers, etag, "cache-control": "no-cache" });
    return matches(request.headers["if-none-match"], etag) ? reply.code(304).send() : reply.send(bytes);
  });
}
