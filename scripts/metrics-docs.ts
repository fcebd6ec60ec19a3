// `npm run docs:metrics`: writes the dashboard, the alert rules and the page that lists metrics and alerts.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { renderMetricsFiles } from "./metrics-docs/render.ts";

for (const [path, text] of Object.entries(await renderMetricsFiles())) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  process.stdout.write(`${path}\n`);
}
