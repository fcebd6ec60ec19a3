// After a write, reads ask for the newest for a while.
import { expect, it } from "vitest";
import { OwnWrites } from "./own-writes.ts";

it("asks past caches for 15 seconds after each write, and not before", () => {
  let nowMs = 0;
  const writes = new OwnWrites(() => nowMs);
  expect(writes.headers).toEqual({});
  writes.record();
  nowMs += 10_000;
  expect(writes.headers).toEqual({ "cache-control": "no-cache" });
  writes.record();
  nowMs += 14_999;
  expect(writes.headers).toEqual({ "cache-control": "no-cache" });
  nowMs += 1;
  expect(writes.headers).toEqual({});
});
