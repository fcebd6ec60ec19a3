// Open event streams: each reads history at its own pace, then follows the tail; with limits, heartbeats and an end.

import { Counter, Gauge, type Registry } from "prom-client";
import type { Clock } from "../../lib/clock.ts";
import { ClientCounts } from "../../lib/concurrency-limit.ts";
import { Fault, toFault } from "../../lib/fault.ts";
import type { Log, LogThrottle } from "../../lib/log.ts";
import type { TextStream } from "../../schema/endpoint.ts";
import {
  type EventCursor,
  type EventSelection,
  type EventStart,
  type EventsPage,
  formatRejection,
  formatRetry,
  KEEP_ALIVE,
  PageMessages,
} from "./event-page.ts";
import { type Follower, LiveTail, type TailSelection } from "./live-tail.ts";
import type { ReadEvents } from "./read-events.ts";

export type EventStreamLimits = {
  /** Streams at once, in total and per client. */
  readonly streamsMax: number;
  readonly streamsPerClientMax: number;
  /** Unread bytes of a stream, beyond which it gets nothing until they are read. */
  readonly bufferBytesMax: number;
  /** How long it may leave them unread before it is closed. */
  readonly stalledMsMax: number;
  readonly keepAliveMs: number;
  /** The pause between two reads of the index if no notification arrives. */
  readonly pollMs: number;
};

export const EVENT_STREAM_LIMITS: EventStreamLimits = {
  // Below the limit of connections, so that ordinary requests always find one.
  streamsMax: 800,
  // More tabs and programs than a person runs, and few enough that forty clients are needed to take every slot.
  streamsPerClientMax: 20,
  // A page of events; the kernel holds as much again.
  bufferBytesMax: 64 * 1024,
  stalledMsMax: 60_000,
  // Proxies and browsers give up after 30 to 60 seconds of silence.
  keepAliveMs: 15_000,
  // Notifications arrive within milliseconds. This is for the time without a connection that listens.
  pollMs: 1_000,
};

type OpenStream = EventSelection & {
  readonly client: string;
  readonly from: EventStart;
  /** Gives its slot back. */
  readonly cancel: () => void;
};

type EventStreamsOptions = {
  readonly readEvents: ReadEvents;
  readonly limits: EventStreamLimits;
  readonly metrics: EventMetrics;
  readonly clock: Clock;
  readonly log: Log;
  readonly repeatLimit: LogThrottle;
};

type Reader = OpenStream & {
  readonly stream: TextStream;
  position: EventStart | EventCursor;
  /** Whether it has caught up and follows the tail. */
  isLive: boolean;
};

const HISTORY_EVENTS_PER_PAGE = 100;
// After a failed read: most failures are a database that restarts.
const RETRY_READ_MS = 1_000;
// Progress through history that passes no filter: often enough to resume from, seldom enough to cost nothing.
const PROGRESS_MS = 1_000;
// Clients of a process that ends come back within these times, spread so that they do not all come at once.
const RECONNECT_MS = { min: 500, max: 5_000 };
// A cursor that was rejected is rejected again: an EventSource that insists does it once a minute.
const RECONNECT_REJECTED_MS = 60_000;

export class EventStreams {
  readonly #options: EventStreamsOptions;
  readonly #readers = new Set<Reader>();
  /** Slots that are taken, those of streams that are still being paid for included. */
  readonly #counts = new ClientCounts();
  #taken = 0;
  /** Tails by the additions to their events. */
  readonly #tails = new Map<string, LiveTail>();
  #timers: readonly NodeJS.Timeout[] = [];
  #isClosed = false;

  constructor(options: EventStreamsOptions) {
    this.#options = options;
    options.metrics.observeStreams(() => {
      const live = [...this.#readers].filter(({ isLive }) => isLive).length;
      return { live, behind: this.#readers.size - live };
    });
  }

  /** Takes a slot until the returned function is called; throws a Fault if the client has none left. */
  reserve(client: string): () => void {
    const { streamsMax, streamsPerClientMax } = this.#options.limits;
    const wait = { retryAfterSeconds: Math.ceil(RECONNECT_MS.max / 1_000) };
    if (this.#isClosed)
      throw new Fault("SHUTTING_DOWN", "This process is shutting down; connect again.", wait);
    if (this.#counts.findFull(client, streamsPerClientMax) !== null) {
      throw new Fault("RATE_LIMITED", `At most ${streamsPerClientMax} event streams per client.`, wait);
    }
    if (this.#taken >= streamsMax) {
      throw new Fault("OVERLOADED", "There are too many event streams already; try again in a moment.", wait);
    }
    this.#taken += 1;
    this.#counts.add(client);
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      this.#taken -= 1;
      this.#counts.remove(client);
    };
  }

  /** Serves a stream until either side ends it. */
  open(stream: TextStream, options: OpenStream): void {
    const reader: Reader = { ...options, stream, position: options.from, isLive: false };
    if (stream.signal.aborted) {
      options.cancel();
      return;
    }
    this.#add(reader);
    stream.signal.addEventListener("abort", () => this.#remove(reader), { once: true });
    stream.send(formatRetry(RECONNECT_MS.min));
    void this.#serve(reader);
  }

  /** The index may have changed. */
  onChange(): void {
    for (const tail of this.#tails.values()) tail.onChange();
  }

  /** Asks every client to connect again, and ends their streams. */
  close(): void {
    this.#isClosed = true;
    const { min, max } = RECONNECT_MS;
    for (const { stream } of this.#readers) {
      // A client that does not read would not let the process end.
      if (stream.bufferedBytes > 0) stream.destroy();
      else stream.end(formatRetry(Math.round(min + Math.random() * (max - min))));
    }
  }

  /** Streams with rows wait until blocks are folded: with a tail of their own they delay no other. */
  #tailOf({ finality, rows, parts }: EventSelection): LiveTail {
    const key = `${finality} ${rows} ${parts}`;
    const tail = this.#tails.get(key) ?? this.#openTail({ finality, rows, parts });
    this.#tails.set(key, tail);
    return tail;
  }

  #openTail(selection: TailSelection): LiveTail {
    const { readEvents, limits, metrics } = this.#options;
    return new LiveTail({
      readEvents,
      selection,
      bufferBytesMax: limits.bufferBytesMax,
      onDelivered: ({ undo, timestamp }, events) => {
        metrics.onSent(events);
        if (undo === null) metrics.onDelivered(timestamp);
      },
      onFailure: (error) => this.#logFailure(error),
    });
  }

  async #serve(reader: Reader): Promise<void> {
    const { stream, filter } = reader;
    const tail = this.#tailOf(reader);
    while (!stream.signal.aborted) {
      const page = await this.#read(reader);
      if (page === null) continue;
      this.#deliver(reader, page);
      await this.#waitForReader(reader);
      if (page.hasMore || stream.signal.aborted) continue;
      const follower: Follower = { stream, filter, position: page.cursor, isAhead: page.isAhead };
      reader.isLive = true;
      await tail.follow(follower);
      reader.isLive = false;
      reader.position = follower.position;
      await this.#waitForReader(reader);
    }
  }

  /** Null after a failure that may pass, and after a rejection, which ends the stream. */
  async #read(reader: Reader): Promise<EventsPage | null> {
    const { readEvents, clock, limits } = this.#options;
    const { position: from, filter, finality, rows, parts, client, stream } = reader;
    try {
      const selection = { filter, finality, rows, parts };
      return await readEvents({ ...selection, from, client, limit: HISTORY_EVENTS_PER_PAGE });
    } catch (error) {
      const fault = toFault(error);
      if (fault.status < 500) {
        stream.end(formatRetry(RECONNECT_REJECTED_MS) + formatRejection(fault));
        await clock.sleep(limits.stalledMsMax, stream.signal).catch(() => undefined);
        stream.destroy();
        return null;
      }
      this.#logFailure(error);
      await clock.sleep(RETRY_READ_MS, stream.signal).catch(() => undefined);
      return null;
    }
  }

  #deliver(reader: Reader, page: EventsPage): void {
    const messages = new PageMessages(page);
    const { text, count } = messages.select(reader.filter);
    const isQuiet = text === "" && performance.now() - reader.stream.sentMs >= PROGRESS_MS;
    const progress = !page.hasMore || isQuiet ? messages.progress : "";
    reader.position = page.cursor;
    if (text + progress !== "") reader.stream.send(text + progress);
    this.#options.metrics.onSent(count);
  }

  /** Waits for a client that reads slowly; one that reads nothing for too long is closed. */
  async #waitForReader({ stream }: Reader): Promise<void> {
    const { limits, clock, metrics } = this.#options;
    if (stream.bufferedBytes <= limits.bufferBytesMax) return;
    const waiting = new AbortController();
    const stalled = clock.sleep(limits.stalledMsMax, waiting.signal).then(
      () => true,
      () => false,
    );
    const isStalled = await Promise.race([stalled, stream.drained().then(() => false)]);
    waiting.abort();
    if (!isStalled) return;
    metrics.onCut();
    stream.destroy();
  }

  #add(reader: Reader): void {
    this.#readers.add(reader);
    if (this.#timers.length > 0) return;
    const { keepAliveMs, pollMs } = this.#options.limits;
    this.#timers = [
      setInterval(() => this.#keepAlive(), keepAliveMs),
      // Polls even if notifications arrive: LISTEN may be lost without notice.
      setInterval(() => this.onChange(), pollMs),
    ];
  }

  #remove(reader: Reader): void {
    this.#readers.delete(reader);
    reader.cancel();
    if (this.#readers.size > 0) return;
    for (const timer of this.#timers) clearInterval(timer);
    this.#timers = [];
  }

  #keepAlive(): void {
    const sinceMs = performance.now() - this.#options.limits.keepAliveMs / 2;
    for (const { stream } of this.#readers) {
      if (stream.sentMs < sinceMs && stream.bufferedBytes === 0) stream.send(KEEP_ALIVE);
    }
  }

  #logFailure(err: unknown): void {
    const { log, repeatLimit } = this.#options;
    repeatLimit.report("events_failed", (repeated) =>
      log.warn(
        { component: "api", event: "events_failed", err, repeated: repeated || undefined },
        "Reading events failed, retrying",
      ),
    );
  }
}

type EventMetrics = {
  /** `count` is called when metrics are collected. */
  observeStreams(count: () => { readonly live: number; readonly behind: number }): void;
  onSent(events: number): void;
  /** The tail has delivered the block of this time, in unix seconds. */
  onDelivered(timestamp: number): void;
  onCut(): void;
};

export function createEventMetrics(registry: Registry, clock: Clock): EventMetrics {
  const registers = [registry];
  const sent = new Counter({
    name: "sextant_events_sent_total",
    help: "Events sent to event streams, counted once for each stream.",
    registers,
  });
  const cut = new Counter({
    name: "sextant_event_streams_cut_total",
    help: "Event streams closed because their client read nothing for too long.",
    registers,
  });
  const lag = new Gauge({
    name: "sextant_event_lag_seconds",
    help: "Age of the newest block when its events were delivered to the streams that have caught up.",
    registers,
  });
  return {
    observeStreams(count) {
      new Gauge({
        name: "sextant_event_streams",
        help: "Open event streams: live ones have caught up, those behind read history.",
        labelNames: ["state"],
        registers,
        collect() {
          const { live, behind } = count();
          this.set({ state: "live" }, live);
          this.set({ state: "behind" }, behind);
        },
      });
    },
    onSent: (events) => sent.inc(events),
    onDelivered: (timestamp) => lag.set(Math.max(0, clock.nowMs() / 1_000 - timestamp)),
    onCut: () => cut.inc(),
  };
}
