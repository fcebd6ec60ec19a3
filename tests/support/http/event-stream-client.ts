// A client of Server-Sent Events over a plain connection: reads messages as the standard says, or stops reading.
import { type ClientRequest, type IncomingMessage, request } from "node:http";

export type StreamMessage = {
  /** The name of the message; "message" without one. */
  readonly event: string;
  /** Undefined if the message has none; "" if it takes the last one back. */
  readonly id: string | undefined;
  readonly data: string;
};

export type EventStreamClient = {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  /** As received so far. */
  readonly messages: readonly StreamMessage[];
  /** Comments, in order. */
  readonly comments: readonly string[];
  /** The last `retry`, in milliseconds. */
  readonly retryMs: number | null;
  /** The header that a client sends when it connects again. */
  readonly lastEventId: string;
  /** The body of a response that is not a stream. */
  readonly text: string;
  /** Resolves when either side has ended the connection. */
  readonly ended: Promise<void>;
  /** Takes nothing from the connection until `resume`. */
  pause(): void;
  resume(): void;
  close(): void;
};

type StreamState = {
  messages: StreamMessage[];
  comments: string[];
  retryMs: number | null;
  lastEventId: string;
  text: string;
};

/** Resolves once the head of the response is there. */
export function openEventStreamClient(
  url: string,
  options: {
    readonly lastEventId?: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly onMessage?: (message: StreamMessage) => void;
  } = {},
): Promise<EventStreamClient> {
  const { lastEventId = "" } = options;
  const headers = {
    accept: "text/event-stream",
    ...(lastEventId === "" ? {} : { "last-event-id": lastEventId }),
    ...options.headers,
  };
  const state: StreamState = { messages: [], comments: [], retryMs: null, lastEventId, text: "" };
  return new Promise((resolve, reject) => {
    // A connection of its own, as a stream has: the client must not wait for others.
    const sent: ClientRequest = request(url, { headers, agent: false }, (response) => {
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => readChunk(state, chunk, options.onMessage));
      response.on("error", () => undefined);
      const ended = new Promise<void>((done) => response.once("close", () => done()));
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        get messages() {
          return state.messages;
        },
        get comments() {
          return state.comments;
        },
        get retryMs() {
          return state.retryMs;
        },
        get lastEventId() {
          return state.lastEventId;
        },
        get text() {
          return state.text;
        },
        ended,
        pause: () => void response.pause(),
        resume: () => void response.resume(),
        close: () => void sent.destroy(),
      });
    });
    sent.on("error", reject);
    sent.end();
  });
}

/** Dispatches the messages that are complete; the rest waits for the next chunk. */
function readChunk(
  state: StreamState,
  chunk: string,
  onMessage: (message: StreamMessage) => void = () => undefined,
): void {
  state.text += chunk;
  for (let end = state.text.indexOf("\n\n"); end >= 0; end = state.text.indexOf("\n\n")) {
    const block = state.text.slice(0, end);
    state.text = state.text.slice(end + 2);
    const message = readMessage(state, block);
    if (message === null) continue;
    state.messages.push(message);
    onMessage(message);
  }
}

function readMessage(state: StreamState, block: string): StreamMessage | null {
  let event = "message";
  let id: string | undefined;
  const data: string[] = [];
  for (const line of block.split("\n")) {
    const [, field = "", value = ""] = /^([^:]*):? ?(.*)$/.exec(line) ?? [];
    if (field === "") state.comments.push(value);
    else if (field === "event") event = value;
    else if (field === "data") data.push(value);
    else if (field === "retry") state.retryMs = Number(value);
    else if (field === "id") id = value;
  }
  if (id !== undefined) state.lastEventId = id;
  return data.length === 0 ? null : { event, id, data: data.join("\n") };
}
