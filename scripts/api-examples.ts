// `npm run docs:api`: requests every API route of a local stack for docs/api.md and the examples of the OpenAPI document.
import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { OpenApiDocument } from "../src/http/openapi/document.ts";
import { startLocalStack } from "./api-examples/local-stack.ts";
import { collectExamples, collectResponses, verifyExamples } from "./api-examples/recorded-examples.ts";
import { requestAllExamples, type SendExampleRequest } from "./api-examples/sample-requests.ts";
import { exampleSections } from "./api-examples/sections.ts";

const PAGE = fileURLToPath(new URL("../docs/api.md", import.meta.url));
const EXAMPLES = fileURLToPath(new URL("../src/api/recorded-examples.json", import.meta.url));
// Everything above is written by hand and stays.
const MARK = "<!-- Everything below is written by `npm run docs:api`. -->";
// The URLs of a reader's own local run.
const SHOWN_URL = "http://127.0.0.1:3001";

const folder = await mkdtemp(join(tmpdir(), "sextant-docs-"));
const stack = await startLocalStack(folder);
try {
  const call: SendExampleRequest = async (method, target, body) => {
    const sent =
      body === undefined
        ? {}
        : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
    const response = await fetch(stack.url + target, { method, ...sent });
    const text = (await response.text()).replaceAll(stack.url, SHOWN_URL);
    const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
    return { status: response.status, body: isJson ? JSON.parse(text) : text };
  };
  const samples = await requestAllExamples(call);
  const document = (await call("GET", "/openapi.json")).body as OpenApiDocument;
  const [written = ""] = (await readFile(PAGE, "utf8")).split(MARK);
  await writeFile(PAGE, `${written}${MARK}\n\n${exampleSections(document, samples, SHOWN_URL)}`);
  const examples = await collectExamples(document, samples, call);
  await verifyExamples(document, examples, call);
  const recorded = { ...examples, responses: collectResponses(document, samples) };
  await writeFile(EXAMPLES, `${JSON.stringify(recorded, null, 2)}\n`);
  execFileSync("node_modules/.bin/biome", ["format", "--write", EXAMPLES], { stdio: "inherit" });
  process.stdout.write(`docs/api.md shows ${samples.length} examples\n`);
} finally {
  await stack.stop();
  await rm(folder, { recursive: true, force: true });
}
