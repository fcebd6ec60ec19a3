// Start errors: the code and the reason come from the output of initdb or the server, which stays as the cause.
import { describe, expect, it } from "vitest";
import { createStartError } from "./errors.ts";

describe("createStartError", () => {
  it("reports a full disk", () => {
    const error = createStartError(
      "initialised",
      "/data",
      'initdb: error: could not write file "/data/x": No space left on device\n',
    );
    expect(error.code).toBe("DATABASE_FULL");
    expect(error.message).toBe("The disk that holds /data is full; free some space and start again.");
    expect((error.cause as Error).message).toContain("No space left on device");
  });

  it("reports the first fatal line, with the last lines as the cause", () => {
    const output = [
      ...Array.from({ length: 40 }, (_, index) => `LOG:  line ${index}`),
      '2026-01-01 UTC [7] FATAL:  data directory "/data" has wrong ownership',
      "HINT:  The server must be started by the user that owns the data directory.",
    ].join("\n");
    const error = createStartError("started", "/data", output);
    expect(error.code).toBe("DATABASE_START_FAILED");
    expect(error.message).toBe(
      'The embedded database in /data could not be started: data directory "/data" has wrong ownership.',
    );
    expect((error.cause as Error).message.split("\n")).toHaveLength(15);
  });

  it("creates one sentence without any output", () => {
    expect(createStartError("started", "/data", "").message).toBe(
      "The embedded database in /data could not be started.",
    );
  });
});
