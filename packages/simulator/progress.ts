// One line that says how far the economy has come: rewritten on a terminal, repeated every few seconds elsewhere.
import type { TransactionCounters } from "./transaction-sender.ts";

export type ProgressStream = { readonly isTTY?: boolean; write(text: string): unknown };

/** Faster than the eye can read would only cost time. */
const TERMINAL_MS = 100;
/** Often enough to see that it lives, rarely enough for a log. */
const LOG_MS = 3_000;

export function reportProgress(stream: ProgressStream, tally: Readonly<TransactionCounters>) {
  const everyMs = stream.isTTY ? TERMINAL_MS : LOG_MS;
  const startedAt = performance.now();
  let saidAt = startedAt;
  let steps = 0;
  const line = (): string => {
    const seconds = (performance.now() - startedAt) / 1_000;
    const rate = Math.round(steps / seconds);
    return `${steps} steps, ${tally.events} events, ${tally.block} blocks, ${rate} steps/s`;
  };
  const say = (): void => {
    stream.write(stream.isTTY ? `\r\u001b[K${line()}` : `${line()}\n`);
  };
  return {
    step: ({ number }: { readonly number: number }): void => {
      steps = number;
      if (performance.now() - saidAt < everyMs) return;
      saidAt = performance.now();
      say();
    },
    /** The last word, with the rate of the whole run. */
    end: (): void => {
      say();
      if (stream.isTTY) stream.write("\n");
    },
  };
}
