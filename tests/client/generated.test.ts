// A change of the API reaches the client and the command line: both are generated from the OpenAPI documents.
import { expect, it } from "vitest";
import { listClientOperations } from "../../scripts/client-actions/operations.ts";
import {
  renderActions,
  renderDescriptions,
  renderOperations,
  renderRecords,
} from "../../scripts/client-actions/render.ts";
import { buildServiceDocuments } from "../../scripts/openapi-lint/documents.ts";
import type { OpenApiDocument } from "../../src/http/openapi/document.ts";

type Open<T> = { -readonly [K in keyof T]: Open<T[K]> };

function render(change: (api: Open<OpenApiDocument>) => void): string {
  const documents = structuredClone(buildServiceDocuments());
  const [api, signedApi, portfolio] = [
    documents["indexing API"],
    documents["indexing API with signed writes"],
    documents["portfolio service"],
  ] as [OpenApiDocument, OpenApiDocument, OpenApiDocument];
  change(api as Open<OpenApiDocument>);
  const operations = listClientOperations({ api, signedApi, portfolio });
  const schemas = { ...portfolio.components.schemas, ...api.components.schemas };
  return [
    renderActions(operations),
    renderOperations(operations),
    renderRecords(operations, schemas),
    renderDescriptions(operations, schemas),
  ].join("\n");
}

const NEW_PARAMETER = {
  ...{ name: "region", in: "query" as const, required: false, description: "Where it is.", example: "eu" },
  schema: { type: "string", enum: ["eu", "us"] },
};

it("shows a new parameter, record, field and operation, and what was removed is gone", () => {
  const before = render(() => undefined);
  const after = render(({ paths, components }) => {
    const { get } = paths["/solvers"] as { get: Open<OpenApiDocument["paths"][string][string]> };
    get.parameters.push(NEW_PARAMETER);
    get.summary = "Those who fill intents";
    const agent = components.schemas.Agent as { properties: Record<string, unknown> };
    agent.properties.nickname = { type: "string", description: "What it is called." };
    (components.schemas.Solver as { required: string[] }).required.push("rank");
    const solver = components.schemas.Solver as { properties: Record<string, unknown> };
    solver.properties.rank = { type: "string", enum: ["HIGH", "LOW"] };
    paths["/helpers/{id}"] = { get: { ...structuredClone(get), operationId: "listHelpers" } };
    delete paths["/attestors"];
  });
  for (const text of [
    'region?: "eu" | "us";',
    "Those who fill intents.",
    "nickname?: string;",
    "listHelpers(",
    // The parts that the command line shows: a filter, the summary of a list, a column.
    '{"name":"region","required":false,"description":"Where it is.","type":"string","values":["eu","us"]',
    '"kind":"list","summary":"Those who fill intents"',
    '{"name":"rank","isState":true}',
  ]) {
    expect([before.includes(text), after.includes(text)], text).toEqual([false, true]);
  }
  expect([before.includes("listAttestors"), after.includes("listAttestors")]).toEqual([true, false]);
});

it("knows what is signed, paid, a list, a document and a read", () => {
  const kinds = Object.fromEntries(
    [...render(() => undefined).matchAll(/^ {2}(\w+): \{.*?"kind":"(\w+)"/gm)].map(([, id, kind]) => [
      id,
      kind,
    ]),
  );
  expect(kinds).toMatchObject({
    ...{ getAgent: "read", preflight: "read", listIntents: "list", getCatalog: "document" },
    ...{ publishCatalog: "write", putIntentMetadata: "signed", publishAttestationSchema: "signed" },
    getPortfolio: "paid",
  });
});
