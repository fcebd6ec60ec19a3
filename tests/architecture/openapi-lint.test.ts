// The linters of the OpenAPI documents find what we rely on them for; `npm run check` runs them on all documents.
import { expect, it } from "vitest";
import { buildServiceDocuments } from "../../scripts/openapi-lint/documents.ts";
import { lintDocument } from "../../scripts/openapi-lint/lint.ts";
import type { OpenApiDocument } from "../../src/http/openapi/document.ts";

type Changeable = { [key: string]: Changeable } & { [index: number]: Changeable };

/** The rules that find something in the facilitator's or the portfolio service's document after a change. */
async function rulesViolatedAfter(
  service: string,
  change: (document: Changeable) => void,
): Promise<string[]> {
  const document = structuredClone(buildServiceDocuments()[service]) as unknown as Changeable;
  change(document);
  const problems = await lintDocument(document as unknown as OpenApiDocument);
  return [...new Set(problems.map((problem) => problem.split(" ").slice(0, 2).join(" ")))].sort();
}

it("find a missing example, description and security, and an example of another form", async () => {
  const rules = await rulesViolatedAfter("portfolio service", (document) => {
    const get = document.paths?.["/portfolio"]?.get as unknown as Record<string, unknown>;
    const [address, chains] = get.parameters as Record<string, unknown>[];
    if (address) address.example = "0x1";
    delete chains?.example;
    delete get.description;
    delete get.security;
  });
  expect(rules).toEqual(
    expect.arrayContaining([
      "redocly no-invalid-parameter-examples",
      "redocly security-defined",
      "spectral operation-description",
      "spectral parameter-example",
    ]),
  );
});
