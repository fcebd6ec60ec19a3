// A client of events as documented that outlasts everything: resumes from its last id, folds, and keeps what was wrong.
import { setTimeout as pause } from "node:timers/promises";
import { expect } from "vitest";
import type { Finality } from "../../../src/store/index/event-logs.ts";
import type { ModelEvent } from "../../reference-model/model-events.ts";
import {
  type EventStreamClient,
  openEventStreamClient,
  type StreamMessage,
} from "../../support/http/event-stream-client.ts";
import { EventModel } from "./event-model.ts";

type StreamedEvent = Parameters<EventModel["append"]>[0] & {
  readonly type: string;
  readonly contract: string;
  readonly args: Readonly<Record<string, string | boolean>>;
  readonly tx_hash: string;
  readonly block_hash: string;
  readonly cursor: string;
};

const RECONNECT_MS = 50;

export class FoldingClient {
  readonly model = new EventModel();
  readonly finality: Finality;
  /** How often it was connected. */
  connections = 0;
  readonly #url: () => string;
  /** Every event that was ever received, by its id. */
  readonly #received = new Map<string, string>();
  readonly #problems: unknown[] = [];
  #lastEventId = "";
  #stream: EventStreamClient | null = null;
  #isStopped = false;
  #isAway = false;

  /** `url` of the API, which may be elsewhere after a restart. */
  constructor(finality: Finality, url: () => string) {
    this.finality = finality;
    this.#url = url;
    void this.#follow();
  }

  /** Loses the connection with everything that it still had to say, and stays away until `comeBack`. */
  leave(): void {
    this.#isAway = true;
    const stream = this.#stream;
    this.#stream = null;
    stream?.close();
  }

  comeBack(): void {
    this.#isAway = false;
  }

  stop(): void {
    this.#isStopped = true;
    this.leave();
  }

  assertSound(): void {
    for (const problem of this.#problems) throw problem;
  }

  async #follow(): Promise<void> {
    while (!this.#isStopped) {
      // A process that is killed takes no connections until it is back.
      if (!this.#isAway) await this.#connect().catch(() => undefined);
      await pause(RECONNECT_MS);
    }
  }

  async #connect(): Promise<void> {
    const received: { stream: EventStreamClient | null } = { stream: null };
    const stream = await openEventStreamClient(
      `${this.#url()}/events?from=genesis&finality=${this.finality}`,
      {
        lastEventId: this.#lastEventId,
        onMessage: (message) => {
          if (received.stream === null || received.stream === this.#stream) this.#receive(message);
        },
      },
    );
    received.stream = stream;
    if (this.#isAway || stream.status !== 200) return stream.close();
    this.connections += 1;
    this.#stream = stream;
    await stream.ended;
  }

  #receive({ event, id, data }: StreamMessage): void {
    try {
      const record = JSON.parse(data);
      if (event === "message") this.#append(record);
      else if (event === "undo") this.model.undo(record);
      else if (event === "progress") this.model.progress(record);
      else throw new Error(`unexpected ${event}: ${data}`);
      this.#lastEventId = id ?? this.#lastEventId;
    } catch (error) {
      this.#problems.push(error);
    }
  }

  /** The cursor may differ in what was final when it was issued; nothing else may. */
  #append({ cursor: _, ...event }: StreamedEvent): void {
    expect(event.id).toBe(`${event.block_hash}-${event.log_index}`);
    const text = JSON.stringify(event);
    expect(text).toBe(this.#received.get(event.id) ?? text);
    this.#received.set(event.id, text);
    this.model.append(event);
  }

  /**
   * The state of the client in the form of the reference model; contract views, which no event has, come from the
   * chain.
   */
  toModelEvents(chain: readonly ModelEvent[]): ModelEvent[] {
    const byPlace = new Map(chain.map((event) => [`${event.block} ${event.logIndex}`, event]));
    return (this.model.events as StreamedEvent[]).map((streamed) => {
      const place = `${streamed.block_number} ${streamed.log_index}`;
      const event = byPlace.get(place);
      if (!event) throw new Error(`the chain has no event at ${place}`);
      expect([streamed.contract, streamed.type]).toEqual([event.contract, event.event]);
      expect(streamed.tx_hash).toBe(event.transactionHash);
      return { ...event, args: parseLike(streamed.args, event.args) };
    });
  }
}

/** Text back into the types that the model computes with. */
function parseLike(texts: StreamedEvent["args"], typed: ModelEvent["args"]): ModelEvent["args"] {
  expect(Object.keys(texts).sort()).toEqual(Object.keys(typed).sort());
  const parse = (text: string | boolean | undefined, like: unknown) =>
    typeof like === "bigint" ? BigInt(String(text)) : typeof like === "number" ? Number(text) : text;
  return Object.fromEntries(Object.keys(typed).map((name) => [name, parse(texts[name], typed[name])]));
}
