// A concurrency limit: at most so many tasks run at once, at most so many wait, the rest are refused.
import { Fault } from "./fault.ts";

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
  // First come, first served: a task handed a place by its predecessor never races with a newcomer.
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
