// The example of each paid response is valid by its schema, and would not be with a key more or less.
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, it } from "vitest";
import { portfolioDiffSchema } from "./diff.ts";
import { exampleDiff, exampleExposure, exampleSimulation, exampleSnapshot } from "./examples.ts";
import { exposureSchema } from "./exposure.ts";
import { simulationSchema } from "./simulation.ts";
import { portfolioSnapshotSchema } from "./snapshot.ts";

const ajv = new Ajv2020({ strict: false, validateFormats: false });

it.each([
  ["a snapshot", portfolioSnapshotSchema, exampleSnapshot],
  ["an exposure", exposureSchema, exampleExposure],
  ["a difference", portfolioDiffSchema, exampleDiff],
  ["a simulation", simulationSchema, exampleSimulation],
] as const)("the example of %s is valid by its schema", (_name, schema, example) => {
  const isValid = ajv.compile(schema);
  expect(isValid(example), ajv.errorsText(isValid.errors)).toBe(true);
  const [, ...others] = Object.entries(example);
  const incomplete = Object.fromEntries(others);
  expect([isValid(incomplete), isValid({ ...example, surprise: 1 })]).toEqual([false, false]);
});
