// Shows results on a terminal: its width, colours, progress and notes. Only the result itself goes to a file or program.
import { hangText } from "./plain-text.ts";
import { ERASE_LINE } from "./progress.ts";

export type Display = {
  /** The width of the terminal that the result goes to; null if it goes to a file or a program. */
  readonly columns: number | null;
  style(style: Style, text: string): string;
  /** Shows what is being waited for until the returned function is called. */
  progress(text: string): () => void;
  /** Prints a line next to the result, for people only. */
  note(text: string): void;
  /** Prints a line next to the result, also for logs of programs. */
  report(text: string): void;
};

type Style = "bold" | "dim" | "green" | "red";

type Stream = { write(text: string): unknown; readonly isTTY?: boolean; readonly columns?: number };

const CODES: Readonly<Record<Style, number>> = { bold: 1, dim: 2, red: 31, green: 32 };
const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const FRAME_MS = 90;
// Most reads are over before: a flash of text would only distract.
const PATIENCE_MS = 250;
const COLUMNS = 80;
// Narrower terminals wrap.
const COLUMNS_MIN = 40;

export function createDisplay(options: {
  readonly out: Stream;
  readonly err: Stream;
  readonly environment: Readonly<Record<string, string | undefined>>;
}): Display {
  const { out, err, environment } = options;
  const { NO_COLOR, TERM } = environment;
  const isCapable = TERM !== "dumb";
  const hasColors = out.isTTY === true && isCapable && (NO_COLOR === undefined || NO_COLOR === "");
  const isWatched = err.isTTY === true;
  const report = (text: string) => void err.write(`${hangText(text, columnsOf(err)).join("\n")}\n`);
  return {
    columns: columnsOf(out),
    style: (style, text) => (hasColors ? `\u001b[${CODES[style]}m${text}\u001b[0m` : text),
    progress: (text) => (isWatched && isCapable ? startSpinner(err, text) : () => undefined),
    note: (text) => (isWatched ? report(text) : undefined),
    report,
  };
}

/** The width of a terminal; null for a file or a program. */
export function columnsOf({ isTTY, columns }: Pick<Stream, "isTTY" | "columns">): number | null {
  return isTTY === true ? Math.max(columns || COLUMNS, COLUMNS_MIN) : null;
}

function startSpinner(stream: Stream, text: string): () => void {
  const startedMs = performance.now();
  let shown = 0;
  const timer = setInterval(() => {
    const waitedMs = performance.now() - startedMs;
    if (waitedMs < PATIENCE_MS) return;
    stream.write(`${ERASE_LINE}${FRAMES[shown % FRAMES.length]} ${text} ${Math.floor(waitedMs / 1_000)} s`);
    shown += 1;
  }, FRAME_MS);
  timer.unref();
  return () => {
    clearInterval(timer);
    if (shown > 0) stream.write(ERASE_LINE);
  };
}
