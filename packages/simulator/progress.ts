// Progress line of a run: rewritten on a terminal, repeated every few seconds elsewhere.
import type { TransactionCounters } from "./transaction-sender.ts";

export type ProgressStream = { readonly isTTY?: boolean; write(text: string): unknown };

/** Faster updates are unreadable. */
const TERMINAL_MS = 100;
/** Rare enough for a log. */
const LOG_MS = 3_000;

export function reportProgress(stream: ProgressStream, counters: Readonly<TransactionCounters>) {
  const everyMs = stream.isTTY ? TERMINAL_MS : LOG_MS;
  const startedAt = performance.now();
  let writtenAt = startedAt;
  let steps = 0;
  const formatLine = (): string => {
    const seconds = (performance.now() - startedAt) / 1_000;
    const rate = Math.round(steps / seconds);
    return `${steps} steps, ${counters.events} events, ${counters.block} blocks, ${rate} steps/s`;
  };
  const writeLine = (): void => {
    stream.write(stream.isTTY ? `\r\u001b[K${formatLine()}` : `${formatLine()}\n`);
  };
  return {
    step: ({ number }: { readonly number: number }): void => {
      steps = number;
      if (performance.now() - writtenAt < everyMs) return;
      writtenAt = performance.now();
      writeLine();
    },
    /** Writes the final line, with the rate of the whole run. */
    end: (): void => {
      writeLine();
      if (stream.isTTY) stream.write("\n");
    },
  };
}
