// One simulated, indexed chain for the whole test run, made when the first file asks for it.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";
import type { HistoryMessage } from "./shared-history-child.ts";
import type { SimulatedHistory, SimulatedHistoryOptions } from "./simulated-history.ts";

// All actions that the simulator has occur in its steps.
const SEED = 41;
const CHILD = fileURLToPath(new URL("./shared-history-child.ts", import.meta.url));

/** Runs after the setup of PostgreSQL. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  let opened: SharedHistory | undefined;
  const open = () => {
    const { postgres: server, migratedTemplate } = project.getProvidedContext();
    opened ??= openSharedHistory({ server, migratedTemplate, seed: SEED });
    return opened;
  };
  const server = createServer((_request, response) => {
    open().history.then(
      (history) => response.end(JSON.stringify(history)),
      (error: Error) => response.writeHead(500).end(error.stack),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  project.provide("sharedHistoryUrl", `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  // A run of everything needs it for certain; most runs are of a few files, which do not need a chain.
  if (process.env.TEST_SHARED_HISTORY === "at once") open();
  return async () => {
    server.close();
    server.closeAllConnections();
    await opened?.close();
  };
}

type SharedHistory = { readonly history: Promise<SimulatedHistory>; close(): Promise<void> };

function openSharedHistory(options: SimulatedHistoryOptions): SharedHistory {
  // As the workers: it collects less often, and leaves the other cores to them.
  const collector = ["--single-threaded-gc", "--max-semi-space-size=64"];
  const child = fork(CHILD, { execArgv: [...collector, "--import", "tsx"] });
  const ended = once(child, "exit");
  const history = receiveHistory(child);
  // Files that ask for it get the failure.
  history.catch(() => undefined);
  child.send(options);
  return {
    history,
    async close() {
      if (await history.catch(() => null)) child.send("close");
      const [code] = await ended;
      if (code !== 0) throw new Error("the process of the shared history failed; its message is above");
    },
  };
}

async function receiveHistory(child: ChildProcess): Promise<SimulatedHistory> {
  const [message] = (await Promise.race([
    once(child, "message"),
    once(child, "exit").then(() => [{ error: "its process has ended" }]),
  ])) as [HistoryMessage];
  if ("error" in message) throw new Error(message.error);
  return message.history;
}
