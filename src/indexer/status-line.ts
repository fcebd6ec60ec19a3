// The status line of a running command: redrawn in a terminal, a new line every few seconds in a log file.
import type { IndexerReport } from "./status.ts";

const REFRESH_MS_TERMINAL = 1_000;
const REFRESH_MS_FILE = 15_000;

/** Prints what `line` returns until the timer is cleared. */
export function startStatusLine(print: (text: string) => void, line: () => Promise<string>): NodeJS.Timeout {
  const terminal = process.stdout.isTTY === true;
  const show = async () => {
    // Counting fails while tables are created and during shutdown; the next line catches up.
    const text = await line().catch(() => null);
    if (text !== null) print(terminal ? `\r\x1b[K${text}` : `${text}\n`);
  };
  return setInterval(() => void show(), terminal ? REFRESH_MS_TERMINAL : REFRESH_MS_FILE);
}

/** Position and lag of the index, with its phase and reorgs where they are unusual. */
export function describeIndexPosition({ phase, head, indexed, reorgs }: IndexerReport): string[] {
  const behind = head && indexed ? head.number - indexed.number : null;
  const lag = behind === null ? "" : behind === 0 ? ", synced" : `, ${behind.toLocaleString("en")} behind`;
  return [
    `block ${head?.number ?? "–"}${lag}`,
    ...(phase === "live" ? [] : [`index ${phase}`]),
    ...(reorgs > 0 ? [`${reorgs} reorgs`] : []),
  ];
}
