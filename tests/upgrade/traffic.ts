// Clients of one API that never stop reading, and a count of what they got.
import { setTimeout as sleep } from "node:timers/promises";

type TrafficCount = {
  readonly requests: number;
  readonly failed: readonly string[];
  readonly slowestMs: number;
};

type Traffic = { stop(): Promise<TrafficCount> };

/** Lists of every kind of row that the indexer writes, and of what clients write. */
export const TRAFFIC_LISTS = [
  "/intents",
  "/attestations",
  "/attestations/schemas",
  "/solvers",
  "/attestors",
  "/merchants",
  "/services",
  "/facilitators",
  "/receipts",
  "/trust-signals",
  "/disputes",
];

// Two clients keep the API reading without taking the machine from the processes under test.
const CLIENTS = 2;
const PAUSE_MS = 5;
// Every request has another limit than the last, so that few responses come from the cache.
const LIMIT_MAX = 50;
const RESPONSE_MS_MAX = 30_000;

export function startTraffic(url: string): Traffic {
  const failed: string[] = [];
  let requests = 0;
  let slowestMs = 0;
  let isStopping = false;

  async function request(target: string): Promise<void> {
    const started = performance.now();
    requests += 1;
    try {
      const response = await fetch(url + target, { signal: AbortSignal.timeout(RESPONSE_MS_MAX) });
      const text = await response.text();
      if (response.status !== 200) failed.push(`${target}: ${response.status} ${text}`);
    } catch (error) {
      failed.push(`${target}: ${error}`);
    }
    slowestMs = Math.max(slowestMs, performance.now() - started);
  }

  async function client(first: number): Promise<void> {
    for (let turn = first; !isStopping; turn += CLIENTS) {
      await request(`${TRAFFIC_LISTS[turn % TRAFFIC_LISTS.length]}?limit=${1 + (turn % LIMIT_MAX)}`);
      await sleep(PAUSE_MS);
    }
  }

  const clients = Array.from({ length: CLIENTS }, (_, first) => client(first));
  return {
    async stop() {
      isStopping = true;
      await Promise.all(clients);
      return { requests, failed, slowestMs: Math.round(slowestMs) };
    },
  };
}
