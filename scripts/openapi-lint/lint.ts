// Lints an OpenAPI document with Redocly and Spectral, in this process.
import { createConfig, lintFromString } from "@redocly/openapi-core";
import spectral from "@stoplight/spectral-core";
import type { OpenApiDocument } from "../../src/http/openapi/document.ts";
import { REDOCLY_RULES, SPECTRAL_RULES } from "./rulesets.ts";

/** One line per error or warning in documents by service: the service, and what `lintDocument` says. */
export async function lintDocuments(
  documents: Readonly<Record<string, OpenApiDocument>>,
): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const [service, document] of Object.entries(documents)) {
    for (const problem of await lintDocument(document)) lines.push(`${service}: ${problem}`);
  }
  return lines;
}

/** One line per error or warning: the linter, its rule, the location, and what is wrong. */
export async function lintDocument(document: OpenApiDocument): Promise<readonly string[]> {
  return [...(await lintWithRedocly(document)), ...(await lintWithSpectral(document))];
}

async function lintWithRedocly(document: OpenApiDocument): Promise<string[]> {
  const config = await createConfig(REDOCLY_RULES);
  const problems = await lintFromString({ source: JSON.stringify(document), config });
  return problems.map(({ ruleId, location, message }) => {
    const [place] = location;
    return `redocly ${ruleId} ${place?.pointer ?? ""}: ${message}`;
  });
}

async function lintWithSpectral(document: OpenApiDocument): Promise<string[]> {
  const linter = new spectral.Spectral();
  linter.setRuleset(SPECTRAL_RULES);
  const problems = await linter.run(JSON.stringify(document));
  return problems.map(({ code, path, message }) => `spectral ${code} #/${path.join("/")}: ${message}`);
}
