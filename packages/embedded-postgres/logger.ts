// The part of a structured logger that this package calls; pino satisfies it.

type WriteLog = (fields: object, message: string) => void;

export type Logger = {
  readonly info: WriteLog;
  readonly warn: WriteLog;
  readonly error: WriteLog;
  readonly fatal: WriteLog;
};
