// Retry-After in both of its forms, and values that are neither.
import { expect, it } from "vitest";
import { parseRetryAfter } from "./retry.ts";

it.each([
  [null, null],
  ["0", 0],
  ["7", 7_000],
  [" 12 ", 12_000],
  ["soon", null],
  ["", null],
  ["Thu, 01 Jan 1970 00:00:00 GMT", 0],
])("parses Retry-After %j as %j milliseconds", (header, ms) => {
  expect(parseRetryAfter(header)).toBe(ms);
});

it("counts an HTTP date in Retry-After from now", () => {
  const ms = parseRetryAfter(new Date(Date.now() + 60_000).toUTCString());
  expect(ms).toBeGreaterThan(50_000);
  expect(ms).toBeLessThanOrEqual(60_000);
});
