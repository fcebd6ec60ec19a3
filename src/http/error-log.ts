// What the log says of requests that failed on our side: defects with their stack, expected faults in one line, both counted.
import { Fault } from "../lib/fault.ts";
import type { Log, LogThrottle } from "../lib/log.ts";

export type LogRequestError = (fault: Fault, error: unknown, requestId: string) => void;

// Enough to tell one defect from another; messages may quote what a client sent.
const KEY_LENGTH_MAX = 200;
const CAUSES_MAX = 4;

export function createRequestErrorLogger(log: Log, repeats: LogThrottle): LogRequestError {
  return (fault, error, reqId) => {
    if (fault.status < 500) return;
    const { code } = fault;
    const count = (repeated: number) => (repeated === 0 ? {} : { repeated });
    if (fault.retry) {
      // Overload, an outage, a time limit: where it was noticed says nothing, and under load there are thousands.
      repeats.report(code, (repeated) =>
        log.warn({ code, reqId, reason: reasonOf(error), ...count(repeated) }, "request failed"),
      );
      return;
    }
    repeats.report(`${code} ${reasonOf(error)}`.slice(0, KEY_LENGTH_MAX), (repeated) =>
      log.error({ code, reqId, err: error, ...count(repeated) }, "request failed"),
    );
  };
}

/** The messages of an error and of its causes. */
function reasonOf(error: unknown): string {
  const messages: string[] = [];
  for (let each = error; each instanceof Error && messages.length < CAUSES_MAX; each = each.cause) {
    messages.push(each instanceof Fault ? each.message : `${each.name}: ${each.message}`);
  }
  return messages.length === 0 ? String(error) : messages.join(" < ");
}
