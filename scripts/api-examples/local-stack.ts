// A local run of all services without traffic, with a fixed seed and free ports.
import { spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

type LocalStack = { readonly url: string; stop(): Promise<void> };

const BIN = fileURLToPath(new URL("../../bin/sextant.mjs", import.meta.url));
// A cold machine needs some ten seconds to start a chain and a database and to run the simulator.
const START_MS_MAX = 120_000;
const POLL_MS = 200;

/** `program` is the command, by default as it is in the sources. */
export async function startLocalStack(folder: string, program = BIN): Promise<LocalStack> {
  const child = spawn(process.execPath, [program, "local", "--no-traffic", "--seed", "1"], {
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
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => {
    output += chunk.toString();
  });
  const until = Date.now() + START_MS_MAX;
  while (child.exitCode === null && Date.now() < until) {
    const url = /Indexing API\s+(http:\/\/[\w.]+:\d+)/.exec(output)?.[1];
    const ready = url && (await fetch(`${url}/ready`).catch(() => null));
    if (url && ready && ready.status === 200) return { url, stop };
    await sleep(POLL_MS);
  }
  await stop();
  throw new Error(`the local run did not become ready: ${output}`);
}
