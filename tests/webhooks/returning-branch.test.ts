// A branch that is removed and comes back: an undo that was decided is delivered, and events are applied again.
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import type { ReadEvents } from "../../src/api/events/read-events.ts";
import { EventIndex } from "../api/events/event-index.ts";
import { Receiver } from "./receiver.ts";
import { addWebhook, change, type DeliveringProcess, readWebhook, startDelivering } from "./webhook-stage.ts";

let index: EventIndex;
let receiver: Receiver;
let webhook: string;
let delivering: DeliveringProcess;

beforeAll(async () => {
  index = await EventIndex.open();
});
afterAll(() => index.drop());
beforeEach(async () => {
  await index.reset();
  await index.database.query("truncate webhooks");
  receiver = await Receiver.start();
  webhook = await addWebhook(index.database, receiver.url);
  delivering = startDelivering(index.database);
  onTestFinished(async () => {
    await delivering.close();
    await receiver.stop();
  });
});

const patiently = { timeout: 20_000, interval: 20 };
const chainIds = () => index.events().map(({ id }) => id);

async function expectHeld(): Promise<void> {
  delivering.webhooks.onChange();
  await expect.poll(() => receiver.ids, patiently).toEqual(chainIds());
  expect(receiver.problems).toEqual([]);
}

async function expectFailure(): Promise<void> {
  delivering.webhooks.onChange();
  const failures = async () => (await readWebhook(index.database, webhook)).failures;
  await expect.poll(failures, patiently).toBeGreaterThan(0);
}

/** The ids of the messages that delivered an event. */
const messagesOf = (event: string | undefined) =>
  receiver.attempts.filter(({ data }) => data.id === event).map(({ id }) => id);

describe("a branch that comes back", () => {
  it("sends a returning branch under new ids, so that no receiver drops it", async () => {
    await index.extend([1, 2, 1]);
    await expectHeld();
    const first = index.events();
    await index.rollback(2);
    await index.extend([1, 0, 1]);
    await expectHeld();
    await index.returnToRemoved();
    await expectHeld();
    expect(index.events()).toEqual(first);
    expect(receiver.undoCount).toBe(2);
    // Every message has an id of its own, and each event of the branch came in two of them.
    const ids = receiver.attempts.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(first.map(({ id }) => messagesOf(id).length)).toEqual([1, 2, 2, 2]);
  });

  it("delivers a branch again that was replaced, while a webhook was read, and has come back", async () => {
    await delivering.close();
    await index.database.query("truncate webhooks");
    await addWebhook(index.database, receiver.url);
    await index.extend([1, 2, 1]);
    let readings = 0;
    let hasReturned = false;
    const wrapReads = (readEvents: ReadEvents): ReadEvents => {
      return async (request) => {
        readings += 1;
        if (readings === 1) await index.rollback(2);
        if (readings === 1) await index.extend([1, 0, 1]);
        const page = await readEvents(request);
        if (readings === 2) {
          await index.returnToRemoved();
          hasReturned = true;
        }
        return page;
      };
    };
    delivering = startDelivering(index.database, {}, { wrapReads });
    await expect.poll(() => hasReturned, patiently).toBe(true);
    await expectHeld();
    expect(receiver.undoCount).toBe(1);
  });

  it("keeps an undo that was decided and not yet delivered when the branch comes back", async () => {
    await index.extend([1, 1, 1]);
    await expectHeld();
    receiver.behave((_message, response) => void response.writeHead(503).end());
    await index.rollback(2);
    await index.extend([1]);
    await expectFailure();
    expect(receiver.attempts.at(-1)).toMatchObject({ type: "chain.undo", data: { block_number: "1" } });
    const [other] = index.events().slice(1);
    await index.returnToRemoved();
    receiver.behave(null);
    await change(index.database, webhook, { action: "resume" });
    delivering.webhooks.onChange();
    await expect.poll(() => receiver.undoCount, patiently).toBe(1);
    await expectHeld();
    const undos = receiver.attempts.filter(({ type }) => type === "chain.undo").map(({ id }) => id);
    expect(new Set(undos).size).toBe(1);
    expect(messagesOf(other?.id)).toEqual([]);
    expect(chainIds().map((id) => new Set(messagesOf(id)).size)).toEqual([1, 2, 2]);
  });

  it("sends no undo if the event that the receiver may have is on the chain again", async () => {
    await index.extend([1]);
    await expectHeld();
    // The receiver takes the event, and the sender never learns it.
    receiver.behave((message, response) => {
      receiver.hold(message);
      response.destroy();
    });
    await index.extend([1]);
    await expectFailure();
    await change(index.database, webhook, { action: "pause" });
    await index.rollback(1);
    await index.extend([1, 1]);
    await index.returnToRemoved();
    receiver.behave(null);
    await change(index.database, webhook, { action: "resume" });
    const delivered = async () => (await readWebhook(index.database, webhook)).delivered;
    delivering.webhooks.onChange();
    await expect.poll(delivered, patiently).toBe("2");
    await expectHeld();
    expect(receiver.undoCount).toBe(0);
    expect(new Set(messagesOf(chainIds()[1])).size).toBe(1);
  });

  it("undoes a returning branch that goes again before the receiver is asked", async () => {
    await index.extend([1, 1]);
    await expectHeld();
    await change(index.database, webhook, { action: "pause" });
    await index.rollback(1);
    await index.extend([1]);
    await index.returnToRemoved();
    await index.returnToRemoved();
    await change(index.database, webhook, { action: "resume" });
    await expectHeld();
    expect(receiver.undoCount).toBe(1);
    expect(receiver.attempts.map(({ type }) => type.split(".")[0])).toEqual([
      "event",
      "event",
      "chain",
      "event",
    ]);
  });
});
