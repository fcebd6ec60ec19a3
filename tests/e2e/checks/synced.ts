// Every service runs, one indexer writes and one stands by, and both APIs answer from the head of the chain.

import type { Slot } from "../services/managed-process.ts";
import { askOnce, untilReady } from "../services/readiness.ts";
import { until } from "../wait.ts";
import type { Check } from "./check.ts";

const LEVEL_MS_MAX = 90_000;
const WORDS_MAX = 1_500;

export const level: Check = {
  name: "services are level with the chain",
  async run({ protocol, services }) {
    const head = await protocol.head();
    for (const api of services.apis) {
      let seen = "nothing";
      await until(
        async () => {
          const { headers } = await askOnce(api, "/analytics/commerce");
          seen = `block ${headers["x-indexed-block"]}`;
          return headers["x-indexed-block-hash"] === head.hash;
        },
        {
          msMax: LEVEL_MS_MAX,
          late: () =>
            `${api.name} is at ${seen}, the chain at block ${head.number}; ${lastWords(services.indexers)}`,
        },
      );
    }
    let states: readonly number[] = [];
    await until(
      async () => {
        states = await Promise.all(
          services.indexers.map(async (each) => (await askOnce(each, "/ready")).status),
        );
        return states.toSorted().join() === "200,503";
      },
      { msMax: LEVEL_MS_MAX, late: () => `the indexers are ${states.join(" and ")} when asked /ready` },
    );
    for (const each of services.answering) await untilReady(each);
    return `block ${head.number}, ${services.all.length} processes`;
  },
};

/** Whoever reads of a failure has only this to go by: the processes are gone by then. */
function lastWords(slots: readonly Slot[]): string {
  return slots.map(({ name, said }) => `${name} said last: ${said.slice(-WORDS_MAX)}`).join("\n");
}
