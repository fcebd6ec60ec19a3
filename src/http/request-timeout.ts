// The time limit of a request: the client gets a response even if the work behind it never ends.
import type { FastifyInstance } from "fastify";
import { Fault } from "../lib/fault.ts";

/** The result of `work`, or of `onTimeout` once the work exceeds the server's request timeout. */
export function withRequestTimeout<T>(
  app: FastifyInstance,
  work: Promise<T>,
  onTimeout: () => T = throwTimeout,
): Promise<T> {
  const ms = app.server.requestTimeout;
  if (ms === 0) return work;
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      try {
        resolve(onTimeout());
      } catch (error) {
        reject(error);
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

function throwTimeout(): never {
  throw new Fault("TIMED_OUT", "The request took too long; try again in a moment.");
}
