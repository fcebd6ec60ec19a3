// The example of each paid response is valid by its schema, and would not be with a key more or less.
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, it } from "vitest";
import { portfolioDiffSchema } from "./diff.ts";
import { exampleDiff, exampleExposure, exampleSnapshot } from "./examples.ts";
import { exposureSchema } from "./exposure.ts";
import { portfolioSnapshotSchema } from "./snapshot.ts";

const ajv = new Ajv2020({ strict: false, validateFormats: false });

it.each([
  ["a snapshot", portfolioSnapshotSchema, exampleSnapshot],
  ["an exposure", exposureSchema, exampleExposure],
  ["a difference", portfolioDiffSchema, exampleDiff],
] as const)("the example of %s is valid by its schema", (_name, schema, example) => {
  const isValid = ajv.compile(schema);
  expect(isValid(example), ajv.errorsText(isValid.errors)).toBe(true);
  const { address: _, ...incomplete } = example;
  expect([isValid(incomplete), isValid({ ...example, surprise: 1 })]).toEqual([false, false]);
});
