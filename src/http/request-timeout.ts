// A time limit for the work behind an answer: whoever waits is told, even when the work itself never ends.
import type { FastifyInstance } from "fastify";
import { Fault } from "../lib/fault.ts";

/** The result of some work, or what stands for it when it takes longer than the server's time for one request. */
export function withRequestTimeout<T>(
  app: FastifyInstance,
  work: Promise<T>,
  instead: () => T = tooLate,
): Promise<T> {
  const ms = app.server.requestTimeout;
  if (ms === 0) return work;
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      try {
        resolve(instead());
      } catch (refusal) {
        reject(refusal);
      }
    }, ms);
    work.then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}

function tooLate(): never {
  throw new Fault("TIMED_OUT", "The answer took too long; try again in a moment.");
}
