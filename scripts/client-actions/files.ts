// The generated files of packages/client and of the command line, and which of them are out of date.
import { existsSync, readFileSync } from "node:fs";
import { FAULTS } from "../../src/lib/fault.ts";
import { buildServiceDocuments } from "../openapi-lint/documents.ts";
import { listClientOperations } from "./operations.ts";
import {
  renderActions,
  renderDescriptions,
  renderFaultCodes,
  renderOperations,
  renderRecords,
} from "./render.ts";
import { renderToolList } from "./tool-list.ts";

const FOLDER = "packages/client/generated";

/** Text by path. */
export function renderClientFiles(): Readonly<Record<string, string>> {
  const documents = buildServiceDocuments();
  const find = (name: string) => {
    const document = documents[name];
    if (document === undefined) throw new Error(`there is no document of the ${name}`);
    return document;
  };
  const [api, signedApi, portfolio] = [
    find("indexing API"),
    find("indexing API with signed writes"),
    find("portfolio service"),
  ];
  const operations = listClientOperations({ api, signedApi, portfolio });
  const schemas = { ...portfolio.components.schemas, ...api.components.schemas };
  return {
    [`${FOLDER}/records.ts`]: renderRecords(operations, schemas),
    [`${FOLDER}/operations.ts`]: renderOperations(operations),
    [`${FOLDER}/actions.ts`]: renderActions(operations),
    [`${FOLDER}/service-codes.ts`]: renderFaultCodes(FAULTS),
    "src/cli/generated/api-description.ts": renderDescriptions(operations, schemas),
    "src/cli/generated/tool-list.ts": renderToolList(),
  };
}

/** The problem with the files on disk, or null. */
export function findStaleClientFiles(): string | null {
  const stale = Object.entries(renderClientFiles())
    .filter(([path, text]) => !existsSync(path) || readFileSync(path, "utf8") !== text)
    .map(([path]) => path);
  return stale.length === 0
    ? null
    : `${stale.join(", ")} differ from the OpenAPI documents; run \`npm run client:actions\`.`;
}
