// Reports the progress of a benchmark to standard error: standard output is for the table.

/** One line of progress. */
export function logProgress(line: string): void {
  process.stderr.write(`  … ${line}\n`);
}

/** A child's progress to its parent, at most once a second; `line` is only called when due. */
export function createProgressReporter(): (line: () => string) => void {
  let sentMs = performance.now();
  return (line) => {
    if (performance.now() - sentMs < PROGRESS_MS) return;
    sentMs = performance.now();
    sendToParent({ progress: line() });
  };
}

const PROGRESS_MS = 1_000;

/** A message of a child to its parent. */
export function sendToParent(message: object): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}
