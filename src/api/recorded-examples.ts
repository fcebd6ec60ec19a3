// Example requests and responses of a local run with seed 1, lists cut to two; `npm run docs:api` records them.
import { readFileSync } from "node:fs";
import type { ApiExamples } from "../http/openapi/examples.ts";

export const recordedExamples = JSON.parse(
  readFileSync(new URL("recorded-examples.json", import.meta.url), "utf8"),
) as Required<ApiExamples>;
