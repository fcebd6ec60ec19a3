// A `sextant` command that ends by itself, run to its end.
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const BIN = fileURLToPath(new URL("../../../bin/sextant.mjs", import.meta.url));
// An audit of half an hour's economy takes seconds; one that hangs must not hold up the summary.
const RUN_MS_MAX = 300_000;

export function runSextant(
  args: readonly string[],
  options: { readonly environment: Readonly<Record<string, string>>; readonly folder: string },
): Promise<{ readonly code: number | null; readonly out: string; readonly err: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [BIN, ...args], {
      cwd: options.folder,
      env: { PATH: process.env.PATH ?? "", HOME: options.folder, ...options.environment },
      stdio: ["ignore", "pipe", "pipe"],
      timeout: RUN_MS_MAX,
      killSignal: "SIGKILL",
    });
    let out = "";
    let err = "";
    child.stdout.on("data", (chunk: Buffer) => {
      out += chunk.toString("utf8");
    });
    child.stderr.on("data", (chunk: Buffer) => {
      err += chunk.toString("utf8");
    });
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, out, err }));
  });
}
