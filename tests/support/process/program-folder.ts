// A folder with programs as a reader of the documents has it: their files, the packages, and a strict compiler.
import { copyFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createTestFolder } from "../test-folder.ts";

const CHECKOUT = fileURLToPath(new URL("../../../", import.meta.url));

export async function createProgramFolder(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await createTestFolder();
  await symlink(join(CHECKOUT, "node_modules"), join(folder, "node_modules"));
  for (const name of ["package.json", "tsconfig.json"]) {
    await copyFile(join(CHECKOUT, "examples", name), join(folder, name));
  }
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  return folder;
}
