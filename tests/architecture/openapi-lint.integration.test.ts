// The linters of the OpenAPI documents find what we rely on them for.
// Not in main, because loading and running them cost three processor seconds. No test of main fails for the same
// rule: `npm run check` lints all documents, but a rule that is switched off is found here only.
import { expect, it } from "vitest";
import { buildServiceDocuments } from "../../scripts/openapi-lint/documents.ts";
import { lintDocument } from "../../scripts/openapi-lint/lint.ts";
import type { OpenApiDocument } from "../../src/http/openapi/document.ts";

type Changeable = { [key: string]: Changeable } & { [index: number]: Changeable };

const { "portfolio service": portfolio } = buildServiceDocuments();

/** One line per rule that finds something in the portfolio service's document after a change: the rule and the place. */
async function findProblemsAfter(change: (document: Changeable) => void): Promise<string[]> {
  const document = structuredClone(portfolio) as unknown as Changeable;
  change(document);
  const problems = await lintDocument(document as unknown as OpenApiDocument);
  return [...new Set(problems.map((problem) => problem.split(/:? /).slice(0, 3).join(" ")))].sort();
}

it("finds a missing example, description and security", async () => {
  const problems = await findProblemsAfter((document) => {
    const get = document.paths?.["/portfolio"]?.get as unknown as Record<string, unknown>;
    const [, chains] = get.parameters as Record<string, unknown>[];
    delete chains?.example;
    delete get.description;
    delete get.security;
  });
  expect(problems).toEqual([
    "redocly security-defined #/paths/~1portfolio/get",
    "spectral operation-description #/paths//portfolio/get",
    "spectral parameter-example #/paths//portfolio/get/parameters/1",
  ]);
});

// Each kind of example is compared by one linter; the rulesets say which.
it("finds an example or a default value that its schema does not allow, wherever it is", async () => {
  const problems = await findProblemsAfter((document) => {
    const get = document.paths?.["/portfolio"]?.get as unknown as Changeable;
    Object.assign(get.parameters?.[0] as object, { example: "0x1" });
    Object.assign(get.parameters?.[1]?.schema as object, { default: 1 });
    const response = get.responses?.["200"] as Changeable;
    Object.assign(response.content?.["application/json"] as object, { example: "text" });
    Object.assign(response.headers as object, {
      "x-planted": { description: "Planted.", schema: { type: "integer" }, example: "text" },
    });
    Object.assign(document.components?.schemas?.ChainSummary?.properties as object, {
      planted: { description: "Planted.", type: "integer", example: "text" },
    });
    const message = document.paths?.["/mcp"]?.post?.requestBody?.content?.["application/json"]?.example;
    Object.assign(message as object, { undeclared: 1 });
  });
  expect(problems).toEqual([
    "redocly no-invalid-media-type-examples #/paths/~1mcp/post/requestBody/content/application~1json/example/undeclared",
    "redocly no-invalid-media-type-examples #/paths/~1portfolio/get/responses/200/content/application~1json/example",
    "redocly no-invalid-parameter-examples #/paths/~1portfolio/get/parameters/0/example",
    "redocly no-invalid-schema-examples #/components/schemas/ChainSummary/properties/planted/example",
    "spectral oas3-valid-media-example #/paths//portfolio/get/responses/200/headers/x-planted/example",
    "spectral oas3-valid-schema-example #/paths//portfolio/get/parameters/1/schema/default",
  ]);
});
