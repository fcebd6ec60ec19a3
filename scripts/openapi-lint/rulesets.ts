// The rules for our OpenAPI documents: what the linters recommend, less what does not apply, and rules of our own.
import type { RawUniversalConfig } from "@redocly/openapi-core";
import type { RuleDefinition, RulesetDefinition } from "@stoplight/spectral-core";
import { defined } from "@stoplight/spectral-functions";
import { oas } from "@stoplight/spectral-rulesets";

/** Redocly: its recommended rules, and that examples have the form that their schemas describe. */
export const REDOCLY_RULES: RawUniversalConfig = {
  extends: ["recommended"],
  rules: {
    "no-invalid-media-type-examples": "error",
    "no-invalid-parameter-examples": "error",
    "no-invalid-schema-examples": "error",
    // /intents/{id}/metadata and /intents/metadata/{intentHash} are given by the specification. They cannot be
    // confused: an id has digits only, and routers prefer the literal segment.
    "no-ambiguous-paths": "off",
  },
};

// The packages disagree about their own types.
const RECOMMENDED = oas as unknown as RulesetDefinition & { rules: Record<string, RuleDefinition> };

// Redocly validates the examples of bodies, parameters and schemas, and finds all that Spectral finds in them. Validating
// them a second time took two thirds of Spectral's time, so Spectral validates only what Redocly leaves out: the examples
// of headers, and default values.
const HAS_EXAMPLE = "@ && @.schema && (@.example !== void 0 || @.examples)";
const HAS_DEFAULT =
  "@property !== 'properties' && @ && @.default !== void 0 && (@.enum || @.type || @.format || @.$ref || @.properties || @.items)";

/** Spectral: its recommended rules for OpenAPI, and that everything a reader fills in has an example and a description. */
export const SPECTRAL_RULES: RulesetDefinition = {
  extends: [[RECOMMENDED, "recommended"]],
  rules: {
    "oas3-valid-media-example": {
      ...recommendedRule("oas3-valid-media-example"),
      given: [`$..headers..[?(${HAS_EXAMPLE})]`],
    },
    "oas3-valid-schema-example": {
      ...recommendedRule("oas3-valid-schema-example"),
      given: ["$.components.schemas", "$..content", "$..headers", "$..parameters"].map(
        (place) => `${place}..[?(${HAS_DEFAULT})]`,
      ),
    },
    "tag-description": "warn",
    "oas3-parameter-description": "warn",
    "parameter-example": {
      description: "Every parameter has an example.",
      given: "$.paths[*][*].parameters[*]",
      severity: "warn",
      // biome-ignore lint/suspicious/noThenProperty: the name is Spectral's, and nothing awaits a rule.
      then: { field: "example", function: defined },
    },
    "request-body-example": {
      description: "Every request body has an example.",
      given: "$.paths[*][*].requestBody.content[*]",
      severity: "warn",
      // biome-ignore lint/suspicious/noThenProperty: the name is Spectral's, and nothing awaits a rule.
      then: { field: "example", function: defined },
    },
  },
};

function recommendedRule(name: string): RuleDefinition {
  const rule = RECOMMENDED.rules[name];
  if (rule === undefined) throw new Error(`Spectral no longer has the rule ${name}`);
  return rule;
}
