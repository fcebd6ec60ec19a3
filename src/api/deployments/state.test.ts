// How often the states of deployments are read, however many ask and however long a read takes.
import { expect, it } from "vitest";
import type { Database } from "../../store/postgres/database.ts";
import { DeploymentStates } from "./endpoint.ts";

/** Reads that end when they are released, on a clock that the test moves. */
function openStates() {
  const clock = { ms: 0 };
  const waiting: (() => void)[] = [];
  const database = {
    query: () => new Promise((resolve) => waiting.push(() => resolve({ rows: [], count: 0 }))),
  } as unknown as Database;
  const checkReadiness = async () => ({ ready: true }) as const;
  const served = { name: "one", base: "", chainId: 1, database, checkReadiness };
  const states = new DeploymentStates([served], () => clock.ms);
  /** Until the read has ended: it consists of several statements. */
  const finish = async (read: Promise<unknown>) => {
    let isDone = false;
    const done = read.finally(() => {
      isDone = true;
    });
    while (!isDone) {
      waiting.shift()?.();
      await new Promise(setImmediate);
    }
    return done;
  };
  return { clock, waiting, states, finish };
}

it("a read that takes long is waited for, and no other begins before it ends", async () => {
  const { clock, waiting, states, finish } = openStates();
  const first = states.read();
  for (clock.ms = 0; clock.ms < 30_000; clock.ms += 1_100) void states.read();
  expect(waiting).toHaveLength(1);
  const seen = await finish(first);
  // The second counts from the end: otherwise a slow server would be read without a pause.
  clock.ms += 900;
  expect(await states.read()).toBe(seen);
  expect(waiting).toHaveLength(0);
});

it("a second after a read the next one begins", async () => {
  const { clock, waiting, states, finish } = openStates();
  const seen = await finish(states.read());
  clock.ms += 1_100;
  const next = states.read();
  expect(waiting).toHaveLength(1);
  expect(await finish(next)).not.toBe(seen);
});
