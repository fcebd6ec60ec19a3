// Every service runs, one indexer writes and one stands by, and both APIs serve the head of the chain.

import type { ManagedProcess } from "../services/managed-process.ts";
import { requestOnce, waitUntilReady } from "../services/services.ts";
import { waitUntil } from "../wait.ts";
import type { E2eCheck } from "./check.ts";

const SYNC_MS_MAX = 90_000;
const WORDS_MAX = 1_500;

export const syncedCheck: E2eCheck = {
  name: "services are level with the chain",
  async run({ protocol, services }) {
    const head = await protocol.head();
    for (const api of services.apis) {
      let seen = "nothing";
      await waitUntil(
        async () => {
          const { headers } = await requestOnce(api, "/analytics/commerce");
          seen = `block ${headers["x-indexed-block"]}`;
          return headers["x-indexed-block-hash"] === head.hash;
        },
        {
          msMax: SYNC_MS_MAX,
          late: () =>
            `${api.name} is at ${seen}, the chain at block ${head.number}; ${lastWords(services.indexers)}`,
        },
      );
    }
    let states: readonly number[] = [];
    await waitUntil(
      async () => {
        states = await Promise.all(
          services.indexers.map(async (each) => (await requestOnce(each, "/ready")).status),
        );
        return states.toSorted().join() === "200,503";
      },
      { msMax: SYNC_MS_MAX, late: () => `the indexers report ${states.join(" and ")} at /ready` },
    );
    for (const each of services.serving) await waitUntilReady(each);
    return `block ${head.number}, ${services.all.length} processes`;
  },
};

/** The only trace of a failure: the processes are gone by the time it is read. */
function lastWords(slots: readonly ManagedProcess[]): string {
  return slots.map(({ name, output: said }) => `${name} said last: ${said.slice(-WORDS_MAX)}`).join("\n");
}
