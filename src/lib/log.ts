// Structured logging: one JSON object a line, or readable lines in a terminal.
import { type Logger, pino, stdSerializers, stdTimeFunctions } from "pino";
import pretty from "pino-pretty";

export type Log = Logger;
export const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Logs go to standard error, so that standard output stays free for what a command answers. */
export function createLog(options: { level: LogLevel; terminal: boolean; name: string }): Log {
  const settings = {
    name: options.name,
    level: options.level,
    timestamp: stdTimeFunctions.isoTime,
    base: { name: options.name },
    serializers: { err: stdSerializers.errWithCause },
  };
  const destination = options.terminal
    ? pretty({ destination: 2, sync: true, ignore: "pid,hostname,name", translateTime: "SYS:HH:MM:ss" })
    : pino.destination({ dest: 2, sync: true });
  return pino(settings, destination);
}
