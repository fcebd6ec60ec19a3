// Commands as processes: a real signal, and a real pipe whose reader has gone.
// In one process: the signal in watch.test.ts, a broken output in src/cli/main.test.ts.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { EventIndex } from "../api/events/event-index.ts";
import { startTestApi, type TestApi } from "../support/http/test-api.ts";
import { startSextant } from "../support/process/sextant-process.ts";

let index: EventIndex;
let api: TestApi;
beforeAll(async () => {
  index = await EventIndex.open();
  api = await startTestApi(index.database);
});
afterAll(async () => {
  await api?.close();
  await index?.drop();
});
beforeEach(() => index.reset());

function startWatch() {
  const environment = { SEXTANT_API_URL: api.url, SEXTANT_DATA: "/nowhere" };
  return startSextant(["watch", "--from", "0"], { environment });
}

describe("watch", { timeout: 60_000 }, () => {
  it("ends quietly on Ctrl-C", async () => {
    await index.extend([1], 8);
    const { child, ended, waitForOutput } = startWatch();
    await waitForOutput(/Intent #/);
    child.kill("SIGINT");
    const { code, out, err } = await ended;
    expect([code, err, out.split("\n")]).toEqual([0, "", [expect.stringContaining("Intent #"), ""]]);
  });

  it("ends quietly when its reader has gone", async () => {
    await index.extend([1], 8);
    const { child, ended, waitForOutput } = startWatch();
    await waitForOutput(/Intent #/);
    child.stdout?.destroy();
    // The pipe is seen to be broken by the next line.
    await index.extend([1], 8);
    const { code, err } = await ended;
    expect([code, err]).toEqual([0, ""]);
  });
});

describe("list", () => {
  it("ends quietly when its reader has seen enough", async () => {
    await index.extend([3], 8);
    const environment = { SEXTANT_API_URL: api.url };
    const list = startSextant(["list", "intents", "--all", "--json"], { environment });
    // Before it writes anything: the first write fails.
    list.child.stdout?.destroy();
    const { code, err } = await list.ended;
    expect([code, err]).toEqual([0, ""]);
  });
});
