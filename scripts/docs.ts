// `npm run docs`: renews the generated sections of the documents.
import { writeFileSync } from "node:fs";
import { GENERATED_PAGES, renewPage } from "./generated-docs/sections.ts";

for (const page of GENERATED_PAGES) writeFileSync(page, renewPage(page));
process.stdout.write(`${GENERATED_PAGES.join(" and ")} are renewed\n`);
