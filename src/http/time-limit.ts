// A time limit for the work behind an answer: whoever waits is told, even when the work itself never ends.
import type { FastifyInstance } from "fastify";
import { Fault } from "../kit/fault.ts";

/** The result of some work, or what stands for it when it takes longer than the server's time for one request. */
export async function withinRequestTime<T>(
  app: FastifyInstance,
  work: Promise<T>,
  instead: () => T = tooLate,
): Promise<T> {
  const ms = app.server.requestTimeout;
  if (ms === 0) return work;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  }).then(instead);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function tooLate(): never {
  throw new Fault("TIMED_OUT", "The answer took too long; try again in a moment.");
}
