// Concurrency limits: at most so many tasks run at once, at most so many wait, and further ones are rejected.
import { widestNetworkOf } from "./client-networks.ts";
import { Fault } from "./fault.ts";

/** Shared by keys: no key gets all slots, and waiting keys take turns. Clients of one IPv6 /48 are one key. */
export type FairLimit = { run<T>(key: string, task: () => Promise<T>): Promise<T> };

type FairLimitOptions = {
  readonly runningMax: number;
  readonly runningPerKeyMax: number;
  readonly waitingMax: number;
  readonly waitingPerKeyMax: number;
};

export function createFairLimit(options: FairLimitOptions): FairLimit {
  const running = new Map<string, number>();
  /** Waiting tasks by key, the next key first; without keys that have none. */
  const queues = new Map<string, (() => void)[]>();
  let runningAll = 0;
  let waitingAll = 0;

  const hasFreeSlot = (key: string) =>
    runningAll < options.runningMax && (running.get(key) ?? 0) < options.runningPerKeyMax;

  function begin(key: string): void {
    runningAll += 1;
    running.set(key, (running.get(key) ?? 0) + 1);
  }

  function end(key: string): void {
    runningAll -= 1;
    const left = (running.get(key) ?? 0) - 1;
    if (left > 0) running.set(key, left);
    else running.delete(key);
    for (const [next, queue] of queues) {
      if (!hasFreeSlot(next)) continue;
      // To the end of the queue, so that the other keys come before its next task.
      queues.delete(next);
      const start = queue.shift();
      if (queue.length > 0) queues.set(next, queue);
      waitingAll -= 1;
      begin(next);
      start?.();
      return;
    }
  }

  function wait(key: string): Promise<void> {
    const queue = queues.get(key) ?? [];
    if (waitingAll >= options.waitingMax || queue.length >= options.waitingPerKeyMax) {
      throw new Fault("OVERLOADED", "Too much work of this kind is waiting; try again in a moment.");
    }
    waitingAll += 1;
    return new Promise<void>((resolve) => {
      queue.push(resolve);
      queues.set(key, queue);
    });
  }

  return {
    async run(given, task) {
      const key = widestNetworkOf(given);
      if (hasFreeSlot(key)) begin(key);
      else await wait(key);
      try {
        return await task();
      } finally {
        end(key);
      }
    },
  };
}

export type ConcurrencyLimit = {
  run<T>(task: () => Promise<T>): Promise<T>;
  readonly running: number;
  readonly waiting: number;
};

export function createConcurrencyLimit(options: {
  runningMax: number;
  waitingMax: number;
}): ConcurrencyLimit {
  let running = 0;
  // First come, first served: a task that gets its slot from a finished one never races with a new one.
  const queue: (() => void)[] = [];

  return {
    get running() {
      return running;
    },
    get waiting() {
      return queue.length;
    },
    async run(task) {
      if (running >= options.runningMax) {
        if (queue.length >= options.waitingMax) {
          throw new Fault("OVERLOADED", "Too much work is waiting; try again in a moment.");
        }
        await new Promise<void>((resolve) => queue.push(resolve));
      } else {
        running += 1;
      }
      try {
        return await task();
      } finally {
        const next = queue.shift();
        if (next) next();
        else running -= 1;
      }
    },
  };
}
