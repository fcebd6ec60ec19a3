// Structured logging: one JSON object a line, or readable lines in a terminal.

import { type LevelWithSilent, type Logger, pino, stdSerializers, stdTimeFunctions } from "pino";
import { prettyFactory } from "pino-pretty";
import { type Clock, systemClock } from "./clock.ts";

/** For log lines that could repeat thousands of times a second: the first at once, the others as one with a count. */
export type LogThrottle = {
  /** Calls `write` at once with 0, or, while the same key repeats, once per interval with how many more came. */
  report(key: string, write: (repeated: number) => void): void;
  /** Reports what was counted and stops. */
  close(): void;
};

// Often enough to see that a fault goes on, seldom enough that a day of it is ten thousand lines.
const INTERVAL_MS = 10_000;
// Keys may be made of error messages, and those of what a client sent.
const KEYS_MAX = 100;
const OTHERS = "others";

type Counted = { count: number; write: (repeated: number) => void };

export function createLogThrottle(clock: Pick<Clock, "sleep"> = systemClock): LogThrottle {
  const counted = new Map<string, Counted>();
  const closing = new AbortController();
  let isWatching = false;

  /** A key that did not repeat in the interval is dropped, so that its next line is written at once. */
  function flush(): void {
    for (const [key, each] of counted) {
      if (each.count === 0) counted.delete(key);
      else each.write(each.count);
      each.count = 0;
    }
  }

  async function watch(): Promise<void> {
    isWatching = true;
    while (counted.size > 0) {
      await clock.sleep(INTERVAL_MS, closing.signal);
      flush();
    }
    isWatching = false;
  }

  return {
    report(each, write) {
      const key = counted.has(each) || counted.size < KEYS_MAX ? each : OTHERS;
      const before = counted.get(key);
      if (before) {
        before.count += 1;
        before.write = write;
        return;
      }
      write(0);
      if (closing.signal.aborted) return;
      counted.set(key, { count: 0, write });
      // Only closing ends the wait early, and close() has flushed by then.
      if (!isWatching) watch().catch(() => undefined);
    },
    close() {
      flush();
      counted.clear();
      closing.abort();
    },
  };
}

export type Log = Logger;

// A person reads the message; events are for machines, and have one message each.
const TERMINAL = {
  ignore: "pid,hostname,name,component,event",
  messageFormat: "{if component}{component}: {end}{msg}",
  translateTime: "SYS:HH:MM:ss",
};

type LogOptions = {
  readonly level: LevelWithSilent;
  readonly name: string;
  /** Whether a person reads the lines, or what writes them for one. */
  readonly terminal: boolean | ((text: string) => void);
};

/** Logs go to standard error, so that standard output stays free for a command's result. */
export function createLog(options: LogOptions): Log {
  const settings = {
    name: options.name,
    level: options.level,
    timestamp: stdTimeFunctions.isoTime,
    base: { name: options.name },
    serializers: { err: stdSerializers.errWithCause },
  };
  const { terminal } = options;
  if (terminal === false) return pino(settings, pino.destination({ dest: 2, sync: true }));
  const format = prettyFactory(TERMINAL);
  const write = terminal === true ? (text: string) => process.stderr.write(text) : terminal;
  return pino(settings, { write: (line) => write(format(line)) });
}
