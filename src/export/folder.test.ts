// A file that another process has deleted before it had its name is reported as such, and others' files stay.
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createTestFolder } from "../../tests/support/test-folder.ts";
import { deleteOwnPartials, partialPath, publishFile } from "./folder.ts";

it("names the other process if a file is gone before it has its name", async () => {
  const path = join(await createTestFolder(), "1-20.parquet");
  await expect(publishFile(path)).rejects.toMatchObject({
    code: "DATABASE_BUSY",
    message: expect.stringContaining("another process exports into this folder, from another database"),
  });
  await writeFile(partialPath(path), "");
  await publishFile(path);
});

it("deletes after a failure what this process was writing, and nothing else", async () => {
  const folder = await createTestFolder();
  const kept = ["manifest.json", "manifest.json.elsewhere-7.partial", "notes.txt"];
  for (const name of [...kept, partialPath("manifest.json"), partialPath("notes.txt")])
    await writeFile(join(folder, name), "");
  await deleteOwnPartials(folder, ["logs"]);
  expect((await readdir(folder)).sort()).toEqual([...kept, partialPath("notes.txt")].sort());
});
