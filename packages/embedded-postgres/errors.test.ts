// What initdb and the server say becomes one sentence, and their own words stay with it.
import { describe, expect, it } from "vitest";
import { createStartError } from "./errors.ts";

describe("a server that does not start", () => {
  it("has a full disk when it says so", () => {
    const fault = createStartError(
      "initialised",
      "/data",
      'initdb: error: could not write file "/data/x": No space left on device\n',
    );
    expect(fault.code).toBe("DATABASE_FULL");
    expect(fault.message).toBe("The disk that holds /data is full; free some space and start again.");
    expect((fault.cause as Error).message).toContain("No space left on device");
  });

  it("tells its first fatal line, and keeps the last ones as the cause", () => {
    const output = [
      ...Array.from({ length: 40 }, (_, index) => `LOG:  line ${index}`),
      '2026-01-01 UTC [7] FATAL:  data directory "/data" has wrong ownership',
      "HINT:  The server must be started by the user that owns the data directory.",
    ].join("\n");
    const fault = createStartError("started", "/data", output);
    expect(fault.code).toBe("DATABASE_START_FAILED");
    expect(fault.message).toBe(
      'The embedded database in /data could not be started: data directory "/data" has wrong ownership.',
    );
    expect((fault.cause as Error).message.split("\n")).toHaveLength(15);
  });

  it("is still one sentence when it said nothing", () => {
    expect(createStartError("started", "/data", "").message).toBe(
      "The embedded database in /data could not be started.",
    );
  });
});
