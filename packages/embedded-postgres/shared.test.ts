// One embedded server for several processes: the second one joins, and takes over when the first one exits.
import { describe, expect, it, onTestFinished } from "vitest";
import { openSharedPostgres, type SharedPostgres } from "./shared.ts";
import { silentLogger as log } from "./testing/silent-log.ts";
import { queryValue, readEventually, useInitialisedFolder } from "./testing/test-servers.ts";

const copyInitialisedFolder = useInitialisedFolder();

async function open(folder: string): Promise<SharedPostgres> {
  const server = await openSharedPostgres({ folder, log, durability: "none" });
  onTestFinished(() => server.stop());
  return server;
}

describe("openSharedPostgres", { timeout: 90_000 }, () => {
  it("joins a running server, leaves it running, and takes over when its owner stops", async () => {
    const folder = await copyInitialisedFolder();
    const first = await open(folder);
    await queryValue(first.connection, "create table notes (body text)");
    const second = await open(folder);
    expect(second.connection).toEqual(first.connection);
    await queryValue(second.connection, "insert into notes values ('from the second')");

    const third = await open(folder);
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
