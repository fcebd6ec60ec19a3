// `npm run docs:examples`: writes the generated files of examples/.
import { writeFileSync } from "node:fs";
import { renderExampleFiles } from "./example-docs/example-files.ts";

for (const [path, text] of Object.entries(renderExampleFiles())) {
  writeFileSync(path, text);
  process.stdout.write(`${path} is renewed\n`);
}
