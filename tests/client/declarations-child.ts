// Prints what the declarations of the checkout that it stands in become, and which written files no longer match them.
import { readFileSync } from "node:fs";
import { findStaleApiSections } from "../../scripts/api-examples/sections.ts";
import { findStaleClientFiles, renderClientFiles } from "../../scripts/client-actions/files.ts";
import { buildServiceDocuments } from "../../scripts/openapi-lint/documents.ts";
import { createApiMcpEndpoint } from "../../src/api/tools.ts";
import type { OpenApiDocument } from "../../src/http/openapi/document.ts";
import { indexReads } from "../../src/protocol/reads.ts";
import type { EndpointRequest } from "../../src/schema/endpoint.ts";

export type DeclaredParts = {
  readonly openapi: OpenApiDocument;
  /** The report of the check of generated files. */
  readonly stale: string | null;
  /** The files that `npm run client:actions` would write, by path. */
  readonly generated: Readonly<Record<string, string>>;
  /** Routes that docs/api.md shows otherwise. */
  readonly staleSections: readonly string[];
  readonly tools: readonly { readonly name: string; readonly inputSchema: { readonly properties: object } }[];
};

async function listTools(): Promise<DeclaredParts["tools"]> {
  const endpoint = createApiMcpEndpoint(indexReads, [], () => () => {
    throw new Error("a list of tools sends no request");
  });
  const rawBody = Buffer.from(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }));
  const headers = { "content-type": "application/json" };
  const { body } = await endpoint.handle({ headers, rawBody, client: "" } as unknown as EndpointRequest);
  return JSON.parse(String(body)).result.tools;
}

const openapi = buildServiceDocuments()["indexing API"] as OpenApiDocument;
const parts: DeclaredParts = {
  openapi,
  stale: findStaleClientFiles(),
  generated: renderClientFiles(),
  staleSections: findStaleApiSections(openapi, readFileSync("docs/api.md", "utf8")),
  tools: await listTools(),
};
process.stdout.write(JSON.stringify(parts));
