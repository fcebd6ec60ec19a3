// `npm run lint:openapi`: lints the OpenAPI documents of all services; part of `npm run check`.
import { buildServiceDocuments } from "./openapi-lint/documents.ts";
import { lintDocument } from "./openapi-lint/lint.ts";

for (const [service, document] of Object.entries(buildServiceDocuments())) {
  for (const problem of await lintDocument(document)) {
    process.stdout.write(`${service}: ${problem}\n`);
    process.exitCode = 1;
  }
}
