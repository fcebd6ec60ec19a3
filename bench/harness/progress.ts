// Reports the progress of a benchmark to standard error: standard output is for the table.

/** One line of progress. */
export function logProgress(line: string): void {
  process.stderr.write(`  … ${line}\n`);
}

/** A child's progress to its parent, at most once a second; `line` is only called when due. */
export function createProgressReporter(): (line: () => string) => void {
  return limitProgress((line) => sendToParent({ progress: line }));
}

/** The same for work that reports from this process: at most once a second, announced by a name. */
export function createProgressLog(name: string): (line: () => string) => void {
  return limitProgress((line) => logProgress(`${name}: ${line}`));
}

function limitProgress(report: (line: string) => void): (line: () => string) => void {
  let sentMs = performance.now();
  return (line) => {
    if (performance.now() - sentMs < PROGRESS_MS) return;
    sentMs = performance.now();
    report(line());
  };
}

const PROGRESS_MS = 1_000;

/** A message of a child to its parent. */
export function sendToParent(message: object): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}
