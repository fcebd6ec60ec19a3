// Shows how far long work is, how fast it goes and how long it takes: in one line that a terminal redraws.
import type { Clock } from "../../lib/clock.ts";
import { shortenText, toPlainText } from "./plain-text.ts";

type WorkPosition = {
  readonly done: number;
  readonly total: number;
  /** The plural of what is counted, such as blocks. */
  readonly unit: string;
};

type Stream = { write(text: string): unknown; readonly columns?: number | undefined };
type Sample = { readonly ms: number; readonly done: number };

// Long enough that a slow batch does not double the time left, short enough to notice a slower node.
const WINDOW_MS = 30_000;
// A rate of two samples that are closer is chance.
const SAMPLE_MS = 500;
// Text that changes faster cannot be read.
const REDRAW_MS = 250;
const COLUMNS = 80;
/** Goes to the begin of the terminal's line and empties it. */
export const ERASE_LINE = "\r\u001b[2K";

/** Estimates the rate of one piece of work from its positions in the last half minute. */
export class WorkMeter {
  readonly #clock: Pick<Clock, "nowMs">;
  #samples: Sample[] = [];

  constructor(clock: Pick<Clock, "nowMs">) {
    this.#clock = clock;
  }

  /** Such as `1,200 of 4,000 blocks (30.0 %), 80/s, 35 s left`. */
  describe({ done, total, unit }: WorkPosition): string {
    const percent = ((100 * done) / Math.max(1, total)).toFixed(1);
    const counted = `${count(done)} of ${count(total)} ${unit} (${percent} %)`;
    const perSecond = this.#measure(done);
    if (perSecond === null) return counted;
    const rate = perSecond < 10 ? perSecond.toFixed(1) : count(perSecond);
    return `${counted}, ${rate}/s, ${formatSeconds((total - done) / perSecond)} left`;
  }

  /** Null until there are two positions to compare, and while nothing moves. */
  #measure(done: number): number | null {
    const ms = this.#clock.nowMs();
    // A reorg, or another piece of work, begins again.
    if ((this.#samples.at(-1)?.done ?? 0) > done) this.#samples = [];
    if (ms - (this.#samples.at(-1)?.ms ?? Number.NEGATIVE_INFINITY) >= SAMPLE_MS)
      this.#samples.push({ ms, done });
    // The newest sample before the window stays, so that rare positions have a rate as well.
    while ((this.#samples[1]?.ms ?? ms) < ms - WINDOW_MS) this.#samples.shift();
    const [first] = this.#samples;
    if (first === undefined || ms - first.ms < SAMPLE_MS || done === first.done) return null;
    return ((done - first.done) * 1_000) / (ms - first.ms);
  }
}

/** The last line of a terminal: other output goes above it. */
export class ProgressLine {
  readonly #stream: Stream;
  readonly #clock: Pick<Clock, "nowMs">;
  #work: { readonly name: string; readonly meter: WorkMeter } | null = null;
  #text = "";
  #drawnMs = Number.NEGATIVE_INFINITY;

  constructor(stream: Stream, clock: Pick<Clock, "nowMs">) {
    this.#stream = stream;
    this.#clock = clock;
  }

  /** Shows how far one piece of work is, unless the line has just been drawn. Another name is other work. */
  track(name: string, position: WorkPosition): void {
    if (this.#work?.name !== name) this.#work = { name, meter: new WorkMeter(this.#clock) };
    const text = `${name}: ${this.#work.meter.describe(position)}`;
    if (this.#clock.nowMs() - this.#drawnMs >= REDRAW_MS || position.done >= position.total) this.show(text);
  }

  /** Replaces the line. An empty text removes it. */
  show(text: string): void {
    const widthMax = (this.#stream.columns ?? COLUMNS) - 1;
    // A line that wraps could not be erased.
    const shown = shortenText(toPlainText(text), widthMax);
    if (shown === this.#text) return;
    this.#text = shown;
    this.#drawnMs = this.#clock.nowMs();
    this.#stream.write(ERASE_LINE + shown);
  }

  /** Writes whole lines above the line. */
  writeAbove<T>(write: () => T): T {
    if (this.#text === "") return write();
    this.#stream.write(ERASE_LINE);
    const result = write();
    this.#stream.write(this.#text);
    return result;
  }
}

const STATUS_MS_TERMINAL = 1_000;
const STATUS_MS_FILE = 15_000;

/** Shows what `describe` returns until the returned function is called: as that line, or as lines of a file. */
export function startStatusLine(
  { progress, print }: { readonly progress?: ProgressLine | undefined; print(text: string): unknown },
  describe: () => string | Promise<string>,
): () => void {
  const show = async () => {
    // Counting fails while tables are created and during shutdown; the next line catches up.
    const text = await Promise.resolve()
      .then(describe)
      .catch(() => null);
    if (text === null || isStopped) return;
    if (progress) progress.show(text);
    else print(`${text}\n`);
  };
  let isStopped = false;
  const timer = setInterval(() => void show(), progress ? STATUS_MS_TERMINAL : STATUS_MS_FILE);
  return () => {
    isStopped = true;
    clearInterval(timer);
    progress?.show("");
  };
}

function formatSeconds(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole} s`;
  const minutes = Math.round(whole / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.round(hours / 24)} days`;
}

function count(value: number): string {
  return Math.round(value).toLocaleString("en");
}
