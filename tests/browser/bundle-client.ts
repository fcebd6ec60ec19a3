// The client's package as a page loads it.
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { buildClientPackage } from "../../scripts/client-package/build.ts";
import { findFastFolder } from "../support/test-folder.ts";

const CHECKOUT = fileURLToPath(new URL("../../", import.meta.url));
const ENTRY = `
  export * from "@sextant-index/client";
  export { privateKeyToAccount } from "viem/accounts";
`;

/** The compiler blocks the process, which a busy machine does for a minute: bundle in `beforeAll`, with this limit. */
export const BUNDLE_MS_MAX = 300_000;

let bundled: Promise<string> | undefined;

/** Bundles the package for a page, once for all files of a worker; fails if the package needs anything of Node. */
export function bundleClient(): Promise<string> {
  bundled ??= bundle();
  return bundled;
}

async function bundle(): Promise<string> {
  const folder = await mkdtemp(join(findFastFolder(), "sextant-client-"));
  try {
    const modules = join(folder, "node_modules");
    mkdirSync(join(modules, "@sextant-index"), { recursive: true });
    buildClientPackage(join(modules, "@sextant-index/client"));
    symlinkSync(join(CHECKOUT, "node_modules/viem"), join(modules, "viem"));
    writeFileSync(join(folder, "entry.js"), ENTRY);
    const bundler = join(CHECKOUT, "node_modules/.bin/esbuild");
    const args = ["entry.js", "--bundle", "--format=esm", "--platform=browser", "--outfile=client.js"];
    const { status, stderr } = spawnSync(bundler, args, { cwd: folder, encoding: "utf8" });
    expect([status, stderr]).toEqual([0, expect.any(String)]);
    return readFileSync(join(folder, "client.js"), "utf8");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
