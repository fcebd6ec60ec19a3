// Logs requests that failed on our side: defects with their stack, expected faults in one line, repeats counted.
import { Fault } from "../lib/fault.ts";
import type { Log, LogThrottle } from "../lib/log.ts";

export type LogRequestError = (fault: Fault, error: unknown, requestId: string) => void;

// Enough to distinguish defects; messages may quote what a client sent.
const KEY_LENGTH_MAX = 200;
const CAUSES_MAX = 4;

export function createRequestErrorLogger(log: Log, repeatLimit: LogThrottle): LogRequestError {
  return (fault, error, reqId) => {
    if (fault.status < 500) return;
    const { code } = fault;
    const fields = (repeated: number) => ({
      event: "request-failed",
      code,
      reqId,
      ...(repeated === 0 ? {} : { repeated }),
    });
    if (fault.retry) {
      // Overload, an outage, a timeout: the stack says nothing, and under load there are thousands.
      repeatLimit.report(code, (repeated) =>
        log.warn({ ...fields(repeated), reason: reasonOf(error) }, "Request failed"),
      );
      return;
    }
    repeatLimit.report(`${code} ${reasonOf(error)}`.slice(0, KEY_LENGTH_MAX), (repeated) =>
      log.error({ ...fields(repeated), err: error }, "Request failed"),
    );
  };
}

/** The messages of an error and its causes. */
function reasonOf(error: unknown): string {
  const messages: string[] = [];
  for (let each = error; each instanceof Error && messages.length < CAUSES_MAX; each = each.cause) {
    messages.push(each instanceof Fault ? each.message : `${each.name}: ${each.message}`);
  }
  return messages.length === 0 ? String(error) : messages.join(" < ");
}
