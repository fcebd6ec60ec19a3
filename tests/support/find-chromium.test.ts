// Chromium is found on the path, or reported as missing.
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { expect, it } from "vitest";
import { findChromium } from "./find-chromium.ts";

it("finds executable files only", async () => {
  const folder = await mkdtemp(join(tmpdir(), "sextant-path-"));
  const file = join(folder, "chromium-browser");
  try {
    expect(findChromium(folder)).toBeNull();
    await writeFile(file, "");
    await chmod(file, 0o644);
    expect(findChromium(folder)).toBeNull();
    await chmod(file, 0o755);
    expect(findChromium(["/nowhere", folder].join(delimiter))).toBe(file);
  } finally {
    await rm(folder, { recursive: true });
  }
});
