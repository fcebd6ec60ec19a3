// `sextant api` as a process: it starts on an empty database, says that it waits for an indexer, and ends on a signal.
// `npm test` ends a command by a signal in tests/cli/watch.test.ts.
import { expect, it } from "vitest";
import {
  CHECKOUT,
  createDatabaseEnvironment,
  startSextant,
} from "../../tests/support/process/sextant-process.ts";
import { createTestFolder } from "../../tests/support/test-folder.ts";

it.each<NodeJS.Signals>(["SIGTERM", "SIGINT"])(
  "exits with 0 on %s",
  async (signal) => {
    const { environment, drop } = await createDatabaseEnvironment();
    const { child, ended, waitForOutput } = startSextant(["api"], {
      // As users start it.
      checkout: CHECKOUT,
      environment: { ...environment, API_PORT: "0" },
      cwd: await createTestFolder(),
    });
    const pattern = /"event":"api_listening","url":"(http:[^"]+)"/;
    const url = pattern.exec(await waitForOutput(pattern))?.[1];
    const health = await fetch(`${url}/health`);
    expect([health.status, await health.json()]).toEqual([200, { status: "ok" }]);
    const ready = await fetch(`${url}/ready`);
    expect([ready.status, await ready.json()]).toEqual([
      503,
      { error: "No indexer has written to this database yet; start `sextant indexer`." },
    ]);
    const started = Date.now();
    child.kill(signal);
    expect((await ended).code).toBe(0);
    expect(Date.now() - started).toBeLessThan(10_000);
    await drop();
  },
  120_000,
);
