// Composes events: the reader, the streams, and the endpoint of both.
import { Registry } from "prom-client";
import { systemClock } from "../../lib/clock.ts";
import { createLogThrottle, type Log } from "../../lib/log.ts";
import type { Endpoint } from "../../schema/endpoint.ts";
import type { RunRead } from "../../schema/reads/read.ts";
import { readDeploymentIdentity } from "../../store/index/prepare.ts";
import type { Database } from "../../store/postgres/database.ts";
import { createEventsEndpoint } from "./endpoint.ts";
import { createEventReader, type ReadEvents } from "./read-events.ts";
import { createEventMetrics, EVENT_STREAM_LIMITS, type EventStreamLimits, EventStreams } from "./streams.ts";

type EventsService = {
  readonly endpoint: Endpoint;
  readonly readEvents: ReadEvents;
  /** The index has changed. */
  onChange(): void;
  /** Asks the clients of all streams to connect again. */
  endStreams(): void;
  close(): void;
};

type EventsOptions = {
  readonly database: Database;
  readonly log: Log;
  /** Readers of the primary: the newest events as quick reads, and history on connections of its own. */
  readonly run: RunRead;
  readonly pinHistory?: (block: bigint) => RunRead | null;
  readonly registry?: Registry;
  readonly eventStreams?: Partial<EventStreamLimits>;
};

export function openEvents(options: EventsOptions): EventsService {
  const { database, log, run, pinHistory } = options;
  const limits = { ...EVENT_STREAM_LIMITS, ...options.eventStreams };
  const readEvents = createEventReader({
    run,
    ...(pinHistory && { pinHistory }),
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
    close() {
      repeatLimit.close();
    },
  };
}
