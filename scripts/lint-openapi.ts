// `npm run lint:openapi`: lints the OpenAPI documents of all services; part of `npm run check`.
import { buildServiceDocuments } from "./openapi-lint/documents.ts";
import { lintDocuments } from "./openapi-lint/lint.ts";

for (const problem of await lintDocuments(buildServiceDocuments())) {
  process.stdout.write(`${problem}\n`);
  process.exitCode = 1;
}
