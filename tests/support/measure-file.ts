// Measures each test file: processor seconds of its worker, and what starting its chains and databases took.
import { channel } from "node:diagnostics_channel";
import { afterAll } from "vitest";
import { readProcessorSeconds } from "../../scripts/testing/processor-time.ts";

declare module "vitest" {
  interface TaskMeta {
    cost?: FileCost;
  }
}

type FileCost = {
  readonly processorSeconds: number;
  /** Seconds until its chains and databases were there; the databases' processor time is spent in their server. */
  readonly startUpSeconds: number;
};

// Published by the packages that start chains and databases, and by test-database.ts.
const START_UP = "sextant:start-up";

// Runs again for each file, before its imports.
const before = readProcessorSeconds();
let startUpSeconds = 0;
const addStartUp = (message: unknown) => {
  startUpSeconds += (message as { readonly seconds: number }).seconds;
};
channel(START_UP).subscribe(addStartUp);

// The first hook that is registered is the last that runs: the hooks of the file count as well.
// biome-ignore lint/correctness/noEmptyPattern: vitest reads the wanted fixtures from the pattern.
afterAll(({}, file) => {
  channel(START_UP).unsubscribe(addStartUp);
  file.meta.cost = { processorSeconds: readProcessorSeconds() - before, startUpSeconds };
});
