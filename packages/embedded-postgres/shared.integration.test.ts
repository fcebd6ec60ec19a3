// One embedded server for several processes: the second one joins, and takes over when the first one exits.
// Starts several servers. Every test of main with a database fails if one does not start.
import { describe, expect, it } from "vitest";
import { copyInitialised, openSharedForTest, queryValue, readEventually } from "./testing/test-servers.ts";

describe("openSharedPostgres", { timeout: 90_000 }, () => {
  it("joins a running server, leaves it running, and takes over when its owner stops", async () => {
    const folder = await copyInitialised();
    const first = await openSharedForTest(folder);
    await queryValue(first.connection, "create table notes (body text)");
    const second = await openSharedForTest(folder);
    expect(second.connection).toEqual(first.connection);
    await queryValue(second.connection, "insert into notes values ('from the second')");

    const third = await openSharedForTest(folder);
    await third.stop();
    expect(await queryValue(first.connection, "select body from notes")).toBe("from the second");

    await first.stop();
    expect(await readEventually(() => queryValue(second.connection, "select body from notes"))).toBe(
      "from the second",
    );
    await second.stop();
    await expect(queryValue(second.connection, "select 1")).rejects.toThrow();
  });
});
