// Watches events: keeps a stream open, resumes it at the point at which it broke, and yields what comes in order.
import { SextantError } from "../errors.ts";
import { OPERATIONS } from "../generated/operations.ts";
import { buildUrl, type CallContext } from "../http/call.ts";
import { pauseBefore } from "../http/repeat.ts";
import { STREAM_TYPE, toResponseError } from "../http/transport.ts";
import type { RequestOptions } from "../operation.ts";
import { MessageParser } from "./message-parser.ts";
import { isPaymentOver, readItem, type WatchedUndo, type WatchItem } from "./watch-item.ts";

/** Selects events; several filters must all match. */
export interface WatchFilter {
  /** Names of events. */
  readonly type?: string | readonly string[];
  /** Events that name the agent, by its id or its address. */
  readonly agent?: bigint | string;
  readonly intent?: bigint | string;
  /** Everything in which the address takes part, in whatever role. */
  readonly account?: string;
  readonly merchant?: bigint | string;
  readonly service?: bigint | string;
  readonly solver?: bigint | string;
}

export interface WatchOptions extends RequestOptions {
  /** A cursor; a block, which is included; `genesis`; `head`, which is the default. */
  readonly from?: bigint | number | string;
  /** When an event is delivered: `instant` (default) as soon as it is indexed; `safe`; `finalized`. */
  readonly finality?: "instant" | "safe" | "finalized";
  /** Only what is final: the same as `finality: "finalized"`, with the promise that no undo is ever yielded. */
  readonly finalized?: boolean;
  /** `rows`: each event has the rows that it changed, before and after it. `parts`: its sentence in parts. */
  readonly include?: "rows" | "parts" | "rows,parts";
  /** Called before each wait for another connection. */
  readonly onRetry?: (error: SextantError, waitMs: number) => void;
  /** How long the connection may be silent; default: 45 seconds. The service sends something every 15. */
  readonly idleMs?: number;
}

export interface Watch {
  (
    filter: WatchFilter | undefined,
    options: WatchOptions & { readonly finalized: true },
  ): AsyncGenerator<Exclude<WatchItem, WatchedUndo>, void, undefined>;
  (filter?: WatchFilter, options?: WatchOptions): AsyncGenerator<WatchItem, void, undefined>;
}

type WatchContext = CallContext & {
  /** The size of one message. */
  readonly messageLengthMax: number;
};

// Two heartbeats may be late.
const IDLE_MS = 45_000;
// The pause if the server has not said how long.
const RETRY_MS = 1_000;
// A server must not make its clients ask without a pause, nor wait until they are forgotten.
const RETRY_MS_MIN = 100;
const RETRY_MS_MAX = 60_000;
// After a shorter time the next minute is bought with a pause, as after a failure: a service must not sell moments.
const PAID_MS_MIN = 30_000;
// A stream that breaks off is bought again. One that breaks off all the time must not cost many times its price.
const MINUTES_BOUGHT_MAX = 3;
const MINUTE_MS = 60_000;
// Doubled from one failure to the next, up to the longest wait.
const DOUBLINGS_MAX = 10;

/** The position of a watch between two connections. */
type Position = {
  cursor: string | null;
  retryMs: number;
  /** Connections in a row that brought nothing. */
  failures: number;
  /** Whether the service has ever sent something: from then on the watch outlasts any outage. */
  hasBegun: boolean;
  /** Whether the service sells streams: each minute is then bought. */
  isSold: boolean;
  /** When minutes were bought. */
  boughtMs: readonly number[];
};

type WatchUrls = {
  /** As the caller wants it to begin. */
  readonly url: string;
  readonly urlFrom: (cursor: string) => string;
};

export async function* watch(
  context: WatchContext,
  filter: WatchFilter = {},
  options: WatchOptions = {},
): AsyncGenerator<WatchItem, void, undefined> {
  const { signal, onRetry } = options;
  const urlFrom = (from: WatchOptions["from"]) =>
    buildWatchUrl(context, filter, from === undefined ? options : { ...options, from });
  const position: Position = {
    cursor: null,
    retryMs: RETRY_MS,
    failures: 0,
    hasBegun: false,
    isSold: false,
    boughtMs: [],
  };
  // Also rejects a wrong filter before anything is sent.
  const url = urlFrom(undefined);
  for (;;) {
    let problem: SextantError;
    try {
      if (yield* readConnection(context, { url, urlFrom }, position, options)) continue;
      problem = new SextantError("UNREACHABLE", "The service has ended the stream.");
    } catch (error) {
      if (signal?.aborted) throw aborted(error);
      if (!(error instanceof SextantError) || error.retry !== "same-signature") throw error;
      problem = error;
    }
    position.failures += 1;
    if (!position.hasBegun && position.failures >= context.attemptsMax) throw problem;
    const waitMs = chooseWait(position, problem.retryAfterMs);
    onRetry?.(problem, waitMs);
    if (!(await pauseBefore(1, waitMs, signal, RETRY_MS_MAX))) throw aborted(problem);
  }
}

/** The stream from the position on. One that is sold is bought by its URL, which a payment is bound to. */
async function openConnection(
  context: WatchContext,
  { url, urlFrom }: WatchUrls,
  position: Position,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array>> {
  const { cursor, isSold } = position;
  const isByUrl = isSold || cursor === null;
  const request = {
    method: "GET",
    url: isSold && cursor !== null ? urlFrom(cursor) : url,
    headers: { accept: STREAM_TYPE, ...(isByUrl ? {} : { "last-event-id": cursor }) },
    signal,
  };
  const opened = await context.transport.open(request);
  if ("body" in opened) return opened.body;
  if (opened.status !== 402) throw toResponseError(opened);
  position.isSold = true;
  if (!isByUrl) return openConnection(context, { url, urlFrom }, position, signal);
  await waitForMinute(position, signal);
  return context.buyStream(request, opened);
}

/** Counts a purchase; waits if as many were made within the minute as may be. */
async function waitForMinute(position: Position, signal: AbortSignal): Promise<void> {
  const recent = position.boughtMs.filter((ms) => performance.now() - ms < MINUTE_MS);
  const [oldest = 0] = recent;
  if (recent.length >= MINUTES_BOUGHT_MAX) {
    const waitMs = oldest + MINUTE_MS - performance.now();
    if (!(await pauseBefore(1, waitMs, signal, RETRY_MS_MAX))) throw aborted(signal.reason);
  }
  position.boughtMs = [...recent.slice(1 - MINUTES_BOUGHT_MAX), performance.now()];
}

/**
 * The items of one connection. It is closed when the caller stops reading, too. Returns whether it ended because what was
 * paid for is over.
 */
async function* readConnection(
  context: WatchContext,
  urls: WatchUrls,
  position: Position,
  { signal, finality, finalized, include, idleMs = IDLE_MS }: WatchOptions,
): AsyncGenerator<WatchItem, boolean, undefined> {
  const { seen, messageLengthMax } = context;
  const isFinal = finalized === true || finality === "finalized";
  const connection = new AbortController();
  const abort = () => connection.abort();
  if (signal?.aborted) throw aborted(signal.reason);
  signal?.addEventListener("abort", abort, { once: true });
  try {
    const body = await openConnection(context, urls, position, connection.signal);
    const openedMs = performance.now();
    let isOver = false;
    const parser = new MessageParser(messageLengthMax);
    for await (const text of readText(body, idleMs, connection.signal)) {
      for (const message of parser.read(text)) {
        isOver ||= isPaymentOver(message) && performance.now() - openedMs >= PAID_MS_MIN;
        const item = readItem(message);
        if (item === null) continue;
        if (isFinal && item.kind === "undo") throw undoneThoughFinal();
        const lacksRows = item.kind === "event" && item.event.rows === undefined;
        if (include?.startsWith("rows") && lacksRows) throw sentWithoutRows();
        Object.assign(position, { cursor: item.cursor, failures: 0, hasBegun: true });
        seen.observeItem(item);
        yield item;
      }
      if (parser.retryMs !== null) position.retryMs = parser.retryMs;
    }
    return isOver;
  } finally {
    signal?.removeEventListener("abort", abort);
    connection.abort();
  }
}

/** Text as it arrives. Time counts only while waiting for the server: the caller may take as long as it likes. */
async function* readText(
  body: ReadableStream<Uint8Array>,
  idleMs: number,
  signal: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  const reader = body.getReader();
  const decode = createDecoder();
  try {
    for (;;) {
      const { done, value } = await readChunk(reader, idleMs, signal);
      if (done) return;
      yield decode(value);
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

type Chunk = Awaited<ReturnType<ReadableStreamDefaultReader<Uint8Array>["read"]>>;

function readChunk(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  idleMs: number,
  signal: AbortSignal,
): Promise<Chunk> {
  return new Promise((resolve, reject) => {
    const fail = (message: string, cause?: unknown) => {
      settle();
      reject(new SextantError("UNREACHABLE", message, { cause }));
    };
    const abort = () => fail("The stream was closed.", signal.reason);
    const timer = setTimeout(() => fail(`The stream was silent for ${idleMs} ms.`), idleMs);
    const settle = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", abort);
    };
    signal.addEventListener("abort", abort, { once: true });
    reader.read().then(
      (chunk) => {
        settle();
        resolve(chunk);
      },
      (cause: unknown) => fail("The connection of the stream broke.", cause),
    );
  });
}

/** A character may be split between two chunks. */
function createDecoder(): (bytes: Uint8Array) => string {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  return (bytes) => {
    try {
      return decoder.decode(bytes, { stream: true });
    } catch (cause) {
      throw new SextantError("RESPONSE_INVALID", "The stream is not UTF-8 text.", { cause });
    }
  };
}

function buildWatchUrl(context: WatchContext, filter: WatchFilter, options: WatchOptions): string {
  const { finality, finalized } = options;
  if (finalized === true && finality !== undefined && finality !== "finalized") {
    throw new SextantError(
      "INPUT_INVALID",
      `finalized: true and finality: "${finality}" exclude each other.`,
    );
  }
  const { type, ...subjects } = filter;
  const types = typeof type === "string" ? type : type?.join(",");
  if (types === "") throw new SextantError("INPUT_INVALID", "type must name at least one event.");
  const parameters = {
    ...subjects,
    type: types,
    from: options.from,
    finality: finalized === true ? "finalized" : finality,
    include: options.include,
  };
  return buildUrl(context, { id: "watch", operation: OPERATIONS.readEvents, parameters, block: null });
}

/** The pause that the server asks for, doubled after each failure, with a random part so that clients spread. */
function chooseWait({ retryMs, failures }: Position, retryAfterMs: number | null): number {
  const base = Math.max(retryMs, RETRY_MS_MIN) * 2 ** Math.min(failures - 1, DOUBLINGS_MAX);
  const spread = base * (1 + Math.random() / 2);
  return Math.round(Math.min(Math.max(spread, retryAfterMs ?? 0), RETRY_MS_MAX));
}

function aborted(cause: unknown): SextantError {
  return new SextantError("ABORTED", "The watch was aborted.", { cause });
}

function sentWithoutRows(): SextantError {
  return new SextantError(
    "RESPONSE_INVALID",
    "The service sends events without rows: it is of an earlier version. Watch without include, or upgrade it.",
  );
}

function undoneThoughFinal(): SextantError {
  return new SextantError(
    "RESPONSE_INVALID",
    "The service undoes events that were to be final. If the cursor comes from a watch that was not finalized, begin before it.",
  );
}
