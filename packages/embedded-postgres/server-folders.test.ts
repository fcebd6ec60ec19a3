// Where a server may live when it is started by root in a folder that only root can enter, and what is refused.
import { chmod, mkdir, readlink, stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createLog } from "../../src/lib/log.ts";
import { createTestFolder } from "../../tests/support/test-folder.ts";
import { prepareServerFolders } from "./server-folders.ts";

const log = createLog({ level: "silent", terminal: false, name: "test" });
const isRoot = process.getuid?.() === 0;

describe("a server's home", () => {
  it.runIf(isRoot)("moves out of a folder that only root can enter, and is found there again", async () => {
    const outside = await createTestFolder();
    const closed = join(outside, "closed");
    await mkdir(closed, { mode: 0o700 });
    const home = await prepareServerFolders(join(closed, "data"), log, join(outside, "lib"));
    expect(home.folder.startsWith(join(outside, "lib"))).toBe(true);
    expect(await readlink(join(closed, "data", "data"))).toBe(home.dataFolder);
    expect(home.account).toMatchObject({ uid: 65_534 });

    // Even when the folder becomes reachable later, the data is where it was put.
    await chmod(closed, 0o755);
    const again = await prepareServerFolders(join(closed, "data"), log, join(outside, "elsewhere"));
    expect(again.folder).toBe(home.folder);
    expect((await stat(again.socketFolder)).mode & 0o777).toBe(0o700);
  });

  it("is refused with a sentence when the folder can not be made", async () => {
    await expect(prepareServerFolders("/proc/version/data", log)).rejects.toMatchObject({
      code: "DATABASE_START_FAILED",
      message: expect.stringContaining("/proc/version/data can not be used"),
    });
  });
});
