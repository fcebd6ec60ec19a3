// A client that reads through any API process and sends the highest block that it has seen; and what it may meet.
import { Agent, request as send } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { Random } from "@sextant/simulator/random";
import { type ModelRead, readAt } from "./model-reads.ts";
import type { ReadLog, ReadResponse, ReadSequence } from "./read-log.ts";
import type { ApiProcess, ReplicaSite } from "./replica-site.ts";

/** State that all clients share. */
export type Readers = {
  readonly site: ReplicaSite;
  readonly log: ReadLog;
  /** The targets that can be read now; renewed as the chain grows. */
  reads: readonly ModelRead[];
  /** Requests without a response that counts, by what was down. */
  readonly failed: Map<string, number>;
  /** Violations that clients would otherwise take for an outage. */
  readonly faults: string[];
  /** The longest that a request took. */
  slowestMs: number;
  isOver: boolean;
};

// Reads that need the primary: the newest events, an intent with its metadata, and a block that no replica has.
const NEEDS_PRIMARY: ReadonlySet<string> = new Set(["DATABASE_UNREACHABLE", "BLOCK_NOT_INDEXED"]);
// No fork is deeper, and blocks without events keep their time for longer than this.
const BLOCKS_BACK_MAX = 60;
const BLOCK_READ_PERCENT = 15;
const PAGES_PERCENT = 50;
// A process that is gone rejects connections at once: clients would do nothing else.
const AFTER_FAILURE_MS = 50;

/** A statement that a busy machine did not finish in its time: the test says how often that may be. */
export const LATE = "late";

export class ReadingClient {
  readonly #readers: Readers;
  readonly #random: Random;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #sequences = new Map<string, ReadSequence>();
  #seen = 0;

  constructor(readers: Readers, seed: number) {
    this.#readers = readers;
    this.#random = new Random(seed);
  }

  async run(): Promise<void> {
    try {
      while (!this.#readers.isOver) await this.#readOnce();
    } finally {
      this.#agent.destroy();
    }
  }

  async #readOnce(): Promise<void> {
    const { reads } = this.#readers;
    const read = reads[this.#random.below(reads.length)];
    if (!read) throw new Error("there is nothing to read");
    if (read.isVersioned && this.#random.chance(BLOCK_READ_PERCENT)) {
      const back = this.#random.below(BLOCKS_BACK_MAX);
      if (this.#seen > BLOCKS_BACK_MAX) await this.#request(readAt(read, this.#seen - back));
      return;
    }
    for (let page: ModelRead | null = read; page !== null; ) {
      const response = await this.#request(page);
      page = response?.status === 200 && this.#random.chance(PAGES_PERCENT) ? nextPage(page, response) : null;
    }
  }

  /** Null if it failed for a reason that the rules allow. */
  async #request(read: ModelRead): Promise<ReadResponse | null> {
    const { site, log } = this.#readers;
    const api = site.apis[this.#random.below(site.apis.length)];
    if (!api) throw new Error("the site has an API");
    const { url } = api.process;
    const marks = markOutages(site, api);
    const startMs = performance.now();
    const response = await this.#get(url + read.path).catch((error: unknown) => error);
    this.#readers.slowestMs = Math.max(this.#readers.slowestMs, performance.now() - startMs);
    const reason = findReason(site, api, marks, response);
    if (reason !== null) {
      this.#readers.failed.set(reason, (this.#readers.failed.get(reason) ?? 0) + 1);
      await pause(AFTER_FAILURE_MS);
      return null;
    }
    const received = response as ReadResponse;
    if (received.status !== 200 && received.status !== 404) {
      throw new Error(`${read.path}: ${received.status} ${received.text}`, { cause: response });
    }
    if (read.takesMinBlock !== false) this.#expectForward(url, read, received);
    log.add(read, received);
    return received;
  }

  /** The block that the client has seen holds over all processes; within one process, branches too. */
  #expectForward(url: string, { path }: ModelRead, { block, hash }: ReadResponse): void {
    if (block < this.#seen) {
      throw new Error(`${path} led a client back from block ${this.#seen} to ${block}`);
    }
    this.#seen = block;
    const sequence = this.#sequences.get(url) ?? this.#readers.log.openSequence();
    this.#sequences.set(url, sequence);
    if (sequence.at(-1) !== hash) sequence.push(hash);
  }

  #get(url: string): Promise<ReadResponse> {
    const headers = this.#seen === 0 ? {} : { "x-min-block": String(this.#seen) };
    return new Promise((resolve, reject) => {
      const request = send(url, { agent: this.#agent, headers }, (response) => {
        const parts: Buffer[] = [];
        response.on("data", (part: Buffer) => parts.push(part));
        response.on("error", reject);
        response.on("end", () =>
          resolve({
            status: response.statusCode ?? 0,
            code: String(response.headers["x-error-code"] ?? ""),
            hash: String(response.headers["x-indexed-block-hash"]),
            block: Number(response.headers["x-indexed-block"]),
            text: Buffer.concat(parts).toString(),
          }),
        );
      });
      request.on("error", reject).end();
    });
  }
}

type OutageMarks = Readonly<Record<"api" | "primary" | "indexer" | "reorg", number>>;

function markOutages(
  { withoutPrimary, withoutIndexer, reorg }: ReplicaSite,
  { outage }: ApiProcess,
): OutageMarks {
  return {
    ...{ api: outage.mark, primary: withoutPrimary.mark },
    ...{ indexer: withoutIndexer.mark, reorg: reorg.mark },
  };
}

/** The part that was down, if the rules allow the request to fail for that; otherwise null. */
function findReason(
  site: ReplicaSite,
  { outage }: ApiProcess,
  marks: OutageMarks,
  response: unknown,
): string | null {
  if (response instanceof Error) return outage.wasOnSince(marks.api) ? "no API process" : null;
  const { status, code } = response as ReadResponse;
  // A block that was named in a path, and not only as seen, is the client's mistake: 400.
  if (status !== 503 && code !== "BLOCK_NOT_INDEXED") return null;
  if (code === "TIMED_OUT") return LATE;
  if (site.withoutPrimary.wasOnSince(marks.primary) && NEEDS_PRIMARY.has(code)) return `no primary: ${code}`;
  if (code !== "BLOCK_NOT_INDEXED") return null;
  if (site.withoutIndexer.wasOnSince(marks.indexer)) return "no indexer";
  return site.reorg.wasOnSince(marks.reorg) ? "reorg" : null;
}

/** The page after the one that was received; null after the last one, or for what has no pages. */
function nextPage(read: ModelRead, { text }: ReadResponse): ModelRead | null {
  const { list, after } = read;
  if (!list || !after) return null;
  const body = JSON.parse(text) as Record<string, Record<string, unknown>[]> & {
    readonly pagination: { readonly next_cursor?: string };
  };
  const cursor = body.pagination.next_cursor;
  const last = body[list.key]?.at(-1)?.[list.id];
  return cursor === undefined || last === undefined ? null : after(String(last), cursor);
}
