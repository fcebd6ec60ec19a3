// Server folders: relocation out of a folder that only root can enter, and the error for an unusable folder.
import { chmod, mkdir, readlink, stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createTestFolder } from "../../tests/support/test-folder.ts";
import { prepareServerFolders } from "./server-folders.ts";
import { silentLogger } from "./testing/silent-log.ts";

const isRoot = process.getuid?.() === 0;

describe("prepareServerFolders", () => {
  it.runIf(isRoot)("moves data out of a folder that only root can enter, and finds it again", async () => {
    const outside = await createTestFolder();
    const closed = join(outside, "closed");
    await mkdir(closed, { mode: 0o700 });
    const folders = await prepareServerFolders(join(closed, "data"), silentLogger, join(outside, "lib"));
    expect(folders.folder.startsWith(join(outside, "lib"))).toBe(true);
    expect(await readlink(join(closed, "data", "data"))).toBe(folders.dataFolder);
    expect(folders.account).toMatchObject({ uid: 65_534 });

    // The data stays where it is even when the requested folder becomes accessible.
    await chmod(closed, 0o755);
    const again = await prepareServerFolders(join(closed, "data"), silentLogger, join(outside, "elsewhere"));
    expect(again.folder).toBe(folders.folder);
    expect((await stat(again.socketFolder)).mode & 0o777).toBe(0o700);
  });

  it("explains that a folder cannot be created", async () => {
    await expect(prepareServerFolders("/proc/version/data", silentLogger)).rejects.toMatchObject({
      code: "DATABASE_START_FAILED",
      message: expect.stringContaining("/proc/version/data cannot be used"),
    });
  });
});
