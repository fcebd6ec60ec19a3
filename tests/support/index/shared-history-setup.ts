// One simulated, indexed chain for the whole test run, made when the first file asks for it.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestProject } from "vitest/node";
import type { simulateHistory } from "./simulated-history.ts";

// All actions that the simulator has occur in its steps.
const SEED = 41;

/** Runs after the setup of PostgreSQL. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  let opened: ReturnType<typeof simulateHistory> | undefined;
  const open = async () => {
    const { postgres: server, migratedTemplate } = project.getProvidedContext();
    // Most runs are of a few files, which do not need a chain.
    const module = await import("./simulated-history.ts");
    return module.simulateHistory({ server, migratedTemplate, seed: SEED });
  };
  const server = createServer((_request, response) => {
    opened ??= open();
    opened.then(
      ({ history }) => response.end(JSON.stringify(history)),
      (error: Error) => response.writeHead(500).end(error.stack),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  project.provide("sharedHistoryUrl", `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return async () => {
    server.close();
    server.closeAllConnections();
    // One that could not be made has failed the files that asked for it.
    const made = await opened?.catch(() => undefined);
    await made?.close();
  };
}
