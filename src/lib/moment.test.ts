// Points in time as people write them, and texts that only look like one.
import { describe, expect, it } from "vitest";
import { formatMoment, isMoment, parseMoment } from "./moment.ts";

const NOW = Date.parse("2026-11-18T09:00:00.500Z");

describe("a point in time", () => {
  it.each([
    ["30m", "2026-11-18T08:30:00Z"],
    ["12h", "2026-11-17T21:00:00Z"],
    ["7d", "2026-11-11T09:00:00Z"],
    ["2w", "2026-11-04T09:00:00Z"],
    ["0m", "2026-11-18T09:00:00Z"],
    ["2026-11-10", "2026-11-10T00:00:00Z"],
    ["2026-11-10T12:00Z", "2026-11-10T12:00:00Z"],
    ["2026-11-10T12:00:30.9Z", "2026-11-10T12:00:30Z"],
    ["2026-11-10T12:00+02:00", "2026-11-10T10:00:00Z"],
    ["2026-11-10t12:00z", "2026-11-10T12:00:00Z"],
    ["2026-11-10 12:00Z", "2026-11-10T12:00:00Z"],
    ["2024-02-29", "2024-02-29T00:00:00Z"],
  ])("reads %s as %s", (text, expected) => {
    expect(isMoment(text)).toBe(true);
    expect(formatMoment(parseMoment(text, "at", NOW))).toBe(expected);
  });

  it.each([
    "2026-02-30",
    "2026-13-01",
    "2026-11-10T12:00",
    "2026-11-10 12:00",
    "2026-11",
    "1y",
    "",
    "base:1",
  ])("rejects %j with an error that says what to write", (text) => {
    expect(() => parseMoment(text, "at", NOW)).toThrow(
      /^at must be a time such as 7d .*, 2026-11-17 \(its first second in UTC\) or 2026-11-17T12:00Z\.$/,
    );
  });

  it.each(["2026-11-19", "2026-11-18T09:00:01Z"])("rejects %s, which is in the future", (text) => {
    expect(() => parseMoment(text, "from", NOW)).toThrow(
      "from is in the future: it is 2026-11-18T09:00:00Z now.",
    );
  });

  it.each(["base:1", "7", "d", `${"1".repeat(64)}`])("does not take %j for one", (text) => {
    expect(isMoment(text)).toBe(false);
  });
});
