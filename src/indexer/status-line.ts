// The status line of a running command: redrawn in a terminal, a line now and then in a log file.
import type { IndexerReport } from "./status.ts";

const LINE_MS_TERMINAL = 1_000;
const LINE_MS_FILE = 15_000;

/** Shows what `line` makes until the timer is cleared. */
export function startStatusLine(say: (text: string) => void, line: () => Promise<string>): NodeJS.Timeout {
  const terminal = process.stdout.isTTY === true;
  const show = async () => {
    // While the tables are made, or when everything is about to stop, there is nothing to count; the next line tells.
    const text = await line().catch(() => null);
    if (text !== null) say(terminal ? `\r\x1b[K${text}` : `${text}\n`);
  };
  return setInterval(() => void show(), terminal ? LINE_MS_TERMINAL : LINE_MS_FILE);
}

/** Where the index is, how far behind the chain, and what is unusual about it. */
export function describeIndexPosition({ phase, head, indexed, reorgs }: IndexerReport): string[] {
  const behind = head && indexed ? head.number - indexed.number : null;
  const lag = behind === null ? "" : behind === 0 ? ", level" : `, ${behind.toLocaleString("en")} behind`;
  return [
    `block ${head?.number ?? "–"}${lag}`,
    ...(phase === "live" ? [] : [`index ${phase}`]),
    ...(reorgs > 0 ? [`${reorgs} reorgs`] : []),
  ];
}
