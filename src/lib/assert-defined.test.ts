// Missing values are named; every other value is returned, falsy ones too.
import { expect, it } from "vitest";
import { assertDefined } from "./assert-defined.ts";

it.each([null, undefined])("names what is missing when given %s", (missing) => {
  expect(() => assertDefined(missing, "the last block")).toThrow("the last block is missing");
});

it.each([0, "", false, 0n, Number.NaN])("returns %s", (value) => {
  expect(assertDefined(value, "a value")).toBe(value);
});
