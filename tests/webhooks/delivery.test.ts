// Delivery to real receivers over a real database: order, undo, retries, and receivers that fail in every way.
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { RETRY_MS } from "../../src/api/webhooks/deliver.ts";
import { addUndo, createEventMessage, type UndoneBlocks } from "../../src/api/webhooks/messages.ts";
import { REQUEST_MS_MAX } from "../../src/api/webhooks/send.ts";
import type { Clock } from "../../src/lib/clock.ts";
import { systemClock } from "../../src/lib/clock.ts";
import type { EventRecord } from "../../src/protocol/event-page.ts";
import { EventIndex, OWNERS } from "../api/events/event-index.ts";
import { Receiver } from "./receiver.ts";
import {
  addWebhook,
  change,
  type DeliveringProcess,
  isDeliveryIdle,
  readWebhook,
  startDelivering,
} from "./webhook-stage.ts";

let index: EventIndex;
beforeAll(async () => {
  index = await EventIndex.open();
});
afterAll(() => index.drop());
beforeEach(async () => {
  await index.reset();
  await index.database.query("truncate webhooks");
});

async function startReceiver(): Promise<Receiver> {
  const receiver = await Receiver.start();
  onTestFinished(() => receiver.stop());
  return receiver;
}

function start(options: Parameters<typeof startDelivering>[1] = {}): DeliveringProcess {
  const delivering = startDelivering(index.database, options);
  onTestFinished(() => delivering.close());
  return delivering;
}

const chainIds = (upTo?: number) => index.events(upTo).map(({ id }) => id);
const patiently = { timeout: 15_000, interval: 20 };
const expectHeld = (receiver: Receiver, ids: () => readonly string[]) =>
  expect.poll(() => receiver.ids, patiently).toEqual(ids());

describe("events", () => {
  it("events arrive in order, signed, and once; then as they happen", async () => {
    const receiver = await startReceiver();
    await index.extend([2, 0, 3]);
    const id = await addWebhook(index.database, receiver.url);
    const { service, webhooks } = start();
    receiver.expectSecret(() => service.signer.secretOf(id, 1));
    await expectHeld(receiver, chainIds);
    await index.extend([1, 4]);
    webhooks.onChange();
    await expectHeld(receiver, chainIds);
    expect(receiver.attempts).toHaveLength(index.events().length);
    expect(receiver.problems).toEqual([]);
    expect(receiver.attempts[0]).toMatchObject({
      type: `event.${index.events()[0]?.type}`,
      data: { id: index.events()[0]?.id, description: expect.any(String), cursor: expect.any(String) },
    });
    // The receiver has a message a moment before the sender knows.
    await expect.poll(async () => (await readWebhook(index.database, id)).delivered, patiently).toBe("10");
    expect(await readWebhook(index.database, id)).toMatchObject({ failures: 0, status: "active" });
  });

  it("each webhook gets the events that pass its filter, also while many follow the head together", async () => {
    const [all, some] = [await startReceiver(), await startReceiver()];
    await addWebhook(index.database, all.url);
    await addWebhook(index.database, some.url, { types: ["IntentCancelled"] });
    const { webhooks } = start();
    for (let block = 0; block < 6; block += 1) {
      await index.extend([2]);
      webhooks.onChange();
      await expectHeld(all, chainIds);
    }
    const cancelled = index.events().filter(({ type }) => type === "IntentCancelled");
    expect(cancelled.length).toBeGreaterThan(0);
    await expectHeld(some, () => cancelled.map(({ id }) => id));
  });

  it("a filter that only rows can decide holds in history and at the head", async () => {
    const receiver = await startReceiver();
    const [owner = "0x"] = OWNERS;
    await index.extend([6, 6]);
    await addWebhook(index.database, receiver.url, {
      types: ["IntentCancelled"],
      subjects: { account: owner },
    });
    const { webhooks } = start();
    // A cancellation names an intent and no account; of these three owners each has every third intent.
    const wanted = () =>
      index.events().filter((event) => event.type === "IntentCancelled" && event.owner === owner);
    await expectHeld(receiver, () => wanted().map(({ id }) => id));
    const before = wanted().length;
    for (let block = 0; block < 4; block += 1) {
      await index.extend([6]);
      webhooks.onChange();
      await expectHeld(receiver, () => wanted().map(({ id }) => id));
    }
    expect(before).toBeGreaterThan(0);
    expect(wanted().length).toBeGreaterThan(before);
  });

  it("events of an owner and the owner's accounts arrive, and none of others, in history and at the head", async () => {
    const receiver = await startReceiver();
    const [owner = "0x", account = "0x"] = OWNERS;
    await index.extend([6]);
    await addWebhook(index.database, receiver.url, { owner, accounts: [account] });
    const { webhooks } = start();
    const ids = () =>
      index
        .events()
        .filter((event) => event.owner === owner || event.owner === account)
        .map(({ id }) => id);
    await expectHeld(receiver, ids);
    await index.extend([12]);
    webhooks.onChange();
    await expectHeld(receiver, ids);
    expect(ids().length).toBe(12);
    expect(receiver.attempts).toHaveLength(12);
  });

  it("a webhook waits for its first block if that is not indexed yet", async () => {
    const receiver = await startReceiver();
    const id = await addWebhook(index.database, receiver.url, { from: "3" });
    const { webhooks } = start();
    await index.extend([1]);
    webhooks.onChange();
    await sleep(300);
    expect(await readWebhook(index.database, id)).toMatchObject({ status: "active", failures: 0 });
    await index.extend([1, 2]);
    webhooks.onChange();
    await expectHeld(receiver, () => chainIds().slice(2));
  });

  it("events are undone before those of another branch, and only if they were delivered", async () => {
    const [receiver, quiet] = [await startReceiver(), await startReceiver()];
    await addWebhook(index.database, receiver.url);
    await addWebhook(index.database, quiet.url, { types: ["AgentRegistered"] });
    start();
    await index.extend([2, 2, 2]);
    await expectHeld(receiver, chainIds);
    await index.rollback(2);
    await index.extend([1, 3, 1]);
    await expectHeld(receiver, chainIds);
    expect(receiver.undoCount).toBe(1);
    expect(receiver.problems).toEqual([]);
    expect(quiet.attempts).toEqual([]);
  });

  it("a webhook of final events gets them once they are final, and never an undo", async () => {
    const receiver = await startReceiver();
    await addWebhook(index.database, receiver.url, { finality: "finalized" });
    start();
    await index.extend([2, 2, 2], 2);
    await expectHeld(receiver, () => chainIds(1));
    await index.rollback(2);
    await index.extend([1, 1, 1], 1);
    await expectHeld(receiver, () => chainIds(index.finalized));
    expect(receiver.undoCount).toBe(0);
    expect(index.finalized).toBe(3);
  });

  it("replayed events have the ids they had, also those from before an undo", async () => {
    const receiver = await startReceiver();
    const id = await addWebhook(index.database, receiver.url);
    const { webhooks } = start();
    await index.extend([1, 1, 1]);
    await expectHeld(receiver, chainIds);
    // Two reorgs, the second one deeper: what each removes comes back under other ids.
    for (const depth of [1, 2]) {
      await index.rollback(depth);
      await index.extend([1, 1]);
      webhooks.onChange();
      await expectHeld(receiver, chainIds);
    }
    const idOf = new Map(receiver.attempts.map((each) => [each.data.id, each.id]));
    const sent = receiver.attempts.length;
    await expect.poll(() => isDeliveryIdle(index.database), patiently).toBe(true);
    await change(index.database, id, { action: "replay", position: "genesis" });
    webhooks.onChange();
    await expect.poll(() => receiver.attempts.length - sent, patiently).toBe(index.events().length);
    const replayed = receiver.attempts.slice(sent);
    expect(replayed.map(({ data }) => data.id)).toEqual(chainIds());
    expect(replayed.map((each) => each.id)).toEqual(chainIds().map((each) => idOf.get(each)));
    expect(receiver.ids).toEqual(chainIds());
    expect(receiver.problems).toEqual([]);
  }, 60_000);

  it("events of a branch that comes back have new ids, so that no receiver takes them for duplicates", () => {
    const record = { block_number: "7", block_timestamp: "0", id: "0xaa-1", type: "IntentFilled" };
    const idAfter = (undos: UndoneBlocks) =>
      createEventMessage({ id: "wh_a", undos }, record as unknown as EventRecord).id;
    const first = idAfter([]);
    const once = idAfter(addUndo([], 6, 1));
    const twice = idAfter(addUndo(addUndo([], 6, 1), 3, 2));
    expect(new Set([first, once, twice]).size).toBe(3);
    // Nothing up to the block of an undo was removed.
    expect(idAfter(addUndo([], 7, 1))).toBe(first);
    expect(idAfter(addUndo(addUndo([], 6, 1), 7, 2))).toBe(once);
  });

  it("events keep their ids apart after more undos than a webhook remembers", () => {
    let undos: UndoneBlocks = [];
    for (let epoch = 1; epoch <= 150; epoch += 1) undos = addUndo(undos, 10 * epoch, epoch);
    expect(undos.length).toBe(100);
    // Events before the first undo were never removed; the oldest of the others count as new rather than as old ones.
    expect(undos[0]).toEqual({ block: 10, epoch: 51 });
    expect(undos.at(-1)).toEqual({ block: 1_500, epoch: 150 });
  });
});

describe("an event whose delivery is not known", () => {
  it("undoes an uncertain event if a reorg removes it before it is sent again", async () => {
    const receiver = await startReceiver();
    const id = await addWebhook(index.database, receiver.url);
    const { webhooks } = start();
    await index.extend([1]);
    await expectHeld(receiver, chainIds);
    // The receiver takes the event, and the sender never learns it.
    receiver.behave((message, response) => {
      receiver.hold(message);
      response.destroy();
    });
    await index.extend([1]);
    webhooks.onChange();
    await expect.poll(async () => (await readWebhook(index.database, id)).failures, patiently).toBe(1);
    expect(receiver.ids).toEqual(chainIds());
    await index.rollback(1);
    await index.extend([0, 1]);
    receiver.behave(null);
    await change(index.database, id, { action: "resume" });
    webhooks.onChange();
    await expectHeld(receiver, chainIds);
    expect(receiver.undoCount).toBe(1);
    expect(receiver.problems).toEqual([]);
  });

  it("undoes an uncertain event of a branch of unknown start, and sends all since again", async () => {
    const receiver = await startReceiver();
    const id = await addWebhook(index.database, receiver.url);
    const { webhooks } = start();
    await index.extend([1, 1, 1]);
    await expectHeld(receiver, chainIds);
    receiver.behave((message, response) => {
      receiver.hold(message);
      response.destroy();
    });
    await index.extend([1]);
    webhooks.onChange();
    await expect.poll(async () => (await readWebhook(index.database, id)).failures, patiently).toBe(1);
    await index.rollback(1);
    // As after an indexing from nothing: the undo then goes down to what was final, below the webhook's own position.
    await index.database.query("truncate abandoned_blocks");
    await index.extend([0, 1]);
    receiver.behave(null);
    await change(index.database, id, { action: "resume" });
    webhooks.onChange();
    await expectHeld(receiver, chainIds);
    expect(receiver.undoCount).toBe(1);
    expect(receiver.problems).toEqual([]);
  });

  it("sends an uncertain event again with the same id", async () => {
    const receiver = await startReceiver();
    const id = await addWebhook(index.database, receiver.url);
    const { webhooks } = start();
    receiver.behave((_, response) => void response.writeHead(500).end());
    await index.extend([1]);
    webhooks.onChange();
    await expect.poll(async () => (await readWebhook(index.database, id)).failures, patiently).toBe(1);
    receiver.behave(null);
    await change(index.database, id, { action: "resume" });
    webhooks.onChange();
    await expectHeld(receiver, chainIds);
    expect(receiver.attempts).toHaveLength(2);
    expect(receiver.attempts[0]?.id).toBe(receiver.attempts[1]?.id);
  });

  it("undoes an uncertain event though a deeper reorg comes before the undo is delivered", async () => {
    const receiver = await startReceiver();
    const id = await addWebhook(index.database, receiver.url);
    const { webhooks } = start();
    await index.extend([1, 1]);
    await expectHeld(receiver, chainIds);
    receiver.behave((_, response) => void response.writeHead(503).end());
    await index.rollback(1);
    await index.extend([1]);
    webhooks.onChange();
    await expect.poll(async () => (await readWebhook(index.database, id)).failures, patiently).toBe(1);
    expect((await readWebhook(index.database, id)).undo).not.toBeNull();
    await index.rollback(2);
    await index.extend([2, 1, 1]);
    receiver.behave(null);
    await change(index.database, id, { action: "resume" });
    webhooks.onChange();
    await expectHeld(receiver, chainIds);
    expect(receiver.problems).toEqual([]);
  });
});

/** The time of the process, which a test moves; sleeping takes its real time. */
class MovableClock implements Clock {
  #aheadMs = 0;
  nowMs = () => Date.now() + this.#aheadMs;
  sleep = systemClock.sleep;
  move(ms: number): void {
    this.#aheadMs += ms;
  }
}

describe("a receiver that fails", () => {
  it("retries a failing receiver by the specified table, then disables it until it is back", async () => {
    const receiver = await startReceiver();
    const clock = new MovableClock();
    const id = await addWebhook(index.database, receiver.url);
    const { webhooks } = start({ clock });
    await index.extend([2, 1]);
    receiver.behave((_, response) => void response.writeHead(500).end("out of order"));
    for (const [failures, delayMs] of RETRY_MS.entries()) {
      await expect
        .poll(async () => (await readWebhook(index.database, id)).failures, patiently)
        .toBe(failures + 1);
      const { retryAt } = await readWebhook(index.database, id);
      const waitMs = Date.parse(retryAt ?? "") - clock.nowMs();
      expect(waitMs).toBeGreaterThan(delayMs - 5_000);
      expect(waitMs).toBeLessThanOrEqual(delayMs * 1.1);
      await index.extend([1]);
      clock.move(waitMs + 100);
      webhooks.onChange();
    }
    await expect.poll(async () => (await readWebhook(index.database, id)).status, patiently).toBe("disabled");
    expect(await readWebhook(index.database, id)).toMatchObject({
      ...{ disabledReason: "failing", failures: 10, delivered: "0" },
      lastError: "status 500",
    });
    expect(receiver.attempts).toHaveLength(10);
    expect(new Set(receiver.attempts.map((each) => each.id)).size).toBe(1);
    expect(RETRY_MS.reduce((sum, each) => sum + each)).toBe((75 * 3_600 + 35 * 60 + 5) * 1_000);
    receiver.behave(null);
    await change(index.database, id, { action: "resume" });
    webhooks.onChange();
    await expectHeld(receiver, chainIds);
    expect(receiver.problems).toEqual([]);
  }, 60_000);

  it.each([
    ["responds 410", 410, "disabled"],
    ["redirects", 307, "active"],
    ["responds 404", 404, "active"],
  ])("a receiver that %s is not asked again at once, and keeps its cursor", async (_, status, expected) => {
    const [receiver, elsewhere] = [await startReceiver(), await startReceiver()];
    const id = await addWebhook(index.database, receiver.url);
    receiver.behave((__, response) => void response.writeHead(status, { location: elsewhere.url }).end());
    const { webhooks } = start();
    await index.extend([1]);
    webhooks.onChange();
    await expect.poll(async () => (await readWebhook(index.database, id)).failures, patiently).toBe(1);
    await sleep(300);
    expect(await readWebhook(index.database, id)).toMatchObject({ status: expected, delivered: "0" });
    expect(receiver.attempts).toHaveLength(1);
    expect(elsewhere.attempts).toHaveLength(0);
  });

  it("retries a receiver later that sends Retry-After", async () => {
    const receiver = await startReceiver();
    const id = await addWebhook(index.database, receiver.url);
    receiver.behave((_, response) => void response.writeHead(429, { "retry-after": "600" }).end());
    start();
    await index.extend([1]);
    await expect.poll(async () => (await readWebhook(index.database, id)).failures, patiently).toBe(1);
    const { retryAt } = await readWebhook(index.database, id);
    expect(Date.parse(retryAt ?? "") - Date.now()).toBeGreaterThan(590_000);
  });

  it("a receiver that hangs delays no other, and no response fills the memory or the table", async () => {
    const [hanging, endless, receiver] = [
      await startReceiver(),
      await startReceiver(),
      await startReceiver(),
    ];
    hanging.behave(() => undefined);
    endless.behave((_, response) => {
      response.writeHead(500);
      const more = () => {
        while (!response.destroyed && response.write("x".repeat(100_000)));
      };
      response.on("drain", more);
      more();
    });
    for (let count = 0; count < 20; count += 1) await addWebhook(index.database, hanging.url);
    const id = await addWebhook(index.database, endless.url);
    await addWebhook(index.database, receiver.url);
    start();
    await index.extend([2]);
    await expectHeld(receiver, chainIds);
    await expect.poll(async () => (await readWebhook(index.database, id)).failures, patiently).toBe(1);
    expect((await readWebhook(index.database, id)).lastError?.length).toBeLessThan(300);
    await expect.poll(() => hanging.attempts.length, patiently).toBe(20);
  });

  it("a receiver has the message after a successful response that never ends", async () => {
    const receiver = await startReceiver();
    const id = await addWebhook(index.database, receiver.url);
    receiver.behave((message, response) => {
      receiver.hold(message);
      response.writeHead(200);
      response.write("x".repeat(100_000));
    });
    start();
    await index.extend([1]);
    await expect.poll(async () => (await readWebhook(index.database, id)).delivered, patiently).toBe("1");
  });
});

describe("several processes", () => {
  it("a process does not send what another one has taken over, however long it was asleep", async () => {
    const receiver = await startReceiver();
    const id = await addWebhook(index.database, receiver.url);
    await index.extend([3]);
    // The pause between two messages is longer than a claim is good for without a word to the database.
    const { webhooks } = start({ timing: { pollMs: 50, spacingMs: 1_000, leaseMs: REQUEST_MS_MAX + 100 } });
    webhooks.onChange();
    await expect.poll(() => receiver.attempts.length, patiently).toBe(1);
    await index.database.query(
      "update webhooks set lease = 'other', leased_until = now() + interval '1 hour'",
    );
    // Half a second after the next message was due.
    await sleep(1_500);
    expect(receiver.attempts).toHaveLength(1);
    await index.database.query("update webhooks set leased_until = '-infinity'");
    await expectHeld(receiver, chainIds);
    expect((await readWebhook(index.database, id)).status).toBe("active");
  });

  it("two processes never deliver to the same webhook at once, and each event arrives once", async () => {
    const receivers = await Promise.all(Array.from({ length: 4 }, startReceiver));
    for (const receiver of receivers) await addWebhook(index.database, receiver.url);
    const processes = [start(), start(), start()];
    for (let round = 0; round < 8; round += 1) {
      await index.extend([2, 1]);
      for (const { webhooks } of processes) webhooks.onChange();
      await sleep(20);
    }
    for (const receiver of receivers) {
      await expectHeld(receiver, chainIds);
      expect(receiver.problems).toEqual([]);
      expect(receiver.attempts).toHaveLength(index.events().length);
    }
  });
});

it("messages to one receiver keep their distance, also from page to page and from block to block", async () => {
  const receiver = await startReceiver();
  // Several times what a message takes without a pause, on an idle machine.
  const spacingMs = 40;
  // Fifty events are a page of the reader.
  await index.extend([52]);
  await addWebhook(index.database, receiver.url, { from: "genesis" });
  const { webhooks } = start({ timing: { pollMs: 50, spacingMs } });
  await expectHeld(receiver, chainIds);
  for (let block = 0; block < 5; block += 1) {
    await index.extend([1]);
    webhooks.onChange();
    // Blocks come faster than messages may follow each other, on a busy machine too.
    await sleep(spacingMs / 5);
  }
  await expectHeld(receiver, chainIds);
  const gaps = receiver.attempts.slice(1).map(({ atMs }, at) => atMs - (receiver.attempts[at]?.atMs ?? 0));
  // A timer may be early by a millisecond. A message is sent only after the response to the one before.
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(spacingMs - 2);
}, 30_000);

it("a paused webhook gets nothing, and everything after it is resumed", async () => {
  const receiver = await startReceiver();
  const id = await addWebhook(index.database, receiver.url);
  const { webhooks } = start();
  await index.extend([1]);
  await expectHeld(receiver, chainIds);
  await change(index.database, id, { action: "pause" });
  await index.extend([2]);
  webhooks.onChange();
  await sleep(300);
  expect(receiver.attempts).toHaveLength(1);
  await change(index.database, id, { action: "resume" });
  await expectHeld(receiver, chainIds);
});

it("messages are signed by the old and the new keys after a rotation", async () => {
  const receiver = await startReceiver();
  const id = await addWebhook(index.database, receiver.url);
  const { service } = start();
  await change(index.database, id, { action: "rotate" });
  for (const generation of [1, 2]) {
    receiver.expectSecret(() => service.signer.secretOf(id, generation));
    await index.extend([1]);
    await expectHeld(receiver, chainIds);
  }
  await index.database.query("update webhooks set previous_until = '-infinity'");
  await index.extend([1]);
  await expectHeld(receiver, chainIds);
  expect(receiver.problems).toEqual([]);
  receiver.expectSecret(() => service.signer.secretOf(id, 1));
  await index.extend([1]);
  await expectHeld(receiver, chainIds);
  expect(receiver.problems).toHaveLength(1);
});

it("metrics count webhooks and attempts", async () => {
  const [good, bad] = [await startReceiver(), await startReceiver()];
  bad.behave((_, response) => void response.writeHead(500).end());
  await addWebhook(index.database, good.url);
  const id = await addWebhook(index.database, bad.url);
  const { registry } = start();
  await index.extend([2]);
  await expectHeld(good, chainIds);
  await expect.poll(async () => (await readWebhook(index.database, id)).failures, patiently).toBe(1);
  const patient = expect.poll(() => registry.metrics(), patiently);
  await patient.toContain('sextant_webhook_attempts_total{outcome="delivered"} 2');
  expect(await registry.metrics()).toContain('sextant_webhook_attempts_total{outcome="failed"} 1');
});
