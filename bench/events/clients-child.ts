// Many clients of the event stream in one process: they note when all events of a block have arrived.
import { get, type IncomingMessage } from "node:http";
import { serveSteps } from "./control.ts";

export type ClientsTask = { readonly url: string };
/** The time at which each block was complete at each client, by the wall clock. */
export type Arrivals = Readonly<Record<string, readonly number[]>>;

// More connections at once than the backlog of a listening socket would be sent again a second later.
const OPENING_AT_ONCE = 100;
const PROGRESS = "event: progress\n";
// Enough to have the block number behind the name and the cursor.
const PROGRESS_LENGTH = 400;

const { url } = JSON.parse(process.argv[2] ?? "") as ClientsTask;
const streams = new Set<IncomingMessage>();
let arrivals = new Map<number, number[]>();

function openStream(isSlow: boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { accept: "text/event-stream" };
    const request = get(`${url}/events?from=head`, { headers, agent: false }, (response) => {
      if (response.statusCode !== 200) return reject(new Error(`status ${response.statusCode}`));
      streams.add(response);
      response.on("error", () => undefined);
      response.once("close", () => streams.delete(response));
      // The first progress says how far the stream is: from then on it follows.
      const reader = new ProgressReader(() => {
        resolve();
        if (isSlow) response.pause();
      });
      response.on("data", (chunk: Buffer) => reader.read(chunk.toString("latin1")));
    });
    request.once("error", reject);
  });
}

/** The times of one client. Under load one progress stands for several blocks, and all of them are complete by it. */
class ProgressReader {
  #rest = "";
  #block: number | null = null;
  readonly #onFirst: () => void;

  constructor(onFirst: () => void) {
    this.#onFirst = onFirst;
  }

  read(chunk: string): void {
    const text = this.#rest + chunk;
    let done = 0;
    for (let from = text.indexOf(PROGRESS); from >= 0; from = text.indexOf(PROGRESS, done)) {
      const end = text.indexOf("\n\n", from);
      if (end < 0) {
        this.#rest = text.slice(from);
        return;
      }
      this.#note(/"block_number":"(\d+)"/.exec(text.slice(from, from + PROGRESS_LENGTH))?.[1] ?? "");
      done = end;
    }
    // It may end within the name.
    this.#rest = text.slice(Math.max(done, text.length - PROGRESS.length));
  }

  #note(text: string): void {
    const nowMs = performance.timeOrigin + performance.now();
    const newest = Number(text);
    if (this.#block === null) this.#onFirst();
    for (let block = (this.#block ?? newest - 1) + 1; block <= newest; block += 1) {
      const times = arrivals.get(block) ?? [];
      times.push(nowMs);
      arrivals.set(block, times);
    }
    this.#block = newest;
  }
}

async function open({ count = 0, slow = 0 }): Promise<{ readonly open: number }> {
  for (let opened = 0; opened < count; opened += OPENING_AT_ONCE) {
    const batch = Math.min(OPENING_AT_ONCE, count - opened);
    await Promise.all(Array.from({ length: batch }, (_, n) => openStream(opened + n < slow)));
  }
  return { open: streams.size };
}

/** The messages since the last report. */
function takeArrivals(): Arrivals {
  const taken = Object.fromEntries(arrivals);
  arrivals = new Map();
  return taken;
}

function close(): void {
  for (const stream of streams) stream.destroy();
  streams.clear();
}

await serveSteps({ open, arrivals: takeArrivals, close }, {}, async () => close());
