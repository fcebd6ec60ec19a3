// A shared server whose owner is killed. shared.integration.test.ts takes over from an owner that stops.
import { describe, expect, it } from "vitest";
import {
  copyInitialised,
  openSharedForTest,
  queryValue,
  readEventually,
  startServerChild,
} from "./testing/test-servers.ts";

describe("openSharedPostgres", { timeout: 90_000 }, () => {
  it("takes over in exactly one of the joined processes when the owner is killed", async () => {
    const folder = await copyInitialised();
    const child = startServerChild(folder);
    await child.next();
    const others = await Promise.all([openSharedForTest(folder), openSharedForTest(folder)]);
    await queryValue(others[0].connection, "create table notes (body text)");
    await queryValue(others[0].connection, "insert into notes values ('stored')");
    child.kill("SIGKILL");
    await child.exited;
    for (const { connection } of others) {
      expect(await readEventually(() => queryValue(connection, "select body from notes"))).toBe("stored");
    }
    // Both use the same server: what one writes the other reads.
    await readEventually(() => queryValue(others[0].connection, "update notes set body = 'seen'"));
    expect(await readEventually(() => queryValue(others[1].connection, "select body from notes"))).toBe(
      "seen",
    );
  });
});
