// `npm run client:actions`: writes the types and the table of operations of packages/client from the OpenAPI documents.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { renderClientFiles } from "./client-actions/files.ts";

for (const [path, text] of Object.entries(renderClientFiles())) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  process.stdout.write(`${path}\n`);
}
