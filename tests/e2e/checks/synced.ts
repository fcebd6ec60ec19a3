// Every service runs, one indexer writes and one stands by, and both APIs serve the head of the chain.

import type { IndexerReport } from "../../../src/indexer/status.ts";
import type { ManagedProcess } from "../services/managed-process.ts";
import { requestOnce, waitUntilReady } from "../services/services.ts";
import { waitUntil } from "../wait.ts";
import type { E2eCheck } from "./check.ts";
import { withDatabase } from "./ledger.ts";

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

// An omitting node was the only one that responded for a while: the audit has compared, and repaired, what it had shown.

export const confirmedHistoryCheck: E2eCheck = {
  name: "history is confirmed by two nodes",
  async run(system) {
    type Report = Pick<IndexerReport, "phase" | "audit">;
    let last: Report | undefined;
    await withDatabase(system, (query) =>
      waitUntil(
        async () => {
          [last] = await query<Report>(
            "select status ->> 'phase' as phase, status -> 'audit' as audit from indexer_status",
          );
          const { unconfirmed = [null], differences = [null] } = last?.audit ?? {};
          return last?.phase === "live" && unconfirmed.length === 0 && differences.length === 0;
        },
        { msMax: SYNC_MS_MAX, late: () => `the indexer reports ${JSON.stringify(last)}` },
      ),
    );
    return `${last?.audit.blocksChecked} blocks compared`;
  },
};

/** The only trace of a failure: the processes are gone by the time it is read. */
function lastWords(slots: readonly ManagedProcess[]): string {
  return slots.map(({ name, output: said }) => `${name} said last: ${said.slice(-WORDS_MAX)}`).join("\n");
}
