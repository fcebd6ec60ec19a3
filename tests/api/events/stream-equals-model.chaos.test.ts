// Who folds the stream, undos included, has the rows of the index: the reference model is fed from GET /events.
import { expect, it, onTestFinished, vi } from "vitest";
import { readCheckpoint } from "../../../src/store/index/checkpoint.ts";
import {
  compare,
  FORK_DEPTH,
  reachHead,
  setStage,
  startIndexing,
} from "../../reference-model/index-equals-model.ts";
import { type ModelEvent, readModelEvents } from "../../reference-model/model-events.ts";
import { type EventStreamClient, openEventStreamClient } from "../../support/http/event-stream-client.ts";
import { startTestApi } from "../../support/http/test-api.ts";
import { EventModel } from "./event-model.ts";

type StreamedEvent = Parameters<EventModel["append"]>[0] & {
  readonly type: string;
  readonly contract: string;
  readonly args: Readonly<Record<string, string | boolean>>;
};

const STEPS = 60;
const FINAL_BLOCKS = 8;

/** A client of the documentation: applies, undoes, and resumes from its last id. */
class FoldingClient {
  readonly model = new EventModel();
  readonly #url: string;
  #stream: EventStreamClient | null = null;
  #lastEventId = "";

  constructor(url: string) {
    this.#url = url;
  }

  async connect(): Promise<void> {
    this.disconnect();
    const stream = await openEventStreamClient(this.#url, {
      lastEventId: this.#lastEventId,
      onMessage: ({ event, id, data }) => {
        const record = JSON.parse(data);
        if (event === "message") this.model.append(record);
        else if (event === "undo") this.model.undo(record);
        else this.model.progress(record);
        this.#lastEventId = id ?? this.#lastEventId;
      },
    });
    this.#stream = stream;
  }

  disconnect(): void {
    this.#stream?.close();
    this.#stream = null;
  }

  /** What was streamed as the model takes it; the contract views, which no event has, come from the chain. */
  toModelEvents(chain: readonly ModelEvent[]): ModelEvent[] {
    const byPlace = new Map(chain.map((event) => [`${event.block} ${event.logIndex}`, event]));
    return (this.model.events as StreamedEvent[]).map((streamed) => {
      const place = `${streamed.block_number} ${streamed.log_index}`;
      const event = byPlace.get(place);
      if (!event) throw new Error(`the chain has no event at ${place}`);
      expect([streamed.contract, streamed.type]).toEqual([event.contract, event.event]);
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

it("the model folded from the stream equals the rows, instant and finalized, across a fork", async () => {
  const stage = await setStage(21, STEPS);
  const index = await startIndexing(stage);
  const api = await startTestApi(index.database);
  onTestFinished(() => api.close());
  const clients = ["instant", "instant", "finalized"].map(
    (finality) => new FoldingClient(`${api.url}/events?from=genesis&finality=${finality}`),
  );
  onTestFinished(() => {
    for (const client of clients) client.disconnect();
  });
  const [present, absent, finalized] = clients as [FoldingClient, FoldingClient, FoldingClient];
  for (const client of clients) await client.connect();
  await stage.play();
  // Most events become final, and none of them can be undone below.
  await stage.chain.mine(FINAL_BLOCKS);
  const head = await reachHead(stage, index);
  const patience = { timeout: 30_000, interval: 20 };
  for (const { model } of [present, absent])
    await vi.waitFor(() => expect(model.complete).toBe(head), patience);
  // One is notified at once; the other is away during the fork, and resumes on a branch that is gone.
  absent.disconnect();
  await stage.chain.reorg(FORK_DEPTH, { replay: "none", blocks: FORK_DEPTH + 1 });
  const forked = await reachHead(stage, index);
  await absent.connect();
  const chain = await readModelEvents(stage.chain.request, stage.deployment);
  for (const client of [present, absent]) {
    await vi.waitFor(() => expect(client.model.complete).toBe(forked), patience);
    expect(client.model.events).toHaveLength(chain.length);
    expect(client.model.undoCount).toBe(1);
    await compare(index, client.toModelEvents(chain), [forked, forked - FORK_DEPTH]);
  }
  const { model } = finalized;
  const final = (await readCheckpoint(index.database))?.finalized ?? 0;
  await vi.waitFor(() => expect(model.complete).toBe(final), patience);
  expect(model.undoCount).toBe(0);
  expect(model.events.length).toBeGreaterThan(0);
  expect(model.events).toHaveLength(chain.filter(({ block }) => block <= final).length);
  await compare(index, finalized.toModelEvents(chain), [final]);
}, 120_000);
