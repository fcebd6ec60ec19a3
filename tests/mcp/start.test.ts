// The start of `sextant mcp`: an agent waits for it in each session, so that only calls load what calls need.
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { expect, it } from "vitest";
import { readClientConfig } from "../../src/cli/client-config.ts";
import { DeferredCalls } from "../../src/cli/commands/mcp.ts";
import { createTestFolder } from "../support/test-folder.ts";

const COMMAND = "src/cli/commands/mcp.ts";
// Below a twentieth of what calls load.
const MODULES_MAX = 45;

/** The modules that a start loads: ours by path, packages by name. */
async function listStartModules(): Promise<{ readonly own: Set<string>; readonly packages: Set<string> }> {
  const { metafile } = await build({
    ...{ entryPoints: [COMMAND], absWorkingDir: fileURLToPath(new URL("../../", import.meta.url)) },
    ...{ bundle: true, write: false, outdir: "out", format: "esm", platform: "node", packages: "external" },
    ...{ metafile: true, splitting: true, logLevel: "silent" },
  });
  const [own, packages] = [new Set<string>(), new Set<string>()];
  const visit = (path: string): void => {
    if (own.has(path)) return;
    own.add(path);
    for (const { path: imported, kind, external } of metafile.inputs[path]?.imports ?? []) {
      if (kind !== "import-statement") continue;
      if (!external) visit(imported);
      else if (!imported.startsWith("node:")) packages.add(imported);
    }
  };
  visit(COMMAND);
  return { own, packages };
}

it("loads the library of the protocol and few modules of ours before the first call", async () => {
  const { own, packages } = await listStartModules();
  expect([...packages].sort()).toEqual([
    "@modelcontextprotocol/server",
    "@modelcontextprotocol/server/stdio",
  ]);
  expect(own.size).toBeGreaterThan(10);
  expect(own.size).toBeLessThan(MODULES_MAX);
});

it("tells a call why the journal cannot be opened, and opens it for the next call", async () => {
  const folder = await createTestFolder();
  const journal = join(folder, "payments.jsonl");
  await mkdir(journal);
  const environment = {
    ...{ HOME: folder, SEXTANT_DATA: join(folder, "data"), SEXTANT_JOURNAL: journal },
    ...{ SEXTANT_API_URL: "http://127.0.0.1:1", SEXTANT_PAYER_KEY: `0x${"07".repeat(32)}` },
  };
  const calls = new DeferredCalls(readClientConfig(environment), environment);
  // Loads modules only: an agent that calls no tool needs no journal.
  await calls.preload();
  await expect(calls.describe({ name: "get_intent" })).rejects.toThrow(
    "The journal cannot be read or written",
  );
  await rm(journal, { recursive: true });
  const { content } = await calls.describe({ name: "get_intent" });
  expect(content).toMatchObject([{ text: expect.stringContaining("id: integer, required. Intent id.") }]);
  await calls.close();
});
