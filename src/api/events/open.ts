// Composes events: the reader with connections of its own for history, the streams, and the endpoint of both.
import { Registry } from "prom-client";
import { systemClock } from "../../lib/clock.ts";
import { createFairLimit } from "../../lib/concurrency-limit.ts";
import { createLogThrottle, type Log } from "../../lib/log.ts";
import type { Endpoint } from "../../schema/endpoint.ts";
import { openPipelinedReader, type PipelinedReader } from "../../store/fast/pipelined-reader.ts";
import { readDeploymentIdentity } from "../../store/index/prepare.ts";
import { openIndexReader } from "../../store/index/reader.ts";
import type { Database } from "../../store/postgres/database.ts";
import { createEventsEndpoint } from "./endpoint.ts";
import { createEventMetrics } from "./metrics.ts";
import { createEventReader, type ReadEvents } from "./read-events.ts";
import { EVENT_STREAM_LIMITS, type EventStreamLimits, EventStreams } from "./streams.ts";

type EventsService = {
  readonly endpoint: Endpoint;
  readonly readEvents: ReadEvents;
  /** The index has changed. */
  onChange(): void;
  /** Asks the clients of all streams to connect again. */
  endStreams(): void;
  close(): Promise<void>;
};

type EventsOptions = {
  readonly database: Database;
  readonly log: Log;
  /** The connections of quick reads, for what everyone waits for: the newest events. */
  readonly quick: PipelinedReader;
  readonly registry?: Registry;
  readonly eventStreams?: Partial<EventStreamLimits>;
};

// History is read page by page; more connections would only take CPU time from other reads.
const HISTORY_CONNECTIONS = 2;
const HISTORY_STATEMENT_MS_MAX = 5_000;
// Pages in flight of one client beside its streams.
const PAGES_PER_CLIENT_MAX = 20;
const PAGES_MAX = 200;

export function openEvents(options: EventsOptions): EventsService {
  const { database, log, quick } = options;
  const limits = { ...EVENT_STREAM_LIMITS, ...options.eventStreams };
  const history = openPipelinedReader(database, {
    connections: HISTORY_CONNECTIONS,
    readsPerConnectionMax: 1,
    statementTimeoutMs: HISTORY_STATEMENT_MS_MAX,
    purpose: "events",
    // Limits a statement to one CPU.
    setup: "SET max_parallel_workers_per_gather TO 0",
  });
  // A stream waits for one page at a time, so that all of them can wait.
  const queue = createFairLimit({
    runningMax: HISTORY_CONNECTIONS,
    runningPerKeyMax: 1,
    waitingMax: limits.streamsMax + PAGES_MAX,
    waitingPerKeyMax: limits.streamsPerClientMax + PAGES_PER_CLIENT_MAX,
  });
  const index = openIndexReader({
    quick,
    slow: { read: (statement, use, client) => queue.run(client, () => history.read(statement, use)) },
  });
  const readEvents = createEventReader({
    run: index.read,
    readDeployment: () => readDeploymentIdentity(database),
  });
  const repeatLimit = createLogThrottle();
  const metrics = createEventMetrics(options.registry ?? new Registry(), systemClock);
  const streams = new EventStreams({ readEvents, limits, metrics, clock: systemClock, log, repeatLimit });
  return {
    endpoint: createEventsEndpoint({ readEvents, streams }),
    readEvents,
    onChange: () => streams.onChange(),
    endStreams: () => streams.close(),
    async close() {
      repeatLimit.close();
      await history.close();
    },
  };
}
