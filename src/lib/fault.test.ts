// The fault table is usable by HTTP and by processes, and wrapping keeps the cause without showing it.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { FAULTS, Fault, type FaultCode, toFault } from "./fault.ts";

describe("faults", () => {
  it.each(Object.keys(FAULTS) as FaultCode[])("%s has a sane status, exit code and sentence", (code) => {
    const { status, exit, description, retry } = FAULTS[code];
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(600);
    expect(exit).toBeGreaterThan(0);
    expect(exit).toBeLessThan(126);
    expect(description).toMatch(/^[A-Z].*\.$/);
    // A client that made a mistake must not retry, except when the request was only too frequent or too early.
    if (retry) expect([408, 409, 425, 429, 503]).toContain(status);
  });

  it("has a line in docs/faults.md for each fault, as the table has it", () => {
    const lines = readFileSync("docs/faults.md", "utf8").split("\n");
    const expected = Object.entries(FAULTS).map(
      ([code, { status, exit, retry, description }]) =>
        `- \`${code}\` (${status}, exit ${exit}${retry ? ", retry" : ""}): ${description}`,
    );
    expect(lines.filter((line) => line.startsWith("- `"))).toEqual(expected);
  });

  it("carries its row and its cause", () => {
    const cause = new Error("socket hang up");
    const fault = new Fault("DATABASE_UNREACHABLE", "The database does not respond.", { cause });
    expect(fault).toMatchObject({ status: 503, retry: true, exit: 69, cause, name: "Fault" });
  });

  it("wraps what is not ours without repeating its text", () => {
    const wrapped = toFault(new Error("password hunter2 rejected"));
    expect(wrapped.code).toBe("INTERNAL");
    expect(wrapped.message).not.toContain("hunter2");
    expect((wrapped.cause as Error).message).toContain("hunter2");
    expect(toFault(wrapped)).toBe(wrapped);
  });
});
