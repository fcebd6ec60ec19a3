// Rate and time left of work over a range of blocks, for the log.

export function estimateWork(
  { from, to, block, logs }: { from: number; to: number; block: number; logs: number },
  elapsedMs: number,
) {
  const seconds = Math.max(0.001, elapsedMs / 1_000);
  const fraction = (block - from + 1) / Math.max(1, to - from + 1);
  return {
    percent: Number((fraction * 100).toFixed(1)),
    logs,
    logsPerSecond: Math.round(logs / seconds),
    secondsLeft: Math.round(seconds / fraction - seconds),
  };
}
