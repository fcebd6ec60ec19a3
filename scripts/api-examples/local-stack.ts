// A local run of everything with a fixed seed that stands still, on a port the system chose.
import { spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

export type LocalStack = { readonly url: string; stop(): Promise<void> };

const BIN = fileURLToPath(new URL("../../bin/sextant.mjs", import.meta.url));
// A cold machine needs some ten seconds to start a chain and a database and to play the economy.
const START_MS_MAX = 120_000;
const LOOK_MS = 200;

export async function startLocalStack(folder: string): Promise<LocalStack> {
  const child = spawn(process.execPath, [BIN, "local", "--no-traffic", "--seed", "1"], {
    cwd: folder,
    env: {
      PATH: process.env.PATH ?? "",
      HOME: folder,
      API_PORT: "0",
      PORTFOLIO_PORT: "0",
      FACILITATOR_PORT: "0",
      SEXTANT_DATA: folder,
      SEXTANT_REQUESTS_PER_MINUTE: "0",
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise<void>((resolve) => child.on("close", () => resolve()));
  const stop = async () => {
    child.kill("SIGTERM");
    await ended;
  };
  let said = "";
  child.stdout.on("data", (chunk: Buffer) => {
    said += chunk.toString();
  });
  const until = Date.now() + START_MS_MAX;
  while (child.exitCode === null && Date.now() < until) {
    const url = /Indexing API\s+(http:\/\/[\w.]+:\d+)/.exec(said)?.[1];
    const ready = url && (await fetch(`${url}/ready`).catch(() => null));
    if (url && ready && ready.status === 200) return { url, stop };
    await sleep(LOOK_MS);
  }
  await stop();
  throw new Error(`the local run did not get ready: ${said}`);
}
